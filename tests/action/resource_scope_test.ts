import { assertEquals, assertRejects } from "@std/assert";
import { Resources } from "../../src/action/resource_scope.ts";
import { Deadlines } from "../../src/host/deadlines.ts";
import { fakeClock } from "../support/fake_clock.ts";

/** Closes a scope and gives the warnings. */
async function close(scope: Resources): Promise<string[]> {
  const warnings: string[] = [];
  await scope.close(new Deadlines(fakeClock()), (text) => void warnings.push(text));
  return warnings;
}

Deno.test("resource() opens once and gives everybody the same", async () => {
  const scope = new Resources();
  let opened = 0;
  const open = () => Promise.resolve({ number: ++opened });
  const [one, other] = await Promise.all([scope.resource("a", open), scope.resource("a", open)]);
  assertEquals(one === other, true);
  assertEquals(await scope.resource("b", open), { number: 2 });
  assertEquals(scope.resource("c", () => 5), 5);
  assertEquals(scope.resource("c", () => 6), 5);
});

Deno.test("resource() tries again after an open that failed, and closes nothing for it", async () => {
  const scope = new Resources();
  const closed: string[] = [];
  const fail = () => Promise.reject(new Error("refused"));
  await assertRejects(() => scope.resource("a", fail, () => void closed.push("never")), Error);
  const open = () => Promise.resolve("opened");
  assertEquals(await scope.resource("a", open, (what) => void closed.push(what)), "opened");
  await close(scope);
  assertEquals(closed, ["opened"]);
});

Deno.test("A scope closes its resources in the reverse order of opening, and waits for each", async () => {
  const scope = new Resources();
  const closed: string[] = [];
  const later = async (name: string) => {
    await Promise.resolve();
    closed.push(name);
  };
  const slow = Promise.withResolvers<string>();
  const waiting = scope.resource("slow", () => slow.promise, later);
  scope.resource("first", () => "first", later);
  scope.resource("second", () => "second", (name) => void closed.push(name));
  slow.resolve("slow");
  await waiting;
  await close(scope);
  assertEquals(closed, ["slow", "second", "first"]);
  assertEquals(await close(scope), []);
  assertEquals(closed.length, 3);
});

Deno.test("A scope waits for resources that are still opening, and closes them", async () => {
  const scope = new Resources();
  const opening = Promise.withResolvers<string>();
  const closed: string[] = [];
  scope.resource("pool", () => opening.promise, (name) => void closed.push(name));
  const closing = close(scope);
  opening.resolve("pool");
  assertEquals(await closing, []);
  assertEquals(closed, ["pool"]);
});

Deno.test("A resource that cannot be closed is a warning, and the others are closed", async () => {
  const scope = new Resources();
  const closed: string[] = [];
  scope.resource("first", () => 1, () => void closed.push("first"));
  scope.resource("bad", () => 2, () => Promise.reject(new Error("connection lost")));
  scope.resource("worse", () => 3, () => {
    throw new Error("not open");
  });
  assertEquals(await close(scope), [
    'cannot close "worse": not open',
    'cannot close "bad": connection lost',
  ]);
  assertEquals(closed, ["first"]);
});

Deno.test("A resource that does not close is left after a while", async () => {
  const clock = fakeClock();
  const scope = new Resources();
  scope.resource("stuck", () => 1, () => new Promise<void>(() => {}));
  const warnings: string[] = [];
  const closing = scope.close(new Deadlines(clock), (text) => void warnings.push(text));
  clock.advance(10_000);
  await closing;
  assertEquals(warnings, ['"stuck" is still being closed after 10 seconds']);
});
