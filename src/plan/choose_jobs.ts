import { UsageError } from "../base/errors.ts";
import type { Plan, PlannedJob } from "./plan.ts";
import { jobHint, matchJobs, selectJobs } from "./select_jobs.ts";
import { jobsWithTags, parseTags } from "./tag_expression.ts";

/** The jobs to run, as users name them: by id, by name, by pattern or by tags. */
export interface JobChoice {
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** A condition such as `smoke and not slow`. */
  readonly tags?: string;
  /** Whether what the chosen jobs need is left out. */
  readonly noNeeds?: boolean;
  /** Whether all the chosen jobs may be skipped: nothing runs anyway. */
  readonly maySkipAll?: boolean;
  /** How messages name a choice: by the option of the command line unless set. */
  readonly nameOption?: (name: keyof JobChoice) => string;
}

/** Takes a name that a workflow does not have, and the error that this is otherwise. */
export type OnUnknown = (name: string, makeError: () => Error | Promise<Error>) => void;

const optionName: NonNullable<JobChoice["nameOption"]> = (name) => `option --${name}`;

/**
 * The part of a plan that a choice selects. Throws UsageError for a name that fits none of its jobs
 * and where no job is left to run.
 */
export function chooseJobs(plan: Plan, choice: JobChoice): Plan {
  const { only, skip, wanted } = findJobs(plan, choice, (_, makeError) => {
    throw makeError();
  });
  if (choice.tags !== undefined && wanted.length === 0) {
    throw unknownTags([plan], choice.tags, "the workflow has", choice.nameOption);
  }
  const isNothing = wanted.every((job) => skip.has(job) || job.job.isCleanup);
  if (!choice.maySkipAll && skip.size > 0 && isNothing) {
    const options = choice.only ? "options --only and --skip leave" : "option --skip leaves";
    throw new UsageError(`${options} no job to run`, "name fewer jobs with --skip");
  }
  return selectJobs(plan, { only, withNeeds: !choice.noNeeds, skip });
}

/** The same for one of several workflows; no job of it may remain. */
export function chooseJobsOfMany(plan: Plan, choice: JobChoice, onUnknown: OnUnknown): Plan {
  const { only, skip } = findJobs(plan, choice, onUnknown);
  return selectJobs(plan, { only, withNeeds: !choice.noNeeds, skip });
}

function findJobs(
  plan: Plan,
  { only, skip, tags, nameOption = optionName }: JobChoice,
  onUnknown: (name: string, makeError: () => Error) => void,
) {
  const match = (option: "only" | "skip", names: readonly string[]) =>
    names.flatMap((wanted) => {
      const found = matchJobs(plan.jobs, wanted);
      if (found.length === 0) {
        onUnknown(`--${option} ${wanted}`, () => unknownJob(plan, option, wanted, nameOption));
      }
      return found;
    });
  const skipped = new Set(match("skip", skip ?? []));
  let chosen: readonly PlannedJob[] | undefined = only && match("only", only);
  if (tags !== undefined) {
    const tagged = jobsWithTags(plan, parseTags(tags));
    chosen = chosen ? chosen.filter((job) => tagged.includes(job)) : tagged;
  }
  return { only: chosen && new Set(chosen), skip: skipped, wanted: chosen ?? plan.jobs };
}

function unknownJob(
  { jobs }: Plan,
  option: "only" | "skip",
  wanted: string,
  nameOption: NonNullable<JobChoice["nameOption"]>,
): UsageError {
  const parts = wanted.split(",").map((part) => part.trim());
  const isList = parts.length > 1 && parts.every((part) => matchJobs(jobs, part).length > 0);
  const hint = isList
    ? `give the option once for each: ${parts.map((part) => `--${option} "${part}"`).join(" ")}`
    : jobHint(jobs, wanted);
  return new UsageError(`${nameOption(option)}: unknown job "${wanted}"`, hint);
}

/** The error for tags that no job of some plans has; `owner` begins the hint if there are none. */
export function unknownTags(
  plans: readonly Plan[],
  tags: string,
  owner: string,
  nameOption = optionName,
): UsageError {
  const all = plans.flatMap(({ workflow }) => [
    ...workflow.tags ?? [],
    ...workflow.jobs.flatMap((job) => job.tags ?? []),
  ]);
  const known = [...new Set(all)];
  const hint = known.length === 0
    ? `${owner} no tags`
    : `the tags are ${known.slice(0, 10).join(", ")}${known.length > 10 ? ", …" : ""}`;
  return new UsageError(`${nameOption("tags")}: no job has the tags "${tags}"`, hint);
}
