import type { PageDetails, PageJob, PageStep } from "../page_data.ts";

/** Looks for words, which are lower case. */
export interface Search {
  /** Whether a step has all of these words. */
  readonly inStep: (step: PageStep, index: number, words: readonly string[]) => boolean;
  /** Whether a job has them, apart from its steps. */
  readonly inJob: (job: PageJob, words: readonly string[]) => boolean;
}

/**
 * Looks for words in the names of jobs and steps, and in all that is known of them: what they
 * sent, got back, said and failed with. The names of the fields of an action are not searched.
 */
export function makeSearch(
  jobs: readonly PageJob[],
  detailsOf: (index: number) => PageDetails | undefined,
): Search {
  const texts = new Map<number, string>();

  /** Fields of an action in which names are chosen by others. */
  const NAMED = ["headers", "body", "data", "rows"];

  const collect = (value: unknown, found: string[], hasNames = false): void => {
    if (["string", "number", "bigint"].includes(typeof value)) found.push(String(value));
    else if (typeof value === "boolean") found.push(String(value));
    else if (Array.isArray(value)) { for (const item of value) collect(item, found, hasNames); }
    else if (typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        if (hasNames) found.push(name);
        collect(item, found, hasNames);
      }
    }
  };

  const collectFields = (message: unknown, found: string[]) => {
    if (typeof message !== "object" || message === null) return collect(message, found);
    for (const [name, field] of Object.entries(message)) {
      collect(field, found, NAMED.includes(name));
    }
  };

  const collectExchange = (exchange: PageDetails["exchange"], found: string[]) => {
    if (!exchange) return;
    const { req, res, brief, view } = exchange;
    collectFields(req, found);
    collectFields(res, found);
    collect([brief, view?.request?.title, view?.response?.title], found);
  };

  const collectFailures = (failures: PageDetails["failures"], found: string[]) => {
    for (const { message, place, expression, operands = [], difference, hint } of failures) {
      collect([message, place?.text, expression, difference?.lines, hint], found);
      for (const { text, value } of operands) collect([text, value], found);
    }
  };

  const textOf = (step: PageStep, index: number): string => {
    const known = texts.get(index);
    if (known !== undefined) return known;
    const found = [jobs[step.job]?.name ?? "", step.name, step.uses, step.place ?? ""];
    const details = detailsOf(index);
    if (details) {
      const { failures, tests = [], echo, outputs, exchange, reason, untested } = details;
      collectFailures(failures, found);
      collect([echo, reason, untested], found);
      collect(outputs, found, true);
      for (const { expression, operands } of tests) {
        found.push(expression);
        for (const { text, value } of operands) collect([text, value], found);
      }
      collectExchange(exchange, found);
      for (const { message, detail } of details.attempts ?? []) {
        collect(message, found);
        if (!detail) continue;
        collectFailures(detail.failures, found);
        collectExchange(detail.exchange, found);
      }
    }
    const text = found.join("\n").toLowerCase();
    if (details) texts.set(index, text);
    return text;
  };

  return {
    inStep(step, index, words) {
      if (words.length === 0) return true;
      const text = textOf(step, index);
      return words.every((word) => text.includes(word));
    },
    inJob({ name, reason = "", rounds = "", failures }, words) {
      if (words.length === 0) return true;
      const found = [name, reason, rounds];
      collectFailures(failures, found);
      const text = found.join("\n").toLowerCase();
      return words.every((word) => text.includes(word));
    },
  };
}
