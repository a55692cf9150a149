import { didYouMean } from "../../base/text/suggest.ts";
import type { Job } from "../model.ts";
import { addError, type Problem } from "../problem.ts";
import { isGeneratedId } from "../step_facts.ts";

/** What the graph of the jobs is made of. */
type GraphJob = Pick<Job, "id" | "index" | "path" | "needs"> & Partial<Pick<Job, "name">>;

/** Finding a suggestion takes time in proportion to the jobs; more hints than this do not help. */
const MAX_HINTS = 20;

/** Checks that every need is a job and that no job waits for itself. */
export function checkNeeds(jobs: readonly GraphJob[], problems: Problem[]): void {
  const byId = new Map<string, GraphJob>();
  // Of two jobs with the same id, which is reported elsewhere, the first counts.
  for (const job of jobs) if (!byId.has(job.id)) byId.set(job.id, job);
  let hints = MAX_HINTS;
  for (const job of jobs) {
    for (const [index, need] of job.needs.entries()) {
      if (byId.has(need)) continue;
      const hint = hints-- > 0 ? needHint(job, need, jobs) : undefined;
      const message = `unknown job "${need}" in needs of "${job.name?.source ?? job.id}"`;
      addError(problems, "unknown-need", [...job.path, "needs", index], message, { hint });
    }
  }
  for (const cycle of findCycles(byId)) reportCycle(problems, cycle);
}

/** The name that was probably meant. */
function needHint(
  job: GraphJob,
  need: string,
  jobs: readonly GraphJob[],
): string | undefined {
  const named = jobs.find(({ name }) => name?.source === need);
  return named
    ? `"${need}" is the name of a job; ` +
      (isGeneratedId(named.id) ? "give it an id, and write that here" : `its id is "${named.id}"`)
    : didYouMean(need, jobs.filter((other) => other !== job).map(({ id }) => id));
}

/** At least one cycle in each group of jobs that wait for each other. */
function findCycles(byId: ReadonlyMap<string, GraphJob>): readonly GraphJob[][] {
  const cycles: GraphJob[][] = [];
  const reported = new Set<GraphJob>();
  const done = new Set<GraphJob>();
  // A stack of our own, since a chain of jobs may be longer than the call stack is deep.
  const trail: { readonly job: GraphJob; next: number }[] = [];
  const depths = new Map<GraphJob, number>();
  const enter = (job: GraphJob) => {
    depths.set(job, trail.length);
    trail.push({ job, next: 0 });
  };
  for (const start of byId.values()) {
    if (!done.has(start)) enter(start);
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const { job } = top;
      const id = job.needs[top.next++];
      const need = id === undefined ? undefined : byId.get(id);
      const depth = need && depths.get(need);
      if (id === undefined) {
        trail.pop();
        depths.delete(job);
        done.add(job);
      } else if (need && depth === undefined && !done.has(need)) {
        enter(need);
      } else if (need && depth !== undefined && !reported.has(job) && !reported.has(need)) {
        const cycle = trail.slice(depth).map(({ job }) => job);
        for (const member of cycle) reported.add(member);
        cycles.push(cycle);
      }
    }
  }
  return cycles;
}

function reportCycle(problems: Problem[], cycle: readonly GraphJob[]): void {
  const indexes = cycle.map(({ index }) => index);
  const from = indexes.indexOf(Math.min(...indexes));
  const turned = [...cycle.slice(from), ...cycle.slice(0, from)];
  const first = turned[0]!;
  const next = turned[1] ?? first;
  const path = [...first.path, "needs", first.needs.indexOf(next.id)];
  const message = `dependency cycle: ${[...turned, first].map(({ id }) => id).join(" → ")}`;
  addError(problems, "cycle", path, message);
}
