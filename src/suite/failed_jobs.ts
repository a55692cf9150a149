import { isDict } from "../base/value/value.ts";
import type { Host } from "../host/host.ts";
import type { Plan } from "../plan/plan.ts";
import { selectJobs } from "../plan/select_jobs.ts";
import type { RunEvent } from "../run/event.ts";
import type { SuiteMember } from "./suite.ts";

/** The ids of jobs that failed, by the keys of their workflows. */
export type FailedIds = ReadonlyMap<string, readonly string[]>;

/** Collects from events which jobs failed, or could not run because of what else happened. */
export class FailedJobs {
  readonly ids = new Map<string, string[]>();
  /** Keys of workflows by their index in the suite. */
  readonly #keys: ReadonlyMap<number, string>;
  /** Keys of workflows by the ids of their runs. */
  readonly #runs = new Map<string, string>();

  constructor(members: readonly SuiteMember[] = []) {
    this.#keys = new Map(members.map(({ index, key }) => [index, key]));
  }

  /** The keys of the workflows that ran. */
  get workflows(): Iterable<string> {
    return this.#runs.values();
  }

  take(event: RunEvent): void {
    if (event.type === "run_started" && event.suite?.role === undefined) {
      const key = event.suite && this.#keys.get(event.suite.index);
      this.#runs.set(event.runId, key ?? event.file);
    }
    if (event.type !== "job_finished" || event.state !== "failed" && !event.blocked) return;
    const key = this.#runs.get(event.runId);
    if (key !== undefined) this.ids.set(key, [...this.ids.get(key) ?? [], event.job]);
  }
}

/** The failures of the last run that began in this directory; undefined if there are none. */
export async function readFailed(host: Host): Promise<FailedIds | undefined> {
  try {
    const path = await failedPath(host);
    if (path === undefined) return undefined;
    const { failed } = JSON.parse(new TextDecoder().decode(await host.files.read(path)));
    if (!isDict(failed) || Object.keys(failed).length === 0) return undefined;
    return new Map(Object.entries(failed) as [string, string[]][]);
  } catch {
    return undefined;
  }
}

/** Keeps for the next run in this directory what failed; false if the file cannot be written. */
export async function writeFailed(failed: FailedIds, host: Host): Promise<boolean> {
  try {
    const path = await failedPath(host);
    if (path === undefined || failed.size === 0 && !await host.files.isFile(path)) return false;
    const file = await host.files.stage(path);
    file.write(JSON.stringify({ failed: Object.fromEntries(failed) }));
    file.commit();
    return failed.size > 0;
  } catch {
    // It is only a convenience.
    return false;
  }
}

/** The failed jobs of a workflow, with the jobs that they need. */
export function selectFailed(plan: Plan, ids: readonly string[]): Plan {
  const only = new Set(plan.jobs.filter(({ job }) => ids.includes(job.id)));
  // It could not be loaded before, or has been edited since: what failed in it is not known. And
  // its cleanup has nothing to clean up without its jobs.
  if (only.size < new Set(ids).size || [...only].some(({ job }) => job.isCleanup)) return plan;
  return selectJobs(plan, { only, withNeeds: true, skip: new Set() });
}

/** Says that everything runs, as nothing is known of a run that failed. */
export function noteUnknownFailed(failed: FailedIds | undefined, { stderr }: Host): void {
  const which = failed === undefined ? "" : "of these files ";
  stderr.write(`no failed run ${which}is known in this directory: everything runs\n`);
}

/** The maximum length of a name that every system allows. */
const MAX_NAME = 200;

/**
 * The file that holds what failed in the last run that began in this directory: in the cache
 * directory of the user, never in the project. Undefined if there is no such directory.
 */
async function failedPath({ env, files }: Host): Promise<string | undefined> {
  const home = env.get("HOME");
  const cache = env.get("XDG_CACHE_HOME") || env.get("LOCALAPPDATA") || home && `${home}/.cache`;
  if (!cache) return undefined;
  const directory = files.workingDirectory();
  const name = encodeURIComponent(directory);
  return `${cache}/runner/failed/${name.length > MAX_NAME ? await hash(directory) : name}.json`;
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex().slice(0, 32);
}
