import { assertEquals, assertRejects } from "@std/assert";
import { dns as dnsAction } from "../../../src/actions/dns/dns.ts";
import { runnerOf } from "../../support/run_action.ts";
import type { Dict } from "../../../src/action/action.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { listenDatagrams, nameServer, type Zone } from "../../support/servers/name_server.ts";

const runDns = runnerOf(dnsAction);

const ZONE: Zone = {
  "A shop.test": [{ type: "A", data: "192.0.2.10" }, { type: "A", data: "192.0.2.11" }],
  "TXT shop.test": [{ type: "TXT", data: ["v=spf1 ", "-all"] }],
  "MX shop.test": [{ type: "MX", data: { preference: 10, exchange: "mail.shop.test" } }],
  "PTR 10.2.0.192.in-addr.arpa": [{ type: "PTR", data: "shop.test" }],
  "TXT large.test": Array.from({ length: 40 }, (_, i) => ({
    type: "TXT",
    data: [`${i} ${"x".repeat(100)}`],
  })),
};

Deno.test("dns reads records of all types", async () => {
  await using zone = await nameServer(ZONE);
  await using context = actionContext();
  const { server } = zone;
  const ask = async (name: string, type: string) => await runDns({ name, type, server }, context);
  const { res, status } = await ask("shop.test", "A");
  assertEquals([status, res.code, res.authoritative], [0, "NOERROR", true]);
  assertEquals(res.records, [
    { name: "shop.test", type: "A", ttl: 60, value: "192.0.2.10" },
    { name: "shop.test", type: "A", ttl: 60, value: "192.0.2.11" },
  ]);
  const values = async (name: string, type: string) =>
    ((await ask(name, type)).res.records as { value: unknown }[]).map(({ value }) => value);
  assertEquals(await values("shop.test.", "txt"), ["v=spf1 -all"]);
  assertEquals(await values("shop.test", "MX"), [{ preference: 10, exchange: "mail.shop.test" }]);
  assertEquals(await values("192.0.2.10", "PTR"), ["shop.test"]);
});

Deno.test("dns fetches an answer by TCP that does not fit into a datagram", async () => {
  await using zone = await nameServer(ZONE);
  await using context = actionContext();
  const { res } = await runDns(
    { name: "large.test", type: "TXT", server: zone.server },
    context,
  );
  assertEquals((res.records as unknown[]).length, 40);
  assertEquals(zone.seen, ["udp TXT large.test", "tcp TXT large.test"]);
});

Deno.test("dns gives the code of a name that does not exist", async () => {
  await using zone = await nameServer(ZONE);
  await using context = actionContext();
  const { res, status } = await runDns({ name: "no.test", server: zone.server }, context);
  assertEquals([status, res.code, res.records], [3, "NXDOMAIN", []]);
});

Deno.test("dns names the server that does not answer", async () => {
  const silent = await listenDatagrams(0);
  const { port } = silent.address();
  await using context = actionContext();
  await assertRejects(
    () => runDns({ name: "shop.test", server: `127.0.0.1:${port}`, timeout: "400ms" }, context),
    StepError,
    `timed out after 400ms while asking 127.0.0.1 port ${port} for A of "shop.test"`,
  );
  silent.close();
});

Deno.test("dns asks for names in other scripts in their ASCII form", async () => {
  await using zone = await nameServer(ZONE);
  await using context = actionContext();
  await runDns({ name: "bücher.test.", server: zone.server }, context);
  await runDns({ name: "_dmarc.shop.test", type: "TXT", server: zone.server }, context);
  assertEquals(zone.seen, ["udp A xn--bcher-kva.test", "udp TXT _dmarc.shop.test"]);
});

Deno.test("dns refuses names and servers that cannot be asked", async () => {
  await using context = actionContext();
  const ask = (params: Dict) => () => runDns({ server: "127.0.0.1", ...params }, context);
  for (const name of ["a..test", `${"a".repeat(64)}.test`, "https://shop.test/", "a b", "ü b"]) {
    const message = `cannot run dns: invalid name "${name}"`;
    await assertRejects(ask({ name }), StepError, message);
    assertEquals(dnsAction.problems!({ name })[0]?.message, `invalid name "${name}"`);
  }
  for (const server of ["127.0.0.1:99999", "127.0.0.1:0", "[::1", "a b"]) {
    await assertRejects(ask({ name: "a", server }), StepError, `invalid server "${server}"`);
    const [problem] = dnsAction.problems!({ name: "a", server });
    assertEquals(problem?.message, `invalid server "${server}"`);
  }
});
