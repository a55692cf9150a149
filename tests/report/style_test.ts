import { assertEquals } from "@std/assert";
import { makeStyle } from "../../src/report/style.ts";

Deno.test("makeStyle() adds nothing to any text when colours are off", () => {
  for (const paint of Object.values(makeStyle(false))) assertEquals(paint("text"), "text");
});

Deno.test("makeStyle() leaves an empty text empty even with colours", () => {
  for (const paint of Object.values(makeStyle(true))) assertEquals(paint(""), "");
});
