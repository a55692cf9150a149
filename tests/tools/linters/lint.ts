/**
 * Reads texts from standard input, by their paths, and prints what the linters of others find wrong
 * with each: GitHub's own for workflows and `action.yml`, dockerfile-utils for a `Dockerfile`.
 */
import { validate as lintForGitHub } from "@actions/languageservice";
import { validate as lintDockerfile } from "dockerfile-utils";
import { TextDocument } from "vscode-languageserver-textdocument";

interface Finding {
  readonly message: string;
  readonly range: { readonly start: { readonly line: number } };
}

async function lint(path: string, text: string): Promise<readonly Finding[]> {
  if (/(^|\/)Dockerfile$/.test(path)) return lintDockerfile(text);
  return await lintForGitHub(TextDocument.create(`file:///${path}`, "yaml", 1, text));
}

const texts: Record<string, string> = await new Response(Deno.stdin.readable).json();
const found: Record<string, string[]> = {};
for (const [path, text] of Object.entries(texts)) {
  found[path] = (await lint(path, text)).map(({ message, range }) =>
    `line ${range.start.line + 1}: ${message}`
  );
}
// deno-lint-ignore no-console
console.log(JSON.stringify(found));
