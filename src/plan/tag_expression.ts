import { UsageError } from "../base/errors.ts";
import type { Plan, PlannedJob } from "./plan.ts";

/** Decides by the tags of a job. */
export type TagCondition = (tags: ReadonlySet<string>) => boolean;

const HINT = "tags are joined by and, or, not and parentheses: 'smoke and not slow'";
const TOKEN = /\s*([()!]|&&|\|\||[^\s()!&|]+)/y;

/** Operators of other tools. */
const OPERATORS: Readonly<Record<string, string>> = { "&&": "and", "||": "or", "!": "not" };

/** Reads `smoke and not (slow or flaky)`. Throws UsageError. */
export function parseTags(text: string): TagCondition {
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
export function jobsWithTags(plan: Plan, condition: TagCondition): readonly PlannedJob[] {
  const jobs = plan.jobs.filter(({ job }) => !job.isCleanup);
  return jobs.filter((job) => condition(new Set(tagsOf(plan, job))));
}
