import { assertEquals } from "@std/assert";
import { Outputs } from "../../../src/run/execute/outputs.ts";

const ids = (...names: string[]) => new Map(names.map((name) => [name, false]));
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

Deno.test("publish() gives outputs by step id and flat", () => {
  const outputs = new Outputs(ids("login", "other"));
  outputs.publish("login", { token: "t", id: 5 });
  assertEquals(plain(outputs.view), { login: { token: "t", id: 5 }, token: "t", id: 5 });
});

Deno.test("a flat name belongs to the first step that publishes it", () => {
  const outputs = new Outputs(ids("a", "b"));
  outputs.publish("a", { x: 1 });
  outputs.publish("b", { x: 2, y: 3 });
  outputs.publish("a", { x: 4 });
  assertEquals(plain(outputs.view), { a: { x: 4 }, b: { x: 2, y: 3 }, x: 4, y: 3 });
});

Deno.test("a flat name never hides a step id, published or not", () => {
  const outputs = new Outputs(ids("a", "b"));
  outputs.publish("a", { b: "flat", a: "flat" });
  assertEquals(plain(outputs.view), { a: { b: "flat", a: "flat" } });
});

Deno.test("published outputs share nothing with the values they came from", () => {
  const outputs = new Outputs(ids("a", "b"));
  outputs.publish("a", { all: outputs.view });
  outputs.publish("b", { all: outputs.view });
  assertEquals(plain(outputs.view.a), { all: {} });
});

Deno.test("prototype names are names like others", () => {
  const outputs = new Outputs(ids("__proto__"));
  outputs.publish("__proto__", JSON.parse('{"constructor": 1}'));
  assertEquals(Object.keys(outputs.view), ["__proto__", "constructor"]);
});

Deno.test("a round sees earlier outputs and its own, not those of other rounds", () => {
  const steps = ids("before", "s");
  const outputs = new Outputs(steps);
  outputs.publish("before", { x: 1 });
  const [first, second] = [outputs.fork(), outputs.fork()];
  first.publish("s", { n: 1 });
  assertEquals(plain(first.view), { before: { x: 1 }, x: 1, s: { n: 1 }, n: 1 });
  assertEquals(plain(second.view), { before: { x: 1 }, x: 1 });
  assertEquals(plain(outputs.view), { before: { x: 1 }, x: 1 });
});

Deno.test("a round has one map of outputs, whichever way it is read", () => {
  const steps = ids("before", "s");
  const outputs = new Outputs(steps);
  outputs.publish("before", { x: 1, "__proto__ x": 2 });
  const round = outputs.fork();
  round.publish("s", { x: "belongs to before", n: 1 });
  round.publish("s", { n: 2, all: round.view });
  const { view } = round;
  assertEquals(Object.keys(view), ["before", "x", "__proto__ x", "s", "n", "all"]);
  assertEquals([view.x, view.n, view.constructor, view.toString], [1, 2, undefined, undefined]);
  assertEquals(["x" in view, "n" in view, "toString" in view], [true, true, false]);
  assertEquals(Object.getOwnPropertyDescriptor(view, "before")?.value, view.before);
  assertEquals(Object.getOwnPropertyDescriptor(view, "valueOf"), undefined);
  assertEquals(plain({ ...view }), plain(view));
  const s = { x: "belongs to before", n: 1 };
  assertEquals(plain(view.all), { ...plain(outputs.view), s, n: 1 });
});

Deno.test("a round costs the same after any number of outputs", () => {
  // Rounds that copied what was published before them would take minutes.
  const rounds = 100_000;
  const outputs = new Outputs(ids());
  for (let index = 0; index < 3000; index++) outputs.publish(`s${index}`, { [`k${index}`]: index });
  let sum = 0;
  for (let index = 0; index < rounds; index++) {
    const round = outputs.fork();
    round.publish("s", { n: index });
    sum += Number(round.view.n) - index + Number(round.view.k7);
  }
  assertEquals(sum, 7 * rounds);
});
