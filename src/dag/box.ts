import { cutToWidth, displayWidth } from "../base/text/display_width.ts";
import { printableLine } from "../base/text/printable.ts";
import type { DagJob, DagStep } from "./dag.ts";

/** The text in the box of a job. */
export interface BoxText {
  readonly title: string;
  /** One line for each step, and one for each step of a job that a step embeds. */
  readonly rows: readonly string[];
}

/** The texts of a job's box before truncation. */
export function boxText({ name, steps }: DagJob): BoxText {
  return { title: nameLine(name), rows: steps.flatMap((step) => stepRows(step)) };
}

function stepRows({ name, steps }: DagStep): readonly string[] {
  return [`${steps ? "↗" : "○"} ${nameLine(name)}`, ...branchRows(steps ?? [], "  ")];
}

function branchRows(steps: readonly DagStep[], indent: string): readonly string[] {
  return steps.flatMap(({ name, steps: inner = [] }, index) => {
    const isLast = index === steps.length - 1;
    return [
      `${indent}${isLast ? "└" : "├"} ${nameLine(name)}`,
      ...branchRows(inner, `${indent}${isLast ? " " : "│"} `),
    ];
  });
}

/**
 * The columns of a box: as many as its texts take, `most` if they take more, and enough for that
 * many lines at its upper edge. Always odd, so that there is a column in the middle.
 */
export function boxWidth({ title, rows }: BoxText, lines: number, most: number): number {
  const text = Math.max(...[title, ...rows].map(displayWidth));
  const width = Math.min(nextOdd(text + FRAME), nextOdd(most - 1));
  return Math.max(width, LEAST, nextOdd(2 * lines + 2));
}

function nextOdd(number: number): number {
  return number % 2 === 1 ? number : number + 1;
}

/** The two sides of a box and a blank beside each. */
const FRAME = 4;
const LEAST = FRAME + 5;

/** The lines of a box of that width. A line leaves an `open` box at the middle of its lower edge. */
export function drawBox({ title, rows }: BoxText, width: number, isOpen: boolean): string[] {
  const text = width - FRAME;
  const half = "─".repeat((width - 3) / 2);
  return [
    `╭${"─".repeat(width - 2)}╮`,
    `│ ${centreText(title, text)} │`,
    `├${"─".repeat(width - 2)}┤`,
    ...rows.map((row) => `│ ${fitText(row, text)} │`),
    `╰${half}${isOpen ? "┬" : "─"}${half}╯`,
  ];
}

/** A name as one line without control characters. */
export function nameLine(name: string): string {
  return printableLine(name.trim().replace(/\s*[\r\n\t]\s*/g, " "));
}

/** A text of exactly this width; `…` marks what was cut. */
function fitText(text: string, columns: number): string {
  const width = displayWidth(text);
  const cut = width <= columns ? text : cutToWidth(text, columns - 1) + "…";
  return cut + " ".repeat(columns - displayWidth(cut));
}

function centreText(text: string, columns: number): string {
  const before = Math.max(0, Math.floor((columns - displayWidth(text)) / 2));
  return " ".repeat(before) + fitText(text, columns - before);
}
