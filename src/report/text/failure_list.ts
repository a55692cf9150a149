import type { Failure, StepResult } from "../../run/event.ts";
import { fitSentence } from "./fit_lines.ts";
import { formatPlace, summarizeFailure } from "./render_failure.ts";
import type { StepTree } from "../model/step_trees.ts";
import type { Style } from "../style.ts";
import { countOf, indentedRoom, indentLines, oneLine, type Room } from "./text_lines.ts";

/** A step or job that failed, for the list at the end of a report. */
export interface FailureEntry {
  /** `Build › check the total`. */
  readonly title: string;
  /** `api.yml:14:15`. */
  readonly place?: string;
  readonly lines: readonly string[];
  /** What failed in the job that the step embeds. */
  readonly inside?: readonly FailureEntry[];
}

/** More of them nobody reads, and they are all in the report above. */
const MOST_ENTRIES = 100;

/** The entry for failures of one step or job; `remark` goes before what was wrong. */
export function makeFailureEntry(
  title: string,
  failures: readonly Failure[],
  remark = "",
): FailureEntry {
  const place = failures.find((failure) => failure.place)?.place;
  const lines = failures.map((failure) => remark + summarizeFailure(failure));
  return { title: oneLine(title), lines, ...(place ? { place: formatPlace(place) } : {}) };
}

/** The entry of a step that failed, with what failed inside of it; `around` is the name of its job. */
export function makeStepEntry({ result, inside }: StepTree, around: string): FailureEntry {
  const entry = makeFailureEntry(`${around} › ${result.name}`, result.failures);
  return { ...entry, inside: inside.flatMap((step) => failuresInside(step)) };
}

/** What failed in an embedded job, by the names of the steps from there on. */
function failuresInside({ result, inside }: StepTree, around = ""): FailureEntry[] {
  if (result.state !== "failed") return [];
  const title = `${around}› ${result.name}`;
  const inner = inside.flatMap((step) => failuresInside(step, `${title} `));
  return isToldInside(result, inner) ? inner : [...inner, makeFailureEntry(title, result.failures)];
}

/** Whether a step failed by those inside of it and by nothing else. */
export function isToldInside({ failures }: StepResult, inner: readonly FailureEntry[]): boolean {
  return inner.length > 0 && failures.every(({ kind }) => kind === "embedded");
}

/**
 * Everything that failed, once more, with its place in the file. What is numbered is what is counted
 * in the last line of a report; steps of an embedded job stand below the one that embeds it.
 */
export function renderFailureList(
  entries: readonly FailureEntry[],
  style: Style,
  room: Room,
): string[] {
  const lines = entries.slice(0, MOST_ENTRIES).flatMap((entry, index) => {
    const number = `${String(index + 1).padStart(3)}. `;
    const [title = "", ...below] = entryLines(entry, style, indentedRoom(room, number.length));
    return [style.dim(number) + title, ...indentLines(below, number.length)];
  });
  return [style.bold("Failures"), ...lines, ...leftOut(entries, 5), ""];
}

function entryLines(entry: FailureEntry, style: Style, room: Room): string[] {
  const { title, place, lines, inside = [] } = entry;
  const inner = inside.slice(0, MOST_ENTRIES).flatMap((one) => {
    const [head = "", ...below] = entryLines(one, style, indentedRoom(room, 2));
    return [head, ...indentLines(below, 2)];
  });
  return [
    title + (place === undefined ? "" : `   ${style.cyan(place)}`),
    ...lines.flatMap((line) => fitSentence(line, room)).map(style.red),
    ...inner,
    ...leftOut(inside, 0),
  ];
}

function leftOut(entries: readonly FailureEntry[], indent: number): string[] {
  const left = entries.length - MOST_ENTRIES;
  return left > 0 ? indentLines([`… (${countOf(left, "more failure")} above)`], indent) : [];
}
