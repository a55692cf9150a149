import { withRig } from "./rig.ts";
import type { CliResult } from "./run_cli.ts";
import { runMain } from "./run_main.ts";
import { withFiles } from "./temp_dir.ts";

/** The output of a run, and the requests that the rig received. */
export interface RunAtRig extends CliResult {
  readonly seen: readonly string[];
}

/** Runs a workflow, as `w.yml`, whose `{url}` is the address of a rig. */
export function runAt(yaml: string, args: readonly string[] = []): Promise<RunAtRig> {
  return withRig((rig) =>
    withFiles({ "w.yml": yaml.replaceAll("{url}", rig.url) }, async (cwd) => {
      const result = await runMain([...args, "w.yml"], { cwd });
      return { ...result, seen: [...rig.seen] };
    })
  );
}
