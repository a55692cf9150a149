import type { Attempt, Difference, Failure, StepResult, TraceContext } from "../../run/event.ts";
import {
  recapFailure,
  renderOperands,
  sideText,
  summarizeFailure,
} from "../../run/failure/summarize_failure.ts";
import { oneLine, printableLine } from "../../base/text/printable.ts";
import { renderExcerpt } from "../../base/diagnostic.ts";
import type { Position, SourceExcerpt } from "../../base/source.ts";
import { fitSentence, indentedRoom, indentLines, type Room } from "./lines.ts";
import { countOf } from "../../base/text/count_of.ts";
import { renderExchange, withoutMinor } from "./render_exchange.ts";
import type { Paint, Style } from "../reporter.ts";
import { cutLine, displayWidth } from "../../base/text/display_width.ts";
import { type CauseNames, causeNames, describeOthers, groupByCause, troubleOf } from "../causes.ts";
import { describeKind, type FailedPart, isOnlyEmbedded } from "../failed_parts.ts";

/**
 * All about one failure: what, where, the line of the file, and the values that decided it. If the
 * job has shown the line before, `earlier` says where.
 */
export function renderFailure(
  failure: Failure,
  style: Style,
  room: Room,
  earlier?: string,
): string[] {
  const { place: location, kind, message, hint, expression, difference } = failure;
  const fit = (text: string) => fitSentence(text, room);
  const head = (location ? `${formatLocation(location)}: ${message}` : message) +
    (earlier === undefined ? "" : `, as ${earlier}`);
  // An interruption is not about the file, nor is a failure that the steps of an embedded job report.
  const isAboutFile = kind !== "interrupted" && kind !== "embedded";
  const excerpt = isAboutFile && location !== undefined && location.text.trim() !== "";
  return [
    ...head.split("\n").flatMap(fit).map(style.red),
    ...excerpt && earlier === undefined ? excerptLines(location, hint, style, room) : [],
    ...!excerpt && expression !== undefined ? fit(`in: ${oneLine(expression)}`) : [],
    ...renderOperands(failure).flatMap(fit),
    ...difference ? renderDifference(difference, style, room) : [],
    ...!excerpt && hint !== undefined ? fit(`hint: ${oneLine(hint)}`) : [],
  ];
}

/** `api.yml:14:15`. */
function formatLocation({ file, line, column }: Position): string {
  return `${printableLine(file)}:${line}:${column}`;
}

function excerptLines(
  location: SourceExcerpt,
  hint: string | undefined,
  style: Style,
  { wraps, columns }: Room,
): string[] {
  const excerpt = renderExcerpt(location, hint && oneLine(hint), wraps ? columns : undefined);
  const [text = "", ...marks] = excerpt.split("\n");
  return [text, ...marks.map(style.red)];
}

/** The lines of the diff, below the source texts of both sides. */
function renderDifference(
  { expected, received, lines }: Difference,
  style: Style,
  { columns }: Room,
): string[] {
  const paints: Readonly<Record<string, Paint>> = {
    "-": style.green,
    "+": style.red,
    "@": style.cyan,
  };
  return [
    style.green(cutLine(`- expected: ${sideText(expected)}`, columns)),
    style.red(cutLine(`+ received: ${sideText(received)}`, columns)),
    ...lines.map((line) => (paints[line[0]!] ?? style.dim)(cutLine(line, columns))),
  ];
}

const FIRST_SHOWN = 5;
const LAST_SHOWN = 2;

/** The results of the attempts of a step; equal ones in a row share a line. */
export function renderAttempts(attempts: readonly Attempt[], room: Room): string[] {
  if (attempts.length < 2) return [];
  const groups: { from: number; to: number; message: string }[] = [];
  for (const { number, message, outcome } of attempts) {
    const text = oneLine(message ?? outcome);
    const last = groups.at(-1);
    if (last?.message === text) last.to = number;
    else groups.push({ from: number, to: number, message: text });
  }
  const texts = groups.map(({ from, to, message }) =>
    `${from === to ? from : `${from}–${to}`} ${message}`
  );
  if (groups.length > FIRST_SHOWN + LAST_SHOWN + 1) {
    const left = groups.slice(FIRST_SHOWN, -LAST_SHOWN);
    texts.splice(FIRST_SHOWN, left.length, `… (${left[0]!.from}–${left.at(-1)!.to})`);
  }
  const line = `attempts: ${texts.join(", ")}`;
  if (displayWidth(line) <= room.columns) return [line];
  return ["attempts:", ...texts.map((text) => `  ${cutLine(text, room.columns - 2)}`)];
}

/** Enough for most of the two kilobytes of a body that an event holds by default. */
const EXCHANGE_LINES = 40;
/** Lines of an exchange that is repeated rather than referred to. */
const SHORT_EXCHANGE = 3;
/** The indentation of the text of a field of an exchange. */
const DEEPEST_FIELD = 4;

/** Where a failure is, from the outside: `Build`, `step 3`, `in step 1`. */
export type Where = readonly string[];

/** What a run has shown, and where. */
export type Shown = Map<string, Where>;

/** Enough for all that anybody reads. */
const MAX_SHOWN = 1000;

/**
 * Where a text was shown before, as seen from here: `in step 1`, or `in step 1 of Build` from another
 * job; else it is noted as shown here.
 */
function shownBefore(shown: Shown, text: string, where: Where): string | undefined {
  const before = shown.get(text);
  if (before === undefined && shown.size < MAX_SHOWN) shown.set(text, where);
  const first = before?.findIndex((part, index) => part !== where[index]) ?? -1;
  return before && first >= 0 ? before.slice(first).reverse().join(" of ") : undefined;
}

/** Why a step failed: each failure, its attempts, and what went over the wire. */
export function renderTrouble(
  result: StepResult,
  style: Style,
  room: Room,
  shown: Shown = new Map(),
  where: Where = [],
): string[] {
  const { columns } = indentedRoom(room, DEEPEST_FIELD);
  const bounds = { columns, lines: EXCHANGE_LINES, wraps: room.wraps };
  const { failures, attempts, exchange } = result;
  const trouble = troubleOf(result);
  const same = trouble === undefined ? undefined : shownBefore(shown, trouble, where);
  if (same) {
    const folded = failures.flatMap((one) => fitSentence(`${briefly(one)}, as ${same}`, room));
    return [...folded.map(style.red), ...renderAttempts(attempts, room)];
  }
  // The steps inside show what they sent and got.
  const major = exchange && !isOnlyEmbedded(result) ? withoutMinor(exchange) : undefined;
  const lines = major ? renderExchange(major, style, bounds) : [];
  const before = lines.length > SHORT_EXCHANGE
    ? shownBefore(shown, lines.join("\n"), where)
    : undefined;
  // Each job shows the lines of the file to which its failures belong.
  const around = where.slice(0, -1);
  return [
    ...failures.flatMap((failure) => {
      const { place, message, hint } = failure;
      const earlier = place &&
        shownBefore(shown, [...around, formatLocation(place), message, hint].join("\n"), where);
      return renderFailure(failure, style, room, earlier);
    }),
    ...renderAttempts(attempts, room),
    ...result.trace ? traceLines(result.trace) : [],
    ...before ? [style.dim(`request and response: the same as ${before}`)] : lines,
  ];
}

/** The id of a trace, and its address, which stays whole for a click. */
function traceLines({ id, url, sampled }: TraceContext): string[] {
  return [`trace: ${id}${sampled ? "" : " (not sampled)"}`, ...url ? [printableLine(url)] : []];
}

/** `api.yml:14:11: test is false: res.code is 401 (int)`. */
function briefly(failure: Failure): string {
  const place = failure.place ? `${formatLocation(failure.place)}: ` : "";
  return place + summarizeFailure(failure);
}

/** A failure that `allow_failure` expects, in one line. */
export function renderAllowed({ failures }: StepResult, style: Style, room: Room): string[] {
  return fitSentence(failures.map(briefly).join("; "), room).map(style.dim);
}

/** Everything that failed at once. */
export function renderFailures(failures: readonly Failure[], style: Style, room: Room): string[] {
  return failures.flatMap((failure) => renderFailure(failure, style, room));
}

/** A step or job that failed, for the list at the end of a report. */
export interface FailureEntry extends CauseNames {
  /** `Build › check the total`. */
  readonly title: string;
  /** `api.yml:14:15`. */
  readonly location?: string;
  /** The problem with its hint, in one line. */
  readonly text: string;
  /** It did not fail by itself: the run was interrupted. */
  readonly isInterrupted: boolean;
}

/** Nobody reads more of them, and the report above has them all. */
const MAX_ENTRIES = 100;
/** The entries of a part, those inside of it first. */
export function failureEntries(part: FailedPart, runId: string): FailureEntry[] {
  const { title, failures, allowFailure, kind, inside, step } = part;
  if (allowFailure) return [];
  const location = failures.find((failure) => failure.place)?.place;
  const remark = kind ? `${describeKind(kind)}: ` : "";
  const entry: FailureEntry = {
    title: oneLine(title),
    location: location && formatLocation(location),
    text: remark + failures.map((one) => recapFailure(one, step?.result.exchange)).join("; "),
    isInterrupted: failures.length > 0 && failures.every(({ kind }) => kind === "interrupted"),
    ...causeNames(part, runId),
  };
  const inner = inside.flatMap((one) => failureEntries(one, runId));
  const [first, ...others] = inner;
  if (!first || !isOnlyEmbedded(part)) return [...inner, entry];
  // What failed inside of a step is the cause of what the step itself fails others with.
  return [{ ...first, causes: entry.causes ?? first.causes }, ...others];
}

/** Everything that failed, once more, with its position in the file: one entry for each cause. */
export function renderFailureList(
  all: readonly FailureEntry[],
  style: Style,
  room: Room,
): string[] {
  if (all.length === 0) return [];
  const groups = groupByCause(all).map(([first, ...others]) => ({ first, others }))
    .toSorted((a, b) => Number(a.first.isInterrupted) - Number(b.first.isInterrupted));
  const lines = groups.slice(0, MAX_ENTRIES).flatMap(({ first, others }, index) => {
    const { title, location, text } = first;
    const number = `${String(index + 1).padStart(3)}. `;
    const below = indentedRoom(room, number.length);
    const where = location === undefined ? "" : `   ${style.cyan(location)}`;
    return [
      style.dim(number) + title + where,
      ...indentLines([
        ...text === "" ? [] : fitSentence(text, below).map(style.red),
        ...others.length > 0
          ? fitSentence(describeOthers(others.map(({ title }) => title), title), below)
          : [],
      ], number.length),
    ];
  });
  const left = groups.length - MAX_ENTRIES;
  if (left > 0) lines.push(`     … (${countOf(left, "more failure")} above)`);
  return [style.bold("Failures"), ...lines, ""];
}
