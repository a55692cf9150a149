import type { CliResult } from "./run/run_cli.ts";
import { runHere } from "./run/run_main.ts";
import { withFiles } from "./temp_dir.ts";

type Files = Readonly<Record<string, string>>;

/** A directory with workflows, in which the program runs. */
interface Workspace {
  readonly run: (...args: string[]) => Promise<CliResult>;
  readonly inCi: (...args: string[]) => Promise<CliResult>;
  readonly write: (name: string, text: string) => Promise<void>;
  /** The snapshots of w.yml by name. */
  readonly snapshots: () => Promise<Files>;
}

/** Uses a place that has these files. */
export async function inPlace(
  files: Files,
  use: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await withFiles(files, async (cwd) => {
    await use({
      run: (...args) => runHere(["--no-color", ...args], { cwd, env: { CI: "" } }),
      inCi: (...args) => runHere(["--no-color", ...args], { cwd, env: { CI: "true" } }),
      write: (name, text) => Deno.writeTextFile(`${cwd}/${name}`, text),
      async snapshots() {
        const found: Record<string, string> = {};
        const directory = `${cwd}/__snapshots__/w`;
        try {
          for await (const { name } of Deno.readDir(directory)) {
            found[name] = await Deno.readTextFile(`${directory}/${name}`);
          }
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        }
        return Object.fromEntries(Object.entries(found).sort());
      },
    });
  });
}

/** A workflow with one step, which has the id `get`. */
export const workflow = (order: string, step: string, job = "id: shop") =>
  `name: n
vars: { order: ${order} }
jobs:
  - name: j
    ${job}
    steps:
      - { uses: hello, id: get, ${step} }
`;
/** A snapshot of the variable of that workflow. */
export const OF_ORDER = "snapshot: { of: vars.order }";
