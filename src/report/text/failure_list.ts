import { oneLine } from "../../base/text/printable.ts";
import { causeOfRun } from "../../run/cause_of_run.ts";
import type { Failure, StepResult, StepTree } from "../../run/event.ts";
import type { Style } from "../reporter.ts";
import { countOf, fitSentence, indentedRoom, indentLines, type Room } from "./lines.ts";
import { formatLocation, isOnlyEmbedded, summarizeFailure } from "./render_failure.ts";

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
  readonly location?: string;
}

interface FailureLine {
  readonly text: string;
  readonly isHint: boolean;
}

/** Nobody reads more of them, and the report above has them all. */
const MAX_ENTRIES = 100;
const MAX_TAKEN_DOWN = 20;

/** The entry for failures of one step or job; `remark` goes before the message. */
export function makeFailureEntry(
  title: string,
  failures: readonly Failure[],
  remark = "",
): FailureEntry {
  const location = failures.find((failure) => failure.place)?.place;
  const cause = failures[0]?.cause;
  return {
    title: oneLine(title),
    location: location && formatLocation(location),
    lines: failures.flatMap((failure) => [
      { text: remark + summarizeFailure(failure), isHint: false },
      ...failure.hint === undefined
        ? []
        : [{ text: `hint: ${oneLine(failure.hint)}`, isHint: true }],
    ]),
    cause: failures.every((one) => one.cause === cause) ? cause : undefined,
    tookDown: [],
  };
}

/** The entries of a step that failed; `around` names the job, and the steps around it. */
export function makeStepEntries({ run, result, inside }: StepTree, around: string): FailureEntry[] {
  if (result.state !== "failed") return [];
  const title = `${around} › ${result.name}`;
  const inner = inside.flatMap((step) => makeStepEntries(step, title));
  const entry = { ...makeFailureEntry(title, result.failures), causes: causeOfRun(run) };
  return withInner([entry], inner, result);
}

/** Entries of a step and of those inside it; a step that failed only because of them is listed with the first. */
export function withInner(
  entries: readonly FailureEntry[],
  inner: readonly FailureEntry[],
  result: StepResult,
): FailureEntry[] {
  const [first, ...others] = inner;
  if (!first || !isOnlyEmbedded(result)) return [...inner, ...entries];
  const causes = entries[0]?.causes ?? first.causes;
  return [{ ...first, causes, tookDown: [...first.tookDown, ...entries] }, ...others];
}

/** An entry whose steps have this before their names. */
export function withPrefix(prefix: string, entry: FailureEntry): FailureEntry {
  const tookDown = entry.tookDown.map((step) => ({ ...step, title: prefix + step.title }));
  return { ...entry, title: prefix + entry.title, tookDown };
}

/** Everything that failed, once more, with its position in the file: one entry for each cause. */
export function renderFailureList(
  all: readonly FailureEntry[],
  style: Style,
  room: Room,
): string[] {
  if (all.length === 0) return [];
  const entries = mergeCauses(all);
  const lines = entries.slice(0, MAX_ENTRIES).flatMap((entry, index) => {
    const number = `${String(index + 1).padStart(3)}. `;
    const [title = "", ...below] = entryLines(entry, style, indentedRoom(room, number.length));
    return [style.dim(number) + title, ...indentLines(below, number.length)];
  });
  const left = entries.length - MAX_ENTRIES;
  if (left > 0) lines.push(`     … (${countOf(left, "more failure")} above)`);
  return [style.bold("Failures"), ...lines, ""];
}

/** Adds what has the same cause to the first failure with it, or to the failure that is the cause. */
function mergeCauses(entries: readonly FailureEntry[]): readonly FailureEntry[] {
  const merged: FailureEntry[] = [];
  /** Positions in `merged` by cause. */
  const known = new Map<string, number>();
  for (const entry of entries) {
    const { cause, causes, tookDown } = entry;
    let index = cause === undefined ? undefined : known.get(cause);
    if (index === undefined) {
      index = merged.push(entry) - 1;
      if (cause !== undefined) known.set(cause, index);
    } else {
      const first = merged[index]!;
      merged[index] = { ...first, tookDown: [...first.tookDown, entry, ...tookDown] };
    }
    if (causes !== undefined) known.set(causes, index);
  }
  return merged;
}

function entryLines(entry: FailureEntry, style: Style, room: Room): string[] {
  const { lines, tookDown } = entry;
  const titleOf = ({ title, location }: FailedStep) =>
    title + (location === undefined ? "" : `   ${style.cyan(location)}`);
  const left = tookDown.length - MAX_TAKEN_DOWN;
  return [
    titleOf(entry),
    ...lines.flatMap(({ text, isHint }) =>
      fitSentence(text, room).map((line) => isHint ? line : style.red(line))
    ),
    ...tookDown.slice(0, MAX_TAKEN_DOWN).map((step) => `also failed: ${titleOf(step)}`),
    ...left > 0 ? [`also failed: ${countOf(left, "more step")}`] : [],
  ];
}
