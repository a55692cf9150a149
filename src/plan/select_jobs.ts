import { didYouMean, firstNames } from "../base/text/suggest.ts";
import { positionsOf } from "../base/yaml/positions.ts";
import type { Plan, PlannedJob } from "./plan.ts";
import { UsageError } from "../base/errors.ts";
import { excerptOf } from "../base/source.ts";
import { isGeneratedId, writtenId } from "../workflow/step_facts.ts";

/** The part of a plan to run. */
interface Selection {
  /** All jobs where it is not given. */
  readonly only?: ReadonlySet<PlannedJob>;
  /** Whether what these jobs need comes along. */
  readonly withNeeds: boolean;
  /** Jobs that are skipped as if their `skipif` were true. */
  readonly skip: ReadonlySet<PlannedJob>;
}

/**
 * The selected part of a plan, with the cleanup jobs. In place of a job that was not selected, its
 * jobs wait for the jobs that it would have waited for.
 */
export function selectJobs(plan: Plan, { only, withNeeds, skip }: Selection): Plan {
  const wanted = only && withNeeds ? withTheirNeeds(only) : only ?? new Set(plan.jobs);
  const chosen = new Set([...wanted, ...plan.jobs.filter(({ job }) => job.isCleanup)]);
  const copies = new Map(
    plan.jobs.filter((job) => chosen.has(job)).map((job) => {
      const needs: PlannedJob[] = [];
      return [job, { ...job, needs, ...(skip.has(job) ? { skip: "--skip" } : {}) }];
    }),
  );
  for (const [job, { needs }] of copies) {
    // A set that grows is walked to its end.
    const before = new Set(job.needs);
    for (const need of before) {
      const copy = copies.get(need);
      if (copy) needs.push(copy);
      else for (const earlier of need.needs) before.add(earlier);
    }
  }
  return { ...plan, jobs: [...copies.values()] };
}

function withTheirNeeds(jobs: Iterable<PlannedJob>): ReadonlySet<PlannedJob> {
  // A set that grows is walked to its end.
  const all = new Set(jobs);
  // Cleanup jobs run after the others without needing them.
  for (const { job, needs } of all) if (!job.isCleanup) { for (const need of needs) all.add(need); }
  return all;
}

/**
 * The jobs with that id or name; if there are none, those whose id or name fits it as a
 * pattern: `*` is any text, `?` one character, `[ab]` one of those and `[!ab]` none of them.
 */
export function matchJobs(jobs: readonly PlannedJob[], wanted: string): readonly PlannedJob[] {
  const same = jobs.filter((planned) => namesOf(planned).includes(wanted));
  if (same.length > 0 || !/[*?[]/.test(wanted)) return same;
  const pattern = globPattern(wanted);
  return jobs.filter((planned) => namesOf(planned).some((name) => pattern.test(name)));
}

/** The error for a selected job that does not exist. */
export function jobHint(jobs: readonly PlannedJob[], wanted: string): string {
  const names = jobs.map(({ job: { id }, name }) =>
    id === name || isGeneratedId(id) ? name : `${id} (${name})`
  );
  return didYouMean(wanted, jobs.flatMap(namesOf)) ?? `the jobs are ${firstNames(names)}`;
}

/** All by which a job can be chosen. */
function namesOf(
  { job: { id, name: { source }, combination }, name }: PlannedJob,
): readonly string[] {
  const written = combination ? [combination.of.id, combination.of.name.source] : [];
  return [...new Set([id, name, source, ...written])];
}

function globPattern(glob: string): RegExp {
  const source = glob.replace(/\*+|\?|\[(!?)([^\]]+)\]|[\s\S]/g, (part, not, set) => {
    if (part.startsWith("*")) return "[^]*";
    if (part === "?") return "[^]";
    if (set !== undefined) return `[${not ? "^" : ""}${set.replace(/[\\\]^]/g, "\\$&")}]`;
    return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  try {
    return new RegExp(`^${source}$`, "u");
  } catch {
    // A range that runs backwards, like [z-a], fits nothing.
    return /(?!)/;
  }
}

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
export type OnUnknown = (name: string, makeError: () => Error) => void;

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

/** The job that is written at a line of its file, with what it needs. Throws UsageError. */
export function chooseJobAt(plan: Plan, line: number): Plan {
  const { document } = plan.workflow;
  const begins = plan.jobs.map((planned) => ({
    planned,
    line: excerptOf(positionsOf(document).locate(planned.job.path)).line,
  }));
  const isBehind = document.files.every(({ text }) => line > text.trimEnd().split("\n").length);
  const found = isBehind ? undefined : begins.findLast((one) => one.line <= line)?.planned;
  if (found && !found.job.isCleanup) {
    const id = writtenId(found.job);
    const only = new Set(plan.jobs.filter(({ job }) => writtenId(job) === id));
    return selectJobs(plan, { only, withNeeds: true, skip: new Set() });
  }
  const jobs = begins.filter(({ planned }) => !planned.job.isCleanup).slice(0, 5)
    .map(({ planned, line }) => `${planned.job.id} at ${line}`).join(", ");
  throw new UsageError(`no job is at line ${line} of '${document.name}'`, `jobs begin: ${jobs}`);
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
  const hint = known.length === 0 ? `${owner} no tags` : `the tags are ${firstNames(known)}`;
  return new UsageError(`${nameOption("tags")}: no job has the tags "${tags}"`, hint);
}

/** Decides by the tags of a job. */
type TagCondition = (tags: ReadonlySet<string>) => boolean;

const HINT = "tags are joined by and, or, not and parentheses: 'smoke and not slow'";
const TOKEN = /\s*([()!]|&&|\|\||[^\s()!&|]+)/y;

/** Operators of other tools. */
const OPERATORS: Readonly<Record<string, string>> = { "&&": "and", "||": "or", "!": "not" };

/** Reads `smoke and not (slow or flaky)`. Throws UsageError. */
function parseTags(text: string): TagCondition {
  const tokens = tokensOf(text);
  let at = 0;
  const take = (token: string) => tokens[at] === token && at++ >= 0;
  const either = (): TagCondition => {
    let left = both();
    while (take("or")) left = anyOf(left, both());
    return left;
  };
  const both = (): TagCondition => {
    let left = single();
    while (take("and")) left = allOf(left, single());
    return left;
  };
  const single = (): TagCondition => {
    if (take("not")) {
      const negated = single();
      return (tags) => !negated(tags);
    }
    if (take("(")) {
      const inside = either();
      if (!take(")")) throw invalid(text, "a parenthesis is never closed");
      return inside;
    }
    const tag = tokens[at++];
    if (tag === undefined) throw invalid(text, "a tag is missing at the end");
    if (/^(?:and|or|\))$/.test(tag)) throw invalid(text, `a tag is missing before "${tag}"`);
    return (tags) => tags.has(tag);
  };
  const condition = either();
  const rest = tokens[at];
  if (rest !== undefined) throw invalid(text, `"and" or "or" is missing before "${rest}"`);
  return condition;
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) throw invalid(text, `unexpected "${text.slice(at).trim()}"`);
    tokens.push(OPERATORS[token] ?? token);
  }
  return tokens;
}

function anyOf(left: TagCondition, right: TagCondition): TagCondition {
  return (tags) => left(tags) || right(tags);
}

function allOf(left: TagCondition, right: TagCondition): TagCondition {
  return (tags) => left(tags) && right(tags);
}

function invalid(text: string, why: string): UsageError {
  return new UsageError(`option --tags: invalid expression "${text}": ${why}`, HINT);
}

/** The tags of a job: those of the workflow and its own. */
function tagsOf({ workflow }: Plan, { job }: PlannedJob): readonly string[] {
  return [...new Set([...workflow.tags ?? [], ...job.tags ?? []])];
}

/** The jobs of a plan whose tags fulfil a condition; those that clean up run in any case. */
function jobsWithTags(plan: Plan, condition: TagCondition): readonly PlannedJob[] {
  const jobs = plan.jobs.filter(({ job }) => !job.isCleanup);
  return jobs.filter((job) => condition(new Set(tagsOf(plan, job))));
}

/** The failed jobs of a workflow, with the jobs that they need. */
export function selectFailed(plan: Plan, ids: readonly string[]): Plan {
  const only = new Set(plan.jobs.filter(({ job }) => ids.includes(job.id)));
  // It could not be loaded before, or has been edited since: what failed in it is not known. And
  // its cleanup has nothing to clean up without its jobs.
  if (only.size < new Set(ids).size || [...only].some(({ job }) => job.isCleanup)) return plan;
  return selectJobs(plan, { only, withNeeds: true, skip: new Set() });
}
