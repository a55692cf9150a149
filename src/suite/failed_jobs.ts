import { isDict } from "../base/value/value.ts";
import type { Host } from "../host/host.ts";
import type { Change, JobRecord, RunRecord } from "../report/record.ts";
import type { SuiteMember } from "./suite.ts";

/** The ids of jobs that failed, by the keys of their workflows. */
export type FailedIds = ReadonlyMap<string, readonly string[]>;

/** Knows which jobs failed, or could not run because of what else happened. */
export class FailedJobs {
  /** Keys of workflows by their index in the suite. */
  readonly #keys: ReadonlyMap<number, string>;
  readonly #runs = new Set<RunRecord>();

  constructor(members: readonly SuiteMember[] = []) {
    this.#keys = new Map(members.map(({ index, key }) => [index, key]));
  }

  take({ event, run }: Change): void {
    if (event.type === "run_started" && run && run.suite?.role === undefined) this.#runs.add(run);
  }

  /** Whether any job failed. */
  get any(): boolean {
    return this.#runs.values().some(({ jobs }) => jobs.some(isKnownToFail));
  }

  /** What failed last of each workflow: a job that did not run again is still known to fail. */
  after(earlier: FailedIds): FailedIds {
    const all = new Map(earlier);
    for (const { suite, file, jobs, end } of this.#runs) {
      const key = (suite && this.#keys.get(suite.index)) ?? file;
      const byId = new Map(jobs.map((job) => [job.id, job]));
      const isWhole = end !== undefined && end.leftOut === undefined;
      const kept = (all.get(key) ?? []).filter((id) => {
        const job = byId.get(id);
        return job ? job.state !== "passed" : !isWhole;
      });
      const ids = [...new Set([...kept, ...jobs.filter(isKnownToFail).map(({ id }) => id)])];
      if (ids.length > 0) all.set(key, ids);
      else all.delete(key);
    }
    return all;
  }
}

function isKnownToFail({ state, blocked }: JobRecord): boolean {
  return state === "failed" || blocked === true;
}

/** What failed in the last runs that began in this directory. */
export async function readFailed(host: Host): Promise<FailedIds> {
  try {
    const path = await failedPath(host);
    const { failed } = JSON.parse(path && await readText(path, host) || "{}");
    return new Map(isDict(failed) ? Object.entries(failed) as [string, string[]][] : []);
  } catch {
    return new Map();
  }
}

/** Keeps what failed for the next run in this directory; false if nothing is kept. */
export async function writeFailed(failed: FailedIds, host: Host): Promise<boolean> {
  try {
    const path = await failedPath(host);
    if (path === undefined) return false;
    const text = JSON.stringify({ failed: Object.fromEntries(failed) });
    const before = await readText(path, host);
    if (failed.size === 0) {
      if (before !== undefined) await host.files.remove(path);
      return false;
    }
    if (before === text) return true;
    const file = await host.files.stage(path);
    file.write(text);
    file.commit();
    return true;
  } catch {
    // It is only a convenience.
    return false;
  }
}

/** The text of a file; undefined if it cannot be read. */
async function readText(path: string, { files }: Host): Promise<string | undefined> {
  const bytes = await files.read(path).catch(() => undefined);
  return bytes && new TextDecoder().decode(bytes);
}

/** Says that everything runs, as nothing is known of a run that failed. */
export function noteUnknownFailed(files: readonly string[], { stderr }: Host): void {
  const which = files.map((file) => `'${file}'`).join(", ");
  stderr.write(`no failed run of ${which} is known in this directory: everything runs\n`);
}

/** The maximum length of a name that every system allows. */
const MAX_NAME = 200;

/**
 * The file that holds what failed in the last runs that began in this directory: in the cache
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
