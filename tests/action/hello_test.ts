import { assertEquals } from "@std/assert";
import { hello } from "../../src/action/hello.ts";
import { actionContext } from "../support/action_context.ts";

Deno.test("hello answers with its parameters and a status of 0", async () => {
  const run = await hello.load();
  const params = { name: "World", nested: { list: [1, null] }, status: 5 };
  await using context = actionContext();
  const result = await run(params, context);
  assertEquals(result.req, params);
  assertEquals(result.res, { name: "World", nested: { list: [1, null] }, status: 0 });
  assertEquals(result.status, 0);
});
