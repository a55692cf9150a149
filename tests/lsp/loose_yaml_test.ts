import { join } from "@std/path/join";
import { denoHost } from "../../src/host/deno_host.ts";
import { completionsAt } from "../../src/lsp/complete.ts";
import { findActions } from "../../src/lsp/server.ts";
import { makeOutline, readLoosely } from "../../src/lsp/outline.ts";
import { CHECKOUT } from "../support/documents.ts";

Deno.test("every beginning of a file can be read, and completed", async () => {
  const host = denoHost();
  const catalog = await findActions(host);
  const text = await Deno.readTextFile(join(CHECKOUT, "examples/vars.yml"));
  for (let end = 0; end <= text.length; end++) {
    makeOutline(text.slice(0, end));
    await completionsAt(
      text.slice(0, end),
      end,
      join(CHECKOUT, "examples/vars.yml"),
      catalog,
      host,
    );
  }
});

const MISTAKES = [
  "- - -",
  "a: {b: [",
  "a:\n b:\n  - c\n - d\n e",
  "? x\n: y",
  "a: |\nb",
  '"',
  "'\n'",
  "[}",
  "{]}",
  "- {\n- [",
];

for (const text of MISTAKES) {
  Deno.test(`${JSON.stringify(text)} is read somehow`, async () => {
    readLoosely(text);
    const host = denoHost();
    const catalog = await findActions(host);
    for (let at = 0; at <= text.length; at++) {
      await completionsAt(text, at, join(CHECKOUT, "examples/vars.yml"), catalog, host);
    }
  });
}
