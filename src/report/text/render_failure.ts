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

/** All about one failure: what, where, the line of the file, and the values that decided it. */
export function renderFailure(failure: Failure, style: Style, room: Room): string[] {
  const { place, kind, message, hint, operands = [] } = failure;
  const fit = (text: string) => fitSentence(text, room);
  const head = place ? `${formatPlace(place)}: ${message}` : message;
  const lines = head.split("\n").flatMap(fit).map(style.red);
  // An interruption is not about the file, nor is a failure that the steps of an embedded job report.
  const isAboutFile = kind !== "interrupted" && kind !== "embedded";
  const isAboutText = isAboutFile && place !== undefined && place.text.trim() !== "";
  if (isAboutText) lines.push(...excerptLines(place, hint, style, room));
  else if (failure.expression !== undefined) {
    lines.push(...fit(`in: ${oneLine(failure.expression)}`));
  }
  const { difference } = failure;
  for (const operand of operands) {
    const widest = difference && isSideOf(difference, operand) ? WIDEST_COMPARED : WIDEST_VALUE;
    lines.push(...fit(renderOperand(operand, widest)));
  }
  if (difference) lines.push(...renderDifference(difference, style, room));
  if (hint !== undefined && !isAboutText) lines.push(...fit(`hint: ${oneLine(hint)}`));
  return lines;
}

/** A failure in one line, for a list. */
export function summarizeFailure(failure: Failure): string {
  const { kind, field, message, difference } = failure;
  const operands = relevantOperands(failure);
  const values = [
    ...operands.map((operand) => renderOperand(operand, 40)),
    ...difference && operands.length === 0 ? [describeDifference(difference)] : [],
  ].join(", ");
  // Without the line of the file, an expression is identified by its key.
  const text = kind === "expression" ? `${readableKey(field)}: ${message}` : message;
  return oneLine(values ? `${text}: ${values}` : text);
}

/** `test 3` for `test.2`, the third assertion of a list. */
function readableKey(field: string): string {
  return field.replace(
    /^(test|repeat\.expect)\.(\d+)$/,
    (_, key, index) => `${key} ${Number(index) + 1}`,
  );
}

/** `api.yml:14:15`. */
export function formatPlace({ file, line, column }: Position): string {
  return `${printableLine(file)}:${line}:${column}`;
}

function excerptLines(
  place: SourceExcerpt,
  hint: string | undefined,
  style: Style,
  { wraps, columns }: Room,
): string[] {
  const excerpt = renderExcerpt(place, hint && oneLine(hint), wraps ? columns : undefined);
  const [text = "", ...marks] = excerpt.split("\n");
  return [text, ...marks.map(style.red)];
}

function renderOperand({ text, type, value }: Operand, columns: number): string {
  const name = oneLine(text);
  if (value === null) return `${name} is nil`;
  return `${name} is ${shortJson(value, columns)} (${type})`;
}

/** The width of a value if its differences are shown below it. */
const WIDEST_COMPARED = 60;

/** Whether an operand is one of the compared values, not a part of them. */
function isSideOf({ expected, received }: Difference, { text }: Operand): boolean {
  return text === expected || text === received;
}

/** The operands without those whose differences are shown; cut, these may look the same. */
function relevantOperands({ operands = [], difference }: Failure): readonly Operand[] {
  return difference ? operands.filter((operand) => !isSideOf(difference, operand)) : operands;
}

/** For example `res.body and vars.wanted differ at line 3`. */
function describeDifference(
  { expected, received, lines: [first = ""] }: Difference,
): string {
  const where = first.startsWith("@ ") ? ` at ${first.slice(2)}` : "";
  return `${shortText(received)} and ${shortText(expected)} differ${where}`;
}

/** The source text of a side, which may contain a long list or string. */
function shortText(text: string): string {
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
    style.green(cutLine(`- expected: ${shortText(expected)}`, columns)),
    style.red(cutLine(`+ received: ${shortText(received)}`, columns)),
    ...lines.map((line) => (paints[line[0]!] ?? style.dim)(cutLine(line, columns))),
  ];
}

const FIRST_SHOWN = 5;
const LAST_SHOWN = 2;

interface AttemptGroup {
  readonly from: number;
  to: number;
  readonly message: string;
}

/** The results of the attempts of a step; equal ones in a row share a line. */
export function renderAttempts(attempts: readonly Attempt[], room: Room): string[] {
  if (attempts.length < 2) return [];
  const texts = shortened(groupsOf(attempts)).map((group) =>
    typeof group === "string" ? group : groupText(group)
  );
  const line = `attempts: ${texts.join(", ")}`;
  if (displayWidth(line) <= room.columns) return [line];
  return ["attempts:", ...texts.map((text) => `  ${cutLine(text, room.columns - 2)}`)];
}

function groupsOf(attempts: readonly Attempt[]): AttemptGroup[] {
  const groups: AttemptGroup[] = [];
  for (const { number, message, outcome } of attempts) {
    const text = oneLine(message ?? outcome);
    const last = groups.at(-1);
    if (last?.message === text) last.to = number;
    else groups.push({ from: number, to: number, message: text });
  }
  return groups;
}

function groupText({ from, to, message }: AttemptGroup): string {
  return `${from === to ? from : `${from}–${to}`} ${message}`;
}

function shortened(groups: readonly AttemptGroup[]): readonly (AttemptGroup | string)[] {
  if (groups.length <= FIRST_SHOWN + LAST_SHOWN + 1) return groups;
  const left = groups.slice(FIRST_SHOWN, -LAST_SHOWN);
  const between = `… (${left[0]!.from}–${left.at(-1)!.to})`;
  return [...groups.slice(0, FIRST_SHOWN), between, ...groups.slice(-LAST_SHOWN)];
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
  place?: string;
}

/** Why a step failed: each failure, its attempts, and what went over the wire. */
export function renderTrouble(
  result: StepResult,
  style: Style,
  room: Room,
  shown: ShownExchange = {},
  place = "",
): string[] {
  const { columns } = indentedRoom(room, DEEPEST_FIELD);
  const bounds = { columns, lines: EXCHANGE_LINES };
  const { failures, attempts, exchange } = result;
  // The steps inside show what they sent and got.
  const isInside = failures.every(({ kind }) => kind === "embedded");
  const lines = exchange && !isInside ? renderExchange(withoutMinor(exchange), style, bounds) : [];
  const text = lines.join("\n");
  const isShown = text === shown.text && lines.length > SHORT_EXCHANGE;
  if (!isShown) Object.assign(shown, { text, place });
  return [
    ...renderFailures(failures, style, room),
    ...renderAttempts(attempts, room),
    ...isShown ? [style.dim(`request and response: the same as ${shown.place}`)] : lines,
  ];
}

/** Everything that failed at once. */
export function renderFailures(failures: readonly Failure[], style: Style, room: Room): string[] {
  return failures.flatMap((failure) => renderFailure(failure, style, room));
}
