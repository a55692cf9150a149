import { assertEquals, assertRejects } from "@std/assert";
import { makeSlots } from "../../../src/action/ssh/ssh_slots.ts";
import { actionContext } from "../../support/action_context.ts";

/** The error that the library throws when a server refuses another session. */
const refusal = () => Object.assign(new Error("open failed"), { reason: 2 });

Deno.test("a server that still counts a command that is over is asked again", async () => {
  await using context = actionContext();
  const slots = makeSlots(10);
  let asked = 0;
  const opened = await slots.open(() => {
    asked++;
    return asked < 3 ? Promise.reject(refusal()) : Promise.resolve("open");
  }, context);
  assertEquals([opened, asked], ["open", 3]);
});

Deno.test("a server that allows no sessions is not asked forever, and other errors are not repeated", async () => {
  await using context = actionContext();
  const slots = makeSlots(10);
  let asked = 0;
  const open = (error: Error) => () => {
    asked++;
    return Promise.reject(error);
  };
  await assertRejects(() => slots.open(open(refusal()), context), Error, "open failed");
  assertEquals(asked, 11);
  await assertRejects(() => slots.open(open(new Error("lost")), context), Error, "lost");
  assertEquals(asked, 12);
});

Deno.test("no more work at once than there are slots", async () => {
  await using context = actionContext();
  const slots = makeSlots(2);
  let working = 0;
  let most = 0;
  await Promise.all(Array.from({ length: 6 }, async () => {
    await slots.open(() => {
      most = Math.max(most, ++working);
      return Promise.resolve();
    }, context);
    await Promise.resolve();
    working--;
    slots.release();
  }));
  assertEquals(most, 2);
  assertEquals(context.turns.paused, context.turns.resumed);
});
