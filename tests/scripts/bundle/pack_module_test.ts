import { assertEquals, assertThrows } from "@std/assert";
import { packModule } from "../../../scripts/bundle/pack_module.ts";
import { unpackModule } from "../../../scripts/bundle/unpack_module.ts";

Deno.test("a packed module comes back with its exports", async () => {
  const text = "\u00fc\u2713".repeat(50_000);
  const code = `const text="${text}";function double(x){return 2*x}` +
    `class Thing{}export{double,text as words,Thing as default};`;
  const packed = packModule(code);
  assertEquals(/^[A-Za-z0-9+/]+=*$/.test(packed), true);
  const all = await unpackModule(packed);
  assertEquals(Object.keys(all).sort(), ["default", "double", "words"]);
  assertEquals(all.words, text);
  assertEquals((all.double as (x: number) => number)(4), 8);
});

Deno.test("a module that imports, or exports elsewhere than at its end, is not packed", () => {
  for (
    const code of [
      'import{a}from"b";export{a};',
      "export const a=1;",
      "export{a};const a=1;",
      'export*from"a";',
      "const a=1;export{a};export{a as b};",
      "export default 1;",
      'const a=1;export{a as "a b"};',
      "const a=1;",
      "",
    ]
  ) assertThrows(() => packModule(code));
});
