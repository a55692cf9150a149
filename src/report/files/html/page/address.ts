import type { PageData } from "../page_data.ts";
import { history, location } from "./dom.ts";
import type { FilterSettings } from "./filters.ts";
import type { RowTarget } from "./waterfall.ts";

/** What the address leads to: a workflow of a suite, a job or step, and what its list shows. */
interface Address extends FilterSettings {
  readonly run?: string;
  readonly target?: string;
}

/** Reads `#run-2/step=api/login&show=failed&find=tea`, any part of which may be missing. */
export function readAddress(): Address {
  const [, run, rest = ""] = /^#(?:run-(\d+)(?:\/|$))?(.*)$/s.exec(location.hash) ?? [];
  const address: Record<string, string | undefined> = { run };
  for (const part of rest.split("&")) {
    const [, name, text = ""] = /^(show|find)=(.*)$/s.exec(part) ?? [];
    if (name === undefined) address.target ||= part;
    else address[name] = decode(text);
  }
  return address;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The fragment that leads there. */
export function fragmentOf({ run, target, show, find }: Address): string {
  const parts = [
    target,
    show && `show=${show}`,
    find && `find=${encodeURIComponent(find)}`,
  ].filter(Boolean).join("&");
  return `#${run === undefined ? "" : `run-${run}/`}${parts}`;
}

/** Changes the address, so that it can be passed on. */
export function writeAddress(address: Address): void {
  try {
    history.replaceState(null, "", fragmentOf(address));
  } catch {
    // Some browsers limit how often it changes.
  }
}

/** Names of jobs and steps for addresses, which are the same in other runs. */
export function makeTargets({ jobs, steps }: PageData) {
  const jobPaths = jobs.map(({ id }) => `job=${encodeURIComponent(id)}`);
  const around: string[] = [];
  const stepPaths = steps.map(({ job, depth, key }) => {
    around.length = depth;
    around.push(key);
    return `step=${[encodeURIComponent(jobs[job]!.id), ...around].join("/")}`;
  });
  return {
    /** `job=api`, or `step=api/login`. */
    nameOf: ({ kind, index }: RowTarget) => (kind === "job" ? jobPaths : stepPaths)[index],
    find(name: string | undefined): RowTarget | undefined {
      if (name === undefined) return undefined;
      const [job, step] = [jobPaths.indexOf(name), stepPaths.indexOf(name)];
      if (job >= 0) return { kind: "job", index: job };
      return step >= 0 ? { kind: "step", index: step } : undefined;
    },
  };
}
