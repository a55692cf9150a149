import { assertEquals, assertRejects } from "@std/assert";
import type { ActionResult, Dict, Value } from "../../src/action/action.ts";
import { echo } from "../../src/actions/echo.ts";
import { hello } from "../../src/actions/hello.ts";
import { StepError } from "../../src/base/errors.ts";
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

const run = await echo.load();

async function say(params: Dict): Promise<ActionResult> {
  await using context = actionContext();
  return await run(params, context);
}

const messages: readonly (readonly [Value, string])[] = [
  ["hi", "hi"],
  ["", ""],
  [1.5, "1.5"],
  [true, "true"],
  [["a", 1], '["a",1]'],
  [{ a: null }, '{"a":null}'],
];

for (const [message, text] of messages) {
  Deno.test(`echo says ${JSON.stringify(message)} as text`, async () => {
    const result = await say({ message });
    assertEquals(result, { req: { message }, res: { message: text }, status: 0 });
  });
}

for (const params of [{}, { message: null }] as Dict[]) {
  Deno.test(`echo needs a message, which ${JSON.stringify(params)} is not`, async () => {
    const error = await assertRejects(() => say(params), StepError);
    assertEquals(error.message, 'cannot run echo: "message" is nil');
  });
}
