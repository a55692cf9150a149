import type { Host } from "../host/host.ts";
import { failedPath, mustRerun } from "./failed_path.ts";
import { selectJobs } from "../plan/select_jobs.ts";
import type { RunEvent } from "../run/event.ts";
import { isDict } from "../base/value/value.ts";
import type { SuiteMember } from "./suite.ts";

/** The ids of the jobs that failed, by the keys of their workflows. */
export type FailedJobs = ReadonlyMap<string, readonly string[]>;

/** Follows which jobs have to run again. */
export class FailedCollector {
  readonly failed = new Map<string, string[]>();
  /** By the place of each workflow in the suite, and by its run. */
  readonly #keys: ReadonlyMap<number, string>;
  readonly #runs = new Map<string, string>();

  constructor(members: readonly SuiteMember[]) {
    this.#keys = new Map(members.map(({ index, key }) => [index, key]));
  }

  /** Takes an event of any of the runs into account. */
  take(event: RunEvent): void {
    if (event.type === "run_started" && event.suite && event.suite.role === undefined) {
      this.#runs.set(event.runId, this.#keys.get(event.suite.index) ?? event.file);
    }
    if (event.type !== "job_finished" || !mustRerun(event)) return;
    const key = this.#runs.get(event.runId);
    if (key !== undefined) this.failed.set(key, [...this.failed.get(key) ?? [], event.job]);
  }
}

/** The failures of the last run that began in this directory; undefined if unknown. */
export async function readFailed(host: Host): Promise<FailedJobs | undefined> {
  try {
    const path = await failedPath(host);
    if (path === undefined) return undefined;
    const text = new TextDecoder().decode(await host.files.read(path));
    const { failed } = JSON.parse(text);
    if (!isDict(failed) || Object.keys(failed).length === 0) return undefined;
    return new Map(Object.entries(failed) as [string, string[]][]);
  } catch {
    return undefined;
  }
}

/** Remembers what failed; where that cannot be written, the next run knows nothing of it. */
export async function writeFailed(failed: FailedJobs, host: Host): Promise<void> {
  try {
    const path = await failedPath(host);
    if (path === undefined) return;
    const file = await host.files.stage(path);
    file.write(JSON.stringify({ failed: Object.fromEntries(failed) }));
    file.commit();
  } catch {
    // It is only a convenience.
  }
}

/** The failed jobs of the workflows, with the jobs that they need. */
export function selectFailed(
  members: readonly SuiteMember[],
  failed: FailedJobs,
): readonly SuiteMember[] {
  return members.flatMap((member): SuiteMember[] => {
    const ids = failed.get(member.key);
    if (!ids || member.kind === "refused") return ids ? [member] : [];
    const { plan } = member;
    const only = new Set(plan.jobs.filter(({ job }) => ids.includes(job.id)));
    // It could not be loaded before, or has been edited since: what failed in it is not known. And
    // its cleanup has nothing to clean up without its jobs.
    if (only.size < new Set(ids).size || [...only].some(({ job }) => job.isCleanup)) {
      return [member];
    }
    return [{ ...member, plan: selectJobs(plan, { only, withNeeds: true, skip: new Set() }) }];
  });
}
