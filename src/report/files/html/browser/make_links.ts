import type { PageData } from "../page_data.ts";
import type { Row } from "./find_rows.ts";

/** Fragments of addresses that lead to jobs and steps. */
export interface PageLinks {
  /** `#job=api`, or `#step=api/login` of a step; after `#run-2/` in the report of a suite. */
  readonly fragmentOf: (row: Pick<Row, "kind" | "index">) => string;
  /** The job or step that a fragment leads to, if it is there. */
  readonly find: (fragment: string) => Pick<Row, "kind" | "index"> | undefined;
}

/** Names jobs and steps by their ids, or else their places, which other runs have too. */
export function makeLinks({ jobs, steps }: PageData, run: string): PageLinks {
  const prefix = run === "" ? "#" : `#run${run}/`;
  let paths: string[] | undefined;
  let known: Map<string, Pick<Row, "kind" | "index">> | undefined;

  const jobPath = (index: number) => `job=${encodeURIComponent(jobs[index]!.id)}`;
  const stepPaths = () => {
    if (paths) return paths;
    const open: string[] = [];
    return paths = steps.map(({ job, depth, key }) => {
      open.length = depth;
      open.push(key);
      return `step=${[encodeURIComponent(jobs[job]!.id), ...open].join("/")}`;
    });
  };

  return {
    fragmentOf: ({ kind, index }) =>
      prefix + (kind === "job" ? jobPath(index) : stepPaths()[index]!),
    find(fragment) {
      if (!fragment.startsWith(prefix)) return undefined;
      if (!known) {
        known = new Map();
        stepPaths().forEach((path, index) => known!.set(path, { kind: "step", index }));
        jobs.forEach((_, index) => known!.set(jobPath(index), { kind: "job", index }));
      }
      return known.get(fragment.slice(prefix.length));
    },
  };
}
