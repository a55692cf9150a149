import type { Difference, Failure, Operand } from "../../run/event.ts";
import { cutLine } from "./fit_lines.ts";
import type { Paint, Style } from "../style.ts";
import { oneLine } from "../../source/printable.ts";
import type { Room } from "./text_lines.ts";

/** The width of a value if its differences are shown below it. */
export const WIDEST_COMPARED = 60;

/** Whether an operand is one of the compared values, not a part of them. */
export function isSideOf({ expected, received }: Difference, { text }: Operand): boolean {
  return text === expected || text === received;
}

/** The operands without those whose differences are shown; cut, these may look the same. */
export function relevantOperands({ operands = [], difference }: Failure): readonly Operand[] {
  return difference ? operands.filter((operand) => !isSideOf(difference, operand)) : operands;
}

/** For example `res.body and vars.wanted differ at line 3`. */
export function describeDifference(
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
export function renderDifference(
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
