import type { Attempt, Difference, Failure, Operand, StepResult } from "../../run/event.ts";
import { oneLine, printableLine } from "../../base/text/printable.ts";
import { renderExcerpt } from "../../base/diagnostic.ts";
import type { Position, SourceExcerpt } from "../../base/source.ts";
import { cutLine, fitSentence, indentedRoom, type Room } from "./lines.ts";
import { shortJson } from "./render_json.ts";
import type { Paint, Style } from "../reporter.ts";
import { displayWidth } from "../../base/text/display_width.ts";
import { renderExchange, withoutMinor } from "./render_exchange.ts";

const WIDEST_VALUE = 200;
/** The width of a value if its differences are shown below it. */
const WIDEST_COMPARED = 60;

/** All about one failure: what, where, the line of the file, and the values that decided it. */
export function renderFailure(failure: Failure, style: Style, room: Room): string[] {
  const { place: location, kind, message, hint, expression, operands = [], difference } = failure;
  const fit = (text: string) => fitSentence(text, room);
  const head = location ? `${formatLocation(location)}: ${message}` : message;
  // An interruption is not about the file, nor is a failure that the steps of an embedded job report.
  const isAboutFile = kind !== "interrupted" && kind !== "embedded";
  const excerpt = isAboutFile && location !== undefined && location.text.trim() !== "";
  return [
    ...head.split("\n").flatMap(fit).map(style.red),
    ...excerpt ? excerptLines(location, hint, style, room) : [],
    ...!excerpt && expression !== undefined ? fit(`in: ${oneLine(expression)}`) : [],
    ...operands.flatMap((operand) => {
      const isCompared = difference && isSideOf(difference, operand);
      return fit(renderOperand(operand, isCompared ? WIDEST_COMPARED : WIDEST_VALUE));
    }),
    ...difference ? renderDifference(difference, style, room) : [],
    ...!excerpt && hint !== undefined ? fit(`hint: ${oneLine(hint)}`) : [],
  ];
}

/** A failure in one line, for a list. */
export function summarizeFailure(failure: Failure): string {
  const { kind, field, message, difference, operands = [] } = failure;
  // Sides whose differences are shown are left out: cut, these may look the same.
  const relevant = operands.filter((operand) => !difference || !isSideOf(difference, operand));
  const values = relevant.map((operand) => renderOperand(operand, 40));
  if (difference && values.length === 0) values.push(describeDifference(difference));
  // Without the line of the file, an expression is identified by its key.
  const text = kind === "expression" ? `${readableKey(field)}: ${message}` : message;
  return oneLine(values.length === 0 ? text : `${text}: ${values.join(", ")}`);
}

/** `test 3` for `test.2`, the third assertion of a list. */
function readableKey(field: string): string {
  return field.replace(
    /^(test|repeat\.expect)\.(\d+)$/,
    (_, key, index) => `${key} ${Number(index) + 1}`,
  );
}

/** `api.yml:14:15`. */
export function formatLocation({ file, line, column }: Position): string {
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

function renderOperand({ text, type, value }: Operand, columns: number): string {
  const name = oneLine(text);
  if (value === null) return `${name} is nil`;
  return `${name} is ${shortJson(value, columns)} (${type})`;
}

/** Whether an operand is one of the compared values, not a part of them. */
function isSideOf({ expected, received }: Difference, { text }: Operand): boolean {
  return text === expected || text === received;
}

/** For example `res.body and vars.wanted differ at line 3`. */
function describeDifference(
  { expected, received, lines: [first = ""] }: Difference,
): string {
  const where = first.startsWith("@ ") ? ` at ${first.slice(2)}` : "";
  return `${sideText(received)} and ${sideText(expected)} differ${where}`;
}

/** The source text of a side, which may contain a long list or string. */
function sideText(text: string): string {
  return cutLine(oneLine(text), WIDEST_COMPARED);
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

/** Enough for most of the two kilobytes of a body that an event holds unless all is asked for. */
const EXCHANGE_LINES = 40;
/** Lines of an exchange that is repeated rather than referred to. */
const SHORT_EXCHANGE = 3;
/** The indentation of the text of a field of an exchange. */
const DEEPEST_FIELD = 4;

/** The exchange that a job has shown last, and where: `in step 3`. */
export interface ShownExchange {
  text?: string;
  where?: string;
}

/** Why a step failed: each failure, its attempts, and what went over the wire. */
export function renderTrouble(
  result: StepResult,
  style: Style,
  room: Room,
  shown: ShownExchange = {},
  where = "",
): string[] {
  const { columns } = indentedRoom(room, DEEPEST_FIELD);
  const bounds = { columns, lines: EXCHANGE_LINES };
  const { failures, attempts, exchange } = result;
  // The steps inside show what they sent and got.
  const lines = exchange && !isOnlyEmbedded(result)
    ? renderExchange(withoutMinor(exchange), style, bounds)
    : [];
  const text = lines.join("\n");
  const isShown = text === shown.text && lines.length > SHORT_EXCHANGE;
  if (!isShown) Object.assign(shown, { text, where });
  return [
    ...renderFailures(failures, style, room),
    ...renderAttempts(attempts, room),
    ...isShown ? [style.dim(`request and response: the same as ${shown.where}`)] : lines,
  ];
}

/** Everything that failed at once. */
export function renderFailures(failures: readonly Failure[], style: Style, room: Room): string[] {
  return failures.flatMap((failure) => renderFailure(failure, style, room));
}

/** Whether a step failed only because of steps of the job that it embeds. */
export function isOnlyEmbedded({ failures }: StepResult): boolean {
  return failures.every(({ kind }) => kind === "embedded");
}
