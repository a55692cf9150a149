import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import type { Dict } from "../../../src/action/action.ts";
import { runGrpc } from "../../../src/action/grpc/run_grpc.ts";
import { actionContext } from "../../support/action_context.ts";
import { startTool } from "../../support/servers/tool_server.ts";

const DIRECTORY = fromFileUrl(new URL("../../fixtures/grpc", import.meta.url));

Deno.test("grpc speaks to a server of the library of Node, whose reflection leaves much out", async () => {
  await using server = await startTool("grpc/grpc_server.ts", [DIRECTORY]);
  await using context = actionContext();
  const call = async (params: Dict) =>
    (await runGrpc({ addr: server.url, service: "Shop", ...params }, context)).res;
  const item = await call({ method: "GetItem", body: { id: "7" } });
  assertEquals(item.body, { id: "7", name: "Ann's", kind: "BOOK", serial: "9007199254740993" });
  assertEquals(item.trailers, { "x-trailer": "end" });
  const missing = await call({ method: "GetItem", body: { id: "missing" } });
  assertEquals([missing.status_code, missing.status_message], [
    "NOT_FOUND",
    'there is no item "ü"',
  ]);
  const echo = {
    price: { currency: "EUR", cents: 7, rates: [1, 2] },
    stock: { here: 3 },
    kinds: { x: "GAME" },
    addedAt: "2026-01-02T03:04:05Z",
    weight: 0,
    parts: [{ name: "lid", items: [{ id: "2" }] }],
  };
  assertEquals((await call({ method: "EchoItem", body: echo })).body, echo);
  const list = await call({ method: "ListItems", body: { count: 3 } });
  assertEquals(list.messages, [{ id: "1" }, { id: "2" }, { id: "3" }]);
  assertEquals((await call({ method: "AddItems", body: [{}, {}] })).body, { count: 2 });
  const trade = await call({ method: "Trade", body: [{ id: "a" }, { id: "b" }] });
  assertEquals(trade.messages, [{ id: "a!" }, { id: "b!" }]);
  const large = await call({ method: "GetItem", body: { id: "large", count: 10_000_000 } });
  assertEquals((large.body as Dict).name?.toString().length, 10_000_000);
  assertEquals((await call({ method: "Wait", deadline: "100ms" })).code, 4);
});
