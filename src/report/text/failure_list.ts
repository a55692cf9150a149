import { causeOfRun } from "../../run/cause_of_run.ts";
import type { Failure, StepResult } from "../../run/event.ts";
import { countOf, fitSentence, indentedRoom, indentLines, type Room } from "./lines.ts";
import { formatPlace, summarizeFailure } from "./render_failure.ts";
import type { StepTree } from "../model/steps.ts";
import type { Style } from "../reporter.ts";
import { oneLine } from "../../base/text/printable.ts";

/** A step or job that failed, for the list at the end of a report. */
export interface FailureEntry extends FailedStep {
  /** The problem, and a hint. */
  readonly lines: readonly FailureLine[];
  /** Entries with the same cause become one. */
  readonly cause?: string;
  /** The cause of failures that this one leads to. */
  readonly causes?: string;
  /** The steps that failed because of this one, or of the same cause. */
  readonly tookDown: readonly FailedStep[];
}

interface FailedStep {
  /** `Build › check the total`. */
  readonly title: string;
  /** `api.yml:14:15`. */
  readonly place?: string;
}

interface FailureLine {
  readonly text: string;
  readonly isHint: boolean;
}

/** Nobody reads more of them, and the report above has them all. */
const MOST_ENTRIES = 100;
const MOST_TAKEN_DOWN = 20;

/** The entry for failures of one step or job; `remark` goes before what was wrong. */
export function makeFailureEntry(
  title: string,
  failures: readonly Failure[],
  remark = "",
): FailureEntry {
  const place = failures.find((failure) => failure.place)?.place;
  const cause = failures[0]?.cause;
  const lines = failures.flatMap((failure) => [
    { text: remark + summarizeFailure(failure), isHint: false },
    ...failure.hint === undefined ? [] : [{ text: `hint: ${oneLine(failure.hint)}`, isHint: true }],
  ]);
  return {
    title: oneLine(title),
    lines,
    tookDown: [],
    ...place ? { place: formatPlace(place) } : {},
    ...cause !== undefined && failures.every((one) => one.cause === cause) ? { cause } : {},
  };
}

/** The entries of a step that failed; `around` is the name of what it is a part of. */
export function makeStepEntries({ run, result, inside }: StepTree, around: string): FailureEntry[] {
  if (result.state !== "failed") return [];
  const title = `${around} › ${result.name}`;
  const inner = inside.flatMap((step) => makeStepEntries(step, title));
  const own = { ...makeFailureEntry(title, result.failures), causes: causeOfRun(run) };
  return withInner([own], inner, result);
}

/** Entries of a step and those inside of it; one that failed only because of them is listed with the first. */
export function withInner(
  own: readonly FailureEntry[],
  inner: readonly FailureEntry[],
  { failures }: StepResult,
): FailureEntry[] {
  const [first, ...others] = inner;
  if (!first || !failures.every(({ kind }) => kind === "embedded")) return [...inner, ...own];
  const causes = own[0]?.causes ?? first.causes;
  const entry = { ...first, tookDown: [...first.tookDown, ...own] };
  return [causes === undefined ? entry : { ...entry, causes }, ...others];
}

/** Everything that failed, once more, with its place in the file: one entry for each cause. */
export function renderFailureList(
  all: readonly FailureEntry[],
  style: Style,
  room: Room,
): string[] {
  const entries = mergeCauses(all);
  const lines = entries.slice(0, MOST_ENTRIES).flatMap((entry, index) => {
    const number = `${String(index + 1).padStart(3)}. `;
    const [title = "", ...below] = entryLines(entry, style, indentedRoom(room, number.length));
    return [style.dim(number) + title, ...indentLines(below, number.length)];
  });
  const left = entries.length - MOST_ENTRIES;
  const more = left > 0 ? indentLines([`… (${countOf(left, "more failure")} above)`], 5) : [];
  return [style.bold("Failures"), ...lines, ...more, ""];
}

/** Adds what has the same cause to the first failure with it, or to the failure that is the cause. */
function mergeCauses(entries: readonly FailureEntry[]): readonly FailureEntry[] {
  const merged: FailureEntry[] = [];
  const known = new Map<string, number>();
  for (const entry of entries) {
    const { cause, causes, tookDown } = entry;
    const index = cause === undefined ? undefined : known.get(cause);
    const first = index === undefined ? undefined : merged[index];
    if (index === undefined || !first) {
      if (cause !== undefined) known.set(cause, merged.length);
      merged.push(entry);
    } else {
      merged[index] = { ...first, tookDown: [...first.tookDown, entry, ...tookDown] };
    }
    if (causes !== undefined) known.set(causes, index ?? merged.length - 1);
  }
  return merged;
}

function entryLines(entry: FailureEntry, style: Style, room: Room): string[] {
  const { lines, tookDown } = entry;
  const titleOf = ({ title, place }: FailedStep) =>
    title + (place === undefined ? "" : `   ${style.cyan(place)}`);
  const left = tookDown.length - MOST_TAKEN_DOWN;
  return [
    titleOf(entry),
    ...lines.flatMap(({ text, isHint }) =>
      fitSentence(text, room).map((line) => isHint ? line : style.red(line))
    ),
    ...tookDown.slice(0, MOST_TAKEN_DOWN).map((step) => `also failed: ${titleOf(step)}`),
    ...left > 0 ? [`also failed: ${countOf(left, "more step")}`] : [],
  ];
}
