import { jobHint, matchJobs, selectJobs } from "../../plan/select_jobs.ts";
import type { Plan, PlannedJob } from "../../plan/plan.ts";
import { UsageError } from "../../source/errors.ts";
import type { Invocation } from "../command.ts";

/** Refuses what can be refused without a look at the workflow. Throws UsageError. */
export function checkChoiceOfJobs({ lists, switches }: Invocation): void {
  if (!switches.has("no-needs") || lists.has("only")) return;
  throw new UsageError("option --no-needs requires --only", "name the jobs that are to run");
}

/** The part of a plan that `--only` and `--skip` leave. Throws UsageError if a pattern matches no job. */
export function chooseJobs(plan: Plan, { lists, switches }: Invocation): Plan {
  const matches = (option: string) =>
    (lists.get(option) ?? []).flatMap((wanted) => jobsFor(plan, option, wanted));
  const withNeeds = !switches.has("no-needs");
  const skip = new Set(matches("skip"));
  const only = lists.has("only") ? new Set(matches("only")) : undefined;
  const wanted = [...only ?? plan.jobs];
  const isRun = !switches.has("list") && !switches.has("dry-run");
  if (isRun && skip.size > 0 && wanted.every((job) => skip.has(job) || job.job.isCleanup)) {
    const options = only ? "options --only and --skip leave" : "option --skip leaves";
    throw new UsageError(`${options} no job to run`, "name fewer jobs with --skip");
  }
  return selectJobs(plan, { ...only ? { only } : {}, withNeeds, skip });
}

function jobsFor({ jobs }: Plan, option: string, wanted: string): readonly PlannedJob[] {
  const found = matchJobs(jobs, wanted);
  if (found.length > 0) return found;
  const parts = wanted.split(",").map((part) => part.trim());
  const isList = parts.length > 1 && parts.every((part) => matchJobs(jobs, part).length > 0);
  const hint = isList
    ? `give the option once for each: ${parts.map((part) => `--${option} "${part}"`).join(" ")}`
    : jobHint(jobs, wanted);
  throw new UsageError(`option --${option}: unknown job "${wanted}"`, hint);
}
