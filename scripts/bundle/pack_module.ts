import { Buffer } from "node:buffer";
import { brotliCompressSync, constants } from "node:zlib";
import { parse } from "acorn";

/** What `unpackModule` reads, of the code of a module that imports nothing. Throws for others. */
export function packModule(code: string): string {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  return new Uint8Array(brotliCompressSync(Buffer.from(bodyOf(code)), { params })).toBase64();
}

/** A function that does what the module does, and returns what it exports at its end. */
function bodyOf(code: string): string {
  const { body } = parse(code, { ecmaVersion: "latest", sourceType: "module" });
  const last = body.at(-1);
  if (
    last?.type !== "ExportNamedDeclaration" || last.source || last.declaration ||
    body.slice(0, -1).some(({ type }) => /^(Import|Export)/.test(type))
  ) throw new Error("only a module that exports at its end, and imports nothing, can be packed");
  const fields = last.specifiers.map(({ exported, local }) => {
    if (exported.type !== "Identifier" || local.type !== "Identifier") {
      throw new Error("only names can be exported");
    }
    return exported.name === local.name ? local.name : `${exported.name}:${local.name}`;
  });
  return `"use strict";${code.slice(0, last.start)}return{${fields.join(",")}}`;
}
