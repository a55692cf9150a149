import { displayWidth } from "../../source/display_width.ts";
import type { DagJob, DagStep } from "../dag.ts";
import { centreText, fitText, nameLine } from "./fit_name.ts";

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
 * many lines at its upper or lower edge. Always odd, so that there is a column in the middle.
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

/** The lines of a box of that width; lines that leave it do so at `exits`, columns of the box. */
export function drawBox(
  { title, rows }: BoxText,
  width: number,
  exits: readonly number[],
): readonly string[] {
  const text = width - FRAME;
  const bottom = Array<string>(width - 2).fill("─");
  for (const exit of exits) bottom[exit - 1] = "┬";
  return [
    `╭${"─".repeat(width - 2)}╮`,
    `│ ${centreText(title, text)} │`,
    `├${"─".repeat(width - 2)}┤`,
    ...rows.map((row) => `│ ${fitText(row, text)} │`),
    `╰${bottom.join("")}╯`,
  ];
}
