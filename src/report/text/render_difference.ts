import type { Difference, Failure, Operand } from "../../run/event.ts";
import { cutLine } from "./fit_lines.ts";
import type { Paint, Style } from "../style.ts";
import { oneLine, type Room } from "./text_lines.ts";

/** How wide a value is shown whose differences are shown by themselves. */
export const WIDEST_COMPARED = 60;

/** Whether an operand is one of the values that were compared, not a part of them. */
export function isSideOf({ left, right }: Difference, { text }: Operand): boolean {
  return text === left || text === right;
}

/** The operands but for those that have their differences shown, which may look the same. */
export function tellingOperands({ operands = [], difference }: Failure): readonly Operand[] {
  return difference ? operands.filter((operand) => !isSideOf(difference, operand)) : operands;
}

/** `res.body and vars.wanted differ at line 3`. */
export function describeDifference({ left, right, lines: [first = ""] }: Difference): string {
  const where = first.startsWith("@ ") ? ` at ${first.slice(2)}` : "";
  return `${shortText(left)} and ${shortText(right)} differ${where}`;
}

/** The source of a side, which may hold a long list or text of its own. */
function shortText(text: string): string {
  return cutLine(oneLine(text), WIDEST_COMPARED);
}

/** What differs, below the texts of both sides. */
export function renderDifference(
  { left, right, lines }: Difference,
  style: Style,
  { columns }: Room,
): string[] {
  const paints: Readonly<Record<string, Paint>> = {
    "-": style.red,
    "+": style.green,
    "@": style.cyan,
  };
  return [
    style.red(cutLine(`--- ${shortText(left)}`, columns)),
    style.green(cutLine(`+++ ${shortText(right)}`, columns)),
    ...lines.map((line) => (paints[line[0]!] ?? style.dim)(cutLine(line, columns))),
  ];
}
