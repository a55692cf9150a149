import type { Ranges } from "./mark_called.ts";

/** What nearly every run does: it reads a workflow, takes a step and prints the report. */
const SAMPLE = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";

/** What Deno writes of a module with `--coverage`. */
interface Coverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

/**
 * The functions that a small run calls in each file of a program, by the names of the files.
 * `folder` holds the program; `work` is a folder for what only this needs.
 */
export async function findCalled(
  folder: string,
  entry: string,
  work: string,
): Promise<Map<string, Ranges>> {
  const sample = `${work}/sample.yml`;
  await Deno.writeTextFile(sample, SAMPLE);
  const profile = await Deno.makeTempDir({ dir: work });
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", `--coverage=${profile}`, `${folder}/${entry}`, sample],
    cwd: work,
    clearEnv: true,
    env: { DENO_DIR: `${work}/deno_dir`, SystemRoot: Deno.env.get("SystemRoot") ?? "" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  if (!success) throw new Error(`the bundle cannot run a workflow\n${said}`);
  const called = new Map<string, Ranges>();
  for await (const { name } of Deno.readDir(profile)) {
    if (!name.endsWith(".json")) continue;
    const coverage: Coverage = JSON.parse(await Deno.readTextFile(`${profile}/${name}`));
    const ranges = coverage.functions.flatMap(({ ranges: [whole] }) =>
      whole && whole.count > 0 ? [`${whole.startOffset}:${whole.endOffset}`] : []
    );
    called.set(coverage.url.slice(coverage.url.lastIndexOf("/") + 1), new Set(ranges));
  }
  if (!called.has(entry)) throw new Error(`no coverage of ${entry}`);
  return called;
}
