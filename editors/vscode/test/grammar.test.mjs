import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);

/** Stands for the grammar of the editor: plain scalars and comments. */
const YAML = {
  scopeName: "source.yaml",
  patterns: [
    { name: "comment.line.yaml", match: "#.*$" },
    { name: "string.quoted.double.yaml", begin: '"', end: '"' },
  ],
};

async function scopesOf(line) {
  await oniguruma.loadWASM(await readFile(require.resolve("vscode-oniguruma/release/onig.wasm")))
    .catch(() => {});
  const path = new URL("../syntaxes/runner.tmLanguage.json", import.meta.url);
  const injected = JSON.parse(await readFile(path, "utf8"));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: (name) => Promise.resolve(name === "source.yaml" ? YAML : injected),
    getInjections: (name) => name === "source.yaml" ? ["source.runner.injection"] : undefined,
  });
  const grammar = await registry.loadGrammar("source.yaml");
  return grammar.tokenizeLine(line, textmate.INITIAL).tokens.map((
    { startIndex, endIndex, scopes },
  ) => [line.slice(startIndex, endIndex), scopes.at(-1)]);
}

test("templates in quotes are expressions", async () => {
  const tokens = await scopesOf("url: \"{{ vars.shop ?? trim('x') }}/a\"");
  const found = new Map(tokens);
  assert.equal(found.get("vars"), "variable.language.runner");
  assert.equal(found.get("shop"), "variable.other.property.runner");
  assert.equal(found.get("??"), "keyword.operator.runner");
  assert.equal(found.get("trim"), "entity.name.function.runner");
  assert.equal(found.get("'x'"), "string.quoted.single.runner");
  assert.equal(found.get("/a"), "string.quoted.double.yaml");
});

test("conditions without braces are expressions", async () => {
  const found = new Map(await scopesOf("  test: res.code == 200 && len(res.body) > 1"));
  assert.equal(found.get("test"), "entity.name.tag.yaml");
  assert.equal(found.get("res"), "variable.language.runner");
  assert.equal(found.get("200"), "constant.numeric.runner");
  assert.equal(found.get("&&"), "keyword.operator.runner");
  assert.equal(found.get("len"), "entity.name.function.runner");
});

test("comments are left alone", async () => {
  assert.deepEqual(await scopesOf("# {{ vars.a }}"), [["# {{ vars.a }}", "comment.line.yaml"]]);
});
