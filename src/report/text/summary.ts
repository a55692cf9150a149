import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { sumOf } from "../../run/count_steps.ts";
import type { JobState, RunFinished } from "../../run/event.ts";
import type { Paint, Style } from "../reporter.ts";
import type { Room } from "./lines.ts";

/** A line of the summary at the end of a report. */
export interface SummaryRow {
  readonly label: string;
  /** They are joined by spaces; a line may end between two of them. */
  readonly parts: readonly SummaryPart[];
  /** It is not about numbers. */
  readonly isRemark?: true;
}

/** A text that stays in one line, its colour, and what separates it from the next one. */
interface SummaryPart {
  readonly text: string;
  readonly paint?: Paint;
  readonly end?: string;
}

const asIs: Paint = (text) => text;

/** Where the values of the rows begin: two columns after the longest label. */
const VALUES = 11;

/** The rows as lines, the values below each other. */
export function renderSummary(
  rows: readonly SummaryRow[],
  style: Style,
  { wraps, columns }: Room,
): string[] {
  return rows.flatMap(({ label, parts }) => {
    const lines: string[] = [];
    let width = 0;
    for (const { text, paint = asIs, end = "" } of parts) {
      const added = displayWidth(text + end) + 1;
      const part = paint(text) + style.dim(end);
      if (lines.length > 0 && (!wraps || width + added <= columns - VALUES)) {
        lines.push(`${lines.pop()} ${part}`);
        width += added;
      } else {
        const margin = lines.length === 0 ? style.bold(label.padEnd(VALUES)) : " ".repeat(VALUES);
        lines.push(margin + part);
        width = added - 1;
      }
    }
    return lines;
  });
}

/** The row of a text, which may be wrapped between words. */
export function textRow(label: string, text: string, paint?: Paint): SummaryRow {
  const parts = oneLine(text).split(" ").map((text) => ({ text, paint }));
  return { label, parts, isRemark: true };
}

/** What the rows at the end of a run say, and those at the end of a suite. */
interface Totals extends Pick<RunFinished, "steps" | "duration" | "interrupted"> {
  /** The jobs by state, or the workflows of a suite. */
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly leftOut?: number;
  readonly flaky: number;
}

/** The rows of a run or a suite. */
export function totalRows(
  label: "Jobs" | "Workflows",
  totals: Totals,
  style: Style,
): SummaryRow[] {
  const { interrupted, duration } = totals;
  return [
    { label, parts: jobParts(totals, style) },
    { label: "Steps", parts: stepParts(totals, style) },
    ...interrupted === undefined ? [] : [textRow("Reason", interrupted, style.red)],
    { label: "Time", parts: [{ text: formatElapsed(duration) }] },
  ].filter(({ parts }) => parts.length > 0);
}

function jobParts({ jobs, leftOut = 0 }: Totals, style: Style): SummaryPart[] {
  const { passed, failed, skipped } = jobs;
  const selected = passed + failed + skipped;
  return countParts(
    [
      [passed, "passed", style.green],
      [failed, "failed", style.red],
      [skipped, "skipped"],
    ],
    leftOut > 0 ? `${selected} of ${selected + leftOut} selected` : `${selected}`,
    style,
  );
}

type CountedSteps = Pick<Totals, "steps" | "flaky">;

/** `49 passed · 1 failed · 3 flaky (50)`: the steps of a run, each number in its colour. */
export function stepParts(
  { steps, flaky }: CountedSteps,
  style: Style,
): SummaryPart[] {
  return countParts(
    [
      [steps.passed, flaky === 0 ? "passed" : `passed, ${flaky} flaky`, style.green],
      [steps.failed, "failed", style.red],
      [steps.allowed, "allowed", style.yellow],
      [steps.skipped, "skipped"],
      [steps.untested, "not tested", style.blue],
    ],
    `${sumOf(steps)}`,
    style,
  );
}

function countParts(
  counts: readonly (readonly [count: number, word: string, paint?: Paint])[],
  total: string,
  style: Style,
): SummaryPart[] {
  const shown = counts.filter(([count]) => count > 0);
  if (shown.length === 0) return [];
  return [
    ...shown.map(([count, word, paint = style.dim], index): SummaryPart => ({
      text: `${count} ${word}`,
      paint,
      end: index < shown.length - 1 ? " ·" : "",
    })),
    { text: `(${total})`, paint: style.dim },
  ];
}

/** The parts as one text without colours. */
export function plainParts(parts: readonly SummaryPart[]): string {
  return parts.map(({ text, end = "" }) => text + end).join(" ");
}
