import type { PageDetails, PageStep } from "../page_data.ts";

/** Whether a step has all of these words, which are lower case. */
export type HasWords = (step: PageStep, index: number, words: readonly string[]) => boolean;

/**
 * Looks for words in the names of jobs and steps, and in all that is known of a step: what it
 * sent, got back, said and failed with. Field names are not searched.
 */
export function makeSearch(
  jobNames: readonly string[],
  detailsOf: (index: number) => PageDetails | undefined,
): HasWords {
  const texts = new Map<number, string>();

  const collect = (value: unknown, found: string[]): void => {
    if (typeof value === "string" || typeof value === "number") found.push(String(value));
    else if (Array.isArray(value)) { for (const item of value) collect(item, found); }
    else if (typeof value === "object" && value !== null) {
      for (const item of Object.values(value)) collect(item, found);
    }
  };

  /** What it sent and got has names that others chose. */
  const textOf = (step: PageStep, index: number): string => {
    const known = texts.get(index);
    if (known !== undefined) return known;
    const found = [jobNames[step.job] ?? "", step.name, step.uses, step.place ?? ""];
    const details = detailsOf(index);
    if (details) {
      const { failures, echo, outputs, exchange, reason, untested } = details;
      collect([echo, outputs, exchange, reason, untested], found);
      for (const { message, expression, operands, difference } of failures) {
        collect([message, expression, operands, difference?.lines], found);
      }
    }
    const text = found.join("\n").toLowerCase();
    if (details) texts.set(index, text);
    return text;
  };

  return (step, index, words) => {
    if (words.length === 0) return true;
    const text = textOf(step, index);
    return words.every((word) => text.includes(word));
  };
}
