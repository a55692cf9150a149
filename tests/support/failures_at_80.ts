import type { Output } from "../../src/host/host.ts";
import { runHere } from "./run_main.ts";
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
    await runHere(["--no-color", "--output", "stream", ...options, "w.yml"], {
      cwd,
      env: { CI: "" },
    }, {
      stdout: terminal,
    });
    const lines = terminal.text.replaceAll(cwd, "…").split("\n");
    const first = lines.findIndex((line) => line.includes("✗"));
    const last = lines.findIndex((line, at) =>
      at > first && /^\s*(response:|Failed in)/.test(line)
    );
    return lines.slice(first + 1, last).map((line) => line.slice(8)).join("\n");
  });
}

class Terminal implements Output {
  readonly isTerminal = true;
  text = "";
  columns = () => 80;
  rows = () => 24;
  onClosed = () => {};
  flush = () => Promise.resolve(true);
  write(text: string): boolean {
    this.text += text;
    return true;
  }
}
