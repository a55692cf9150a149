import { assertEquals } from "@std/assert";
import { loadStyle, PLAIN } from "../../src/report/reporter.ts";

const COLOURED = await loadStyle(true);

Deno.test("a plain style adds nothing to any text when colours are off", () => {
  for (const paint of Object.values(PLAIN)) assertEquals(paint("text"), "text");
});

Deno.test("a style with colours leaves an empty text empty", () => {
  for (const paint of Object.values(COLOURED)) assertEquals(paint(""), "");
});

Deno.test("a style with colours keeps a look on behind one inside it that ends the same way", () => {
  const { red, green, bold, dim } = COLOURED;
  assertEquals(red(`a${green("b")}c`), "\x1b[31ma\x1b[32mb\x1b[31mc\x1b[39m");
  assertEquals(bold(`a${dim("b")}c`), "\x1b[1ma\x1b[2mb\x1b[1mc\x1b[22m");
  assertEquals(bold(red("a")), "\x1b[1m\x1b[31ma\x1b[39m\x1b[22m");
});

Deno.test("loadStyle() adds colours only if they are wanted", async () => {
  assertEquals((await loadStyle(true)).red("x"), "\x1b[31mx\x1b[39m");
  assertEquals(await loadStyle(false), PLAIN);
});
