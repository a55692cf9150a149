import { assertEquals } from "@std/assert";
import { importsOf } from "../../../scripts/bundle/imports_of.ts";
import { nameChunks } from "../../../scripts/bundle/name_chunks.ts";

Deno.test("all imports are found, and nothing that only looks like one", () => {
  const code = `import a from"./a.js";import"b";import{c}from"node:c";export*from"d";
    export{e}from"e";export{a as f};const g=()=>import("npm:g@1");const h=x=>import(x);
    const text='import("i")';/*import("j")*/`;
  assertEquals(importsOf(code), {
    fixed: ["./a.js", "b", "node:c", "d", "e"],
    lazy: ["npm:g@1"],
  });
});

Deno.test("chunks are named by their path, not by their hash", () => {
  const chunks = (x: string, y: string) =>
    new Map([
      ["cli.js", `import"./chunk-${x}.js";import("./run-${x}.js");import"node:fs";"./other.js"`],
      [`chunk-${x}.js`, `export{a}from"./chunk-${y}.js";`],
      [`chunk-${y}.js`, `import("./run-${x}.js")`],
      [`run-${x}.js`, ""],
      ["alone-AAAAAAAA.js", ""],
    ]);
  const named = nameChunks("cli.js", chunks("K3LZV5QA", "2B4C6D7E"));
  assertEquals(Object.fromEntries(named), {
    "cli.js": 'import"./chunk.js";import("./run.js");import"node:fs";"./other.js"',
    "chunk.js": 'export{a}from"./chunk_2.js";',
    "run.js": "",
    "chunk_2.js": 'import("./run.js")',
  });
  assertEquals(nameChunks("cli.js", chunks("ZZZZZZZZ", "11111111")), named);
});
