import { assertEquals } from "@std/assert";
import { Collected, runHere } from "./run/run_main.ts";
import { withFiles } from "./temp_dir.ts";

/**
 * Returns the output of a run on a terminal of 80 columns about the step that failed, without
 * its response.
 */
export async function failureAt80(
  workflow: string,
  files: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
): Promise<string> {
  return await withFiles({ ...files, "w.yml": workflow }, async (cwd) => {
    const terminal = new Terminal();
    await runHere(["--no-color", "--no-check", "--output", "stream", ...options, "w.yml"], {
      cwd,
      env: { CI: "" },
    }, {
      stdout: terminal,
    });
    const lines = terminal.text.replaceAll(cwd, "…").split("\n");
    const first = lines.findIndex((line) => line.includes("✗"));
    const last = lines.findIndex((line, at) => at > first && /^(\s*response:|✗ )/.test(line));
    return lines.slice(first + 1, last).map((line) => line.slice(8)).join("\n");
  });
}

class Terminal extends Collected {
  override readonly isTerminal = true;
}

/** Tests what is printed about each false test of a step, with these vars; N is a number of days. */
export function testFailuresAt80(
  vars: string,
  failures: readonly (readonly [test: string, printed: string])[],
  options: readonly string[] = [],
): void {
  for (const [test, printed] of failures) {
    Deno.test(`the failure of ${test} at 80 columns`, async () => {
      const workflow = `name: n
vars:
${vars}jobs:
  - name: j
    steps:
      - uses: hello
        test: |
          ${test}
`;
      const text = await failureAt80(workflow, {}, options);
      assertEquals(`\n${text.replace(/\d+ days/, "N days")}\n`, printed);
    });
  }
}
