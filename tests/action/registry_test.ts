import { assertEquals } from "@std/assert";
import { ACTIONS, loadActions } from "../../src/action/registry.ts";

Deno.test("loadActions() brings each action by its name and no other", async () => {
  const names = ACTIONS.map(({ name }) => name);
  const actions = await loadActions(new Set([...names, "", "Hello", "toString", "db"]));
  assertEquals([...actions.keys()], names);
  for (const [name, action] of actions) assertEquals(action.name, name);
});

Deno.test("the registry has no duplicates", () => {
  const names = ACTIONS.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
});

Deno.test("Every action names each of its parameters once and loads its code", async () => {
  for (const entry of ACTIONS) {
    const { parameters = [], load } = await entry.load();
    const names = parameters.map(({ name }) => name);
    assertEquals(new Set(names).size, names.length);
    assertEquals(typeof await load(), "function");
  }
});
