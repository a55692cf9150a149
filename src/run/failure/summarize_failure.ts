import { cutLine } from "../../base/text/display_width.ts";
import { lastLine, oneLine } from "../../base/text/printable.ts";
import { shortJson } from "../../base/value/render_json.ts";
import { isDict } from "../../base/value/value.ts";
import type { Difference, Exchange, Failure, Operand } from "../event.ts";

const WIDEST_VALUE = 200;
/** The width of a value if its differences are shown below it. */
const WIDEST_COMPARED = 60;

/** Advice about a result that may be right says nothing of its cause. */
const ADVICE = /^to expect it, write /;
/** The names of what a command ended with, in tests. */
const ENDS = ["status", "res.code"];

/** Why a step or a job failed, in one line: the failure with its hint. */
export function recapFailure(
  failure: Failure,
  { res = null, brief = "" }: Partial<Exchange> = {},
): string {
  const { hint: advice = "", kind, operands = [] } = failure;
  const said = isDict(res) ? res.error || res.stderr : "";
  // What a command or a server says is the cause of how it ended.
  if (
    kind === "test" && typeof said === "string" && said.trim() !== "" &&
    operands.every(({ text }) => ENDS.includes(text))
  ) {
    const cause = cutLine(lastLine(said), WIDEST_VALUE);
    return [failure.message, ...cause.startsWith(brief) ? [] : [brief], cause].join(": ");
  }
  const text = summarizeFailure(failure);
  const hint = ADVICE.test(advice) ? "" : oneLine(advice);
  // "they differ at .total" says nothing of "res.body.total is 1".
  return text.includes(hint.replace(/^they differ at /, "")) ? text : `${text} – ${hint}`;
}

/** A failure in one line, for a list. */
export function summarizeFailure(failure: Failure): string {
  const { kind, field, message, difference, operands = [] } = failure;
  // Sides whose differences are shown are left out: cut, these may look the same.
  const values = operands.filter((operand) => !isSideOf(operand, difference))
    .map((operand) => renderOperand(operand, 40));
  if (difference && values.length === 0) values.push(describeDifference(difference));
  // Without the line of the file, an expression is identified by its key.
  const text = kind === "expression" ? `${readableKey(field)}: ${message}` : message;
  return oneLine(values.length === 0 ? text : `${text}: ${values.join(", ")}`);
}

/** `test 3` for `test.2`, the third assertion of a list. */
function readableKey(field: string): string {
  return field.replace(
    /^(test|load\.expect)\.(\d+)$/,
    (_, key, index) => `${key} ${Number(index) + 1}`,
  );
}

/** The values that decided a test, each in one line. */
export function renderOperands({ operands = [], difference }: Failure): string[] {
  return operands.map((operand) =>
    renderOperand(operand, isSideOf(operand, difference) ? WIDEST_COMPARED : WIDEST_VALUE)
  );
}

function renderOperand({ text, type, value }: Operand, columns: number): string {
  const shown = value === null ? "nil" : `${shortJson(value, columns)} (${type})`;
  return `${oneLine(text)} is ${shown}`;
}

/** Whether an operand is one of the compared values, not a part of them. */
function isSideOf({ text }: Operand, difference: Difference | undefined): boolean {
  return text === difference?.expected || text === difference?.received;
}

/** For example `res.body and vars.wanted differ at line 3`. */
function describeDifference({ expected, received, lines: [first = ""] }: Difference): string {
  const where = first.startsWith("@ ") ? ` at ${first.slice(2)}` : "";
  return `${sideText(received)} and ${sideText(expected)} differ${where}`;
}

/** The source text of a side, which may contain a long list or string. */
export function sideText(text: string): string {
  return cutLine(oneLine(text), WIDEST_COMPARED);
}
