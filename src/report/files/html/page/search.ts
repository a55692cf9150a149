import type { Exchange, Failure, Operand } from "../../../../run/event.ts";
import type { PageData, PageDetails, PageJob, PageStep } from "../page_data.ts";
import { CSS, document, Highlight, type PageElement, type TextRange } from "./dom.ts";

/** Searches the jobs and steps of a run for words in lower case; the text of a step is made when it is first searched. */
export function makeSearch(
  { jobs, steps }: PageData,
  detailsOf: (index: number) => PageDetails,
) {
  const texts = new Map<number, string>();
  return {
    /** Whether a step has all of these words in its name or in its details. */
    inStep(index: number, words: readonly RegExp[]): boolean {
      if (words.length === 0) return true;
      let text = texts.get(index);
      if (text === undefined) {
        const step = steps[index]!;
        text = textOf(step, jobs[step.job]!, detailsOf(index));
        texts.set(index, text);
      }
      return hasAll(text, words);
    },
    /** Whether a job has them, apart from its steps. */
    inJob({ name, reason, rounds, failures }: PageJob, words: readonly RegExp[]): boolean {
      return words.length === 0 ||
        hasAll(joinValues([name, reason, rounds, failures.map(failureValues)]), words);
    },
  };
}

/** Whether a text in lower case has all of these words. */
export function hasAll(text: string, words: readonly RegExp[]): boolean {
  return words.every((word) => text.search(word) >= 0);
}

function textOf(
  { name, uses, position }: PageStep,
  job: PageJob,
  details: PageDetails,
): string {
  const { failures, tests = [], echo, outputs, exchange, reason, attempts = [] } = details;
  return joinValues([
    ...[job.name, name, uses, position, echo, reason],
    failures.map(failureValues),
    withNames(outputs),
    tests.map(({ says, expression, operands }) => [says, expression, operands.map(operandValues)]),
    exchangeValues(exchange),
    attempts.map(({ message, detail }) => [
      message,
      detail?.failures.map(failureValues),
      exchangeValues(detail?.exchange),
    ]),
  ]);
}

function failureValues(failure: Failure): unknown {
  const { message, place: location, expression, operands, difference, hint } = failure;
  return [
    message,
    location?.text,
    expression,
    difference?.lines,
    hint,
    operands?.map(operandValues),
  ];
}

function operandValues({ text, value }: Operand): unknown {
  return [text, value];
}

function exchangeValues(exchange: Exchange | undefined): unknown {
  if (!exchange) return [];
  const { req, res, brief, view } = exchange;
  return [
    messageValues(req),
    messageValues(res),
    brief,
    view?.request?.title,
    view?.response?.title,
  ];
}

/** Fields of messages in which names were chosen by others; those of the action are not searched. */
const NAMED = ["headers", "body", "data", "rows"];

function messageValues(message: unknown): unknown {
  if (typeof message !== "object" || message === null) return message;
  return Object.entries(message).map(([name, field]) =>
    NAMED.includes(name) ? withNames(field) : field
  );
}

/** Data with the names of its fields as values. */
function withNames(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).map(([name, item]) =>
    Array.isArray(value) ? withNames(item) : [name, withNames(item)]
  );
}

/** All values in data, each on a line, in lower case. */
function joinValues(data: unknown): string {
  const found: unknown[] = [];
  const collect = (value: unknown) => {
    if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
    else if (value !== undefined && value !== null) found.push(value);
  };
  collect(data);
  return found.join("\n").toLowerCase();
}

/**
 * Finds the words of a search in texts in lower case. A number beside other words is found whole:
 * of `entry 3`, the 3 is not in `31ms`, nor is it a line of a file.
 */
export function wordsIn(search: string): RegExp[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return words.map((word) =>
    words.length > 1 && /^\d+$/.test(word)
      ? new RegExp(`(?<![\\w.]|\\.ya?ml:)${word}(?!\\w|\\.\\d)`, "g")
      : new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "g")
  );
}

const TEXT_NODES = 4;
const MAX_RANGES = 1000;

/** Marks words in the texts of an element, if the browser can. */
export function highlight(panel: PageElement, words: readonly RegExp[]): void {
  if (!CSS.highlights) return;
  CSS.highlights.delete("found");
  if (words.length === 0) return;
  const ranges: TextRange[] = [];
  const walker = document.createTreeWalker(panel, TEXT_NODES);
  for (
    let node = walker.nextNode();
    node && ranges.length < MAX_RANGES;
    node = walker.nextNode()
  ) {
    const text = node.textContent.toLowerCase();
    // A few letters are longer in lower case.
    if (text.length !== node.textContent.length) continue;
    for (const word of words) {
      for (const { 0: found, index } of text.matchAll(word)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + found.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges.slice(0, MAX_RANGES)));
}
