import { assertEquals } from "@std/assert";
import { ACTIONS, findAction, REFERENCE_ACTIONS } from "../../src/action/registry.ts";

Deno.test("findAction() finds each action by its name and no other", () => {
  for (const action of ACTIONS) assertEquals(findAction(action.name), action);
  for (const name of ["", "Hello", "toString", "db"]) assertEquals(findAction(name), undefined);
});

Deno.test("The registry names no action twice, and none as missing that is there", () => {
  const names = [...ACTIONS.map(({ name }) => name), ...REFERENCE_ACTIONS];
  assertEquals(new Set(names).size, names.length);
});

Deno.test("Every action names each of its parameters once and loads its code", async () => {
  for (const { parameters = [], load } of ACTIONS) {
    const names = parameters.map(({ name }) => name);
    assertEquals(new Set(names).size, names.length);
    assertEquals(typeof await load(), "function");
  }
});
