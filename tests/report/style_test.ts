import { assertEquals } from "@std/assert";
import { makeStyle } from "../../src/report/style.ts";

Deno.test("makeStyle() adds nothing to any text when colours are off", () => {
  for (const paint of Object.values(makeStyle(false))) assertEquals(paint("text"), "text");
});

Deno.test("makeStyle() leaves an empty text empty even with colours", () => {
  for (const paint of Object.values(makeStyle(true))) assertEquals(paint(""), "");
});

Deno.test("makeStyle() keeps a look on behind one inside it that ends the same way", () => {
  const { red, green, bold, dim } = makeStyle(true);
  assertEquals(red(`a${green("b")}c`), "\x1b[31ma\x1b[32mb\x1b[31mc\x1b[39m");
  assertEquals(bold(`a${dim("b")}c`), "\x1b[1ma\x1b[2mb\x1b[1mc\x1b[22m");
  assertEquals(bold(red("a")), "\x1b[1m\x1b[31ma\x1b[39m\x1b[22m");
});
