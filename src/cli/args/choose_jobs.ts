import { jobHint, matchJobs, type Selection, selectJobs } from "../../plan/select_jobs.ts";
import type { Plan } from "../../plan/plan.ts";
import { UsageError } from "../../base/errors.ts";
import type { Invocation } from "../command.ts";

/** Refuses what can be refused without a look at the workflow. Throws UsageError. */
export function checkChoiceOfJobs({ lists, switches }: Invocation): void {
  if (!switches.has("no-needs") || lists.has("only")) return;
  throw new UsageError("option --no-needs requires --only", "name the jobs that are to run");
}

/** The jobs that the command line selects. Throws UsageError if a pattern matches no job. */
export async function chooseJobs(plan: Plan, invocation: Invocation): Promise<Plan> {
  const { lists, switches, values } = invocation;
  const choice = await choiceOf(plan, invocation, (_, makeError) => {
    throw makeError();
  });
  const { only, skip } = choice;
  const wanted = [...only ?? plan.jobs];
  const isRun = !switches.has("list") && !switches.has("dry-run");
  if (isRun && skip.size > 0 && wanted.every((job) => skip.has(job) || job.job.isCleanup)) {
    const options = lists.has("only") ? "options --only and --skip leave" : "option --skip leaves";
    throw new UsageError(`${options} no job to run`, "name fewer jobs with --skip");
  }
  const tags = values.get("tags");
  if (tags !== undefined && wanted.length === 0) {
    throw new UsageError(`option --tags: no job has the tags "${tags}"`, tagsHint(plan));
  }
  return selectJobs(plan, choice);
}

/**
 * The same for one of several workflows, of which perhaps nothing is left. `onUnknown` takes what
 * fits none of its jobs.
 */
export async function chooseJobsOfMany(
  plan: Plan,
  invocation: Invocation,
  onUnknown: OnUnknown,
): Promise<Plan> {
  return selectJobs(plan, await choiceOf(plan, invocation, onUnknown));
}

/** Takes what fits no job, and the error that this is otherwise. */
type OnUnknown = (name: string, makeError: () => Error) => void;

async function choiceOf(
  plan: Plan,
  { lists, switches, values }: Invocation,
  onUnknown: OnUnknown,
): Promise<Selection> {
  const matches = (option: string) =>
    (lists.get(option) ?? []).flatMap((wanted) => {
      const found = matchJobs(plan.jobs, wanted);
      if (found.length === 0) {
        onUnknown(`--${option} ${wanted}`, () => unknownJob(plan, option, wanted));
      }
      return found;
    });
  const withNeeds = !switches.has("no-needs");
  const skip = new Set(matches("skip"));
  const tags = values.get("tags");
  let only = lists.has("only") ? matches("only") : undefined;
  if (tags !== undefined) {
    const { jobsWithTags, parseTags } = await import("../../plan/tag_expression.ts");
    const tagged = jobsWithTags(plan, parseTags(tags));
    only = only ? only.filter((job) => tagged.includes(job)) : [...tagged];
  }
  return { ...only ? { only: new Set(only) } : {}, withNeeds, skip };
}

function tagsHint(plan: Plan): string {
  const tags = [...plan.workflow.tags ?? [], ...plan.jobs.flatMap(({ job }) => job.tags ?? [])];
  const known = [...new Set(tags)];
  if (known.length === 0) return "the workflow has no tags";
  return `the tags are ${known.slice(0, 10).join(", ")}${known.length > 10 ? ", …" : ""}`;
}

function unknownJob({ jobs }: Plan, option: string, wanted: string): UsageError {
  const parts = wanted.split(",").map((part) => part.trim());
  const isList = parts.length > 1 && parts.every((part) => matchJobs(jobs, part).length > 0);
  const hint = isList
    ? `give the option once for each: ${parts.map((part) => `--${option} "${part}"`).join(" ")}`
    : jobHint(jobs, wanted);
  return new UsageError(`option --${option}: unknown job "${wanted}"`, hint);
}
