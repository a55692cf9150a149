import type { PlannedJob } from "../plan/plan.ts";

/** The level of each job: 0 without needs, else one more than the highest among them. */
export function makeLevels(jobs: readonly PlannedJob[]): ReadonlyMap<PlannedJob, number> {
  const levels = new Map<PlannedJob, number>();
  for (const job of jobs) {
    // No recursion: a chain of jobs may be longer than the stack is deep.
    const open = [job];
    for (let last = open.at(-1); last; last = open.at(-1)) {
      const unknown = levels.has(last) ? [] : last.needs.filter((need) => !levels.has(need));
      if (unknown.length > 0) {
        for (const need of unknown) open.push(need);
        continue;
      }
      levels.set(last, last.needs.reduce((most, need) => Math.max(most, levels.get(need)! + 1), 0));
      open.pop();
    }
  }
  return levels;
}
