import type { Difference, Failure, Operand } from "../../run/event.ts";
import { oneLine, printableLine } from "../../base/text/printable.ts";
import { renderExcerpt } from "../../base/render_diagnostic.ts";
import type { Position, SourceExcerpt } from "../../base/source.ts";
import { cutLine, fitSentence } from "./fit_lines.ts";
import { shortJson } from "../render_json.ts";
import type { Paint, Style } from "../style.ts";
import type { Room } from "./text_lines.ts";

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
