import type { Job, Step, Workflow } from "../../workflow/model.ts";
import { nameOfOuter, snapshotName } from "../../workflow/snapshot_name.ts";
import type { Run } from "../run_state.ts";
import { EXTENSIONS, snapshotDirectory } from "./snapshot_file.ts";

/** Reports the snapshots that no step of a workflow names, or removes them. */
export async function reportOrphans(run: Run, workflow: Workflow): Promise<void> {
  const { host } = run;
  const directory = await snapshotDirectory(workflow.document);
  const names = await host.files.list(directory).catch(() => undefined) ?? [];
  const patterns = workflow.jobs.flatMap(patternsOf);
  for (const name of names) {
    const extension = EXTENSIONS.find((known) => name.endsWith(`.${known}`));
    if (!extension) continue;
    const bare = name.slice(0, -extension.length - 1);
    if (patterns.some((pattern) => pattern.test(bare))) continue;
    const path = `${directory}/${name}`;
    const text = run.snapshots === "prune"
      ? await remove(run, path)
      : `no step names the snapshot "${path}": --update-snapshots=all removes it`;
    run.note("warning", text);
  }
}

/** Removes a snapshot where that is allowed; gives what to say about it. */
async function remove({ host, options }: Run, path: string): Promise<string> {
  const { permissions } = options;
  if (permissions?.write) {
    const { pathRefusal } = await import("../../action/permissions/path_rule.ts");
    const refused = await pathRefusal(permissions, "write", path, host);
    if (refused) {
      return `cannot remove the snapshot "${path}", which no step names: ${refused.message}`;
    }
  }
  await host.files.remove(path);
  return `removed the snapshot "${path}", which no step names`;
}

/** Patterns for the names of the snapshots of a job. */
function patternsOf({ id, steps }: Job): readonly RegExp[] {
  return steps.flatMap((step) =>
    patternsIn(step, []).map((parts) => {
      const names = parts.map((part) =>
        `${escape(snapshotName(undefined, [{ id: part }]))}(\\.\\d+)*`
      );
      const job = snapshotName(id, []);
      return new RegExp(`^${job === "" ? "" : `${escape(job)}\\.`}${names.join("\\.")}$`, "i");
    })
  );
}

/** The names of a step with a snapshot and of the steps around it, and those of steps inside it. */
function patternsIn(step: Step, outer: readonly string[]): readonly (readonly string[])[] {
  const { snapshot, id, index, embedded } = step;
  const named = snapshot ? [[...outer, nameOfOuter(snapshot.name ?? id, index)]] : [];
  const around = [...outer, nameOfOuter(id, index)];
  const inside = embedded?.job.steps.flatMap((one) => patternsIn(one, around)) ?? [];
  return [...named, ...inside];
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
