import type { Host } from "../host/host.ts";
import type { JobFinished } from "../run/event.ts";

/** Longer names are not possible on every system. */
const LONGEST = 200;

/**
 * The file that holds what failed in the last run that began in this directory: in the cache
 * directory of the user, never in the project. Undefined where there is no such directory.
 */
export async function failedPath({ env, files }: Host): Promise<string | undefined> {
  const home = env.get("HOME");
  const cache = env.get("XDG_CACHE_HOME") || env.get("LOCALAPPDATA") || home && `${home}/.cache`;
  if (!cache) return undefined;
  const directory = files.workingDirectory();
  const name = encodeURIComponent(directory);
  return `${cache}/runner/failed/${name.length > LONGEST ? await hash(directory) : name}.json`;
}

async function hash(text: string): Promise<string> {
  const digest = new Uint8Array(
    await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)),
  );
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether it is known that something failed in the last run here: most directories have no file. */
export async function hasFailedState(host: Host): Promise<boolean> {
  try {
    const path = await failedPath(host);
    return path !== undefined && await host.files.isFile(path);
  } catch {
    return false;
  }
}

/** Whether a job has to run again: it failed, or could not run because of what else happened. */
export function mustRerun({ state, blocked }: JobFinished): boolean {
  return state === "failed" || blocked === true;
}
