import type { LateCode } from "./late_code.ts";
import { BELOW_NAME, BELOW_NUMBER, stepLine } from "./layout.ts";
import type { ReportOptions } from "./reporter.ts";
import { indentedRoom, type Room, roomOf } from "./room.ts";
import type { StepTree } from "./step_trees.ts";
import type { Style } from "./style.ts";
import { indentLines } from "./text_lines.ts";

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
export function renderStep(
  number: number,
  { result, inside }: StepTree,
  options: ReportOptions,
  code: LateCode,
): string[] {
  const { style } = options;
  const below = renderEcho(result.echo, style);
  if (result.state === "failed") {
    below.push(...code.failures.renderTrouble(result, style, belowName(options)));
  }
  return [
    stepLine(number, result, options),
    ...inside.length === 0 ? [] : renderInside(inside, options, code),
    ...indentLines(below, BELOW_NAME),
  ];
}

/** The numbers of the steps of an embedded job stand below the name of the step around them. */
function renderInside(
  steps: readonly StepTree[],
  options: ReportOptions,
  code: LateCode,
): string[] {
  const inner = narrowed(options, BELOW_NUMBER);
  const lines = steps.flatMap((step, number) => renderStep(number, step, inner, code));
  return indentLines(lines, BELOW_NUMBER);
}

/** The options for lines that are indented that far. */
export function narrowed(options: ReportOptions, indent: number): ReportOptions {
  const { columns } = options;
  return columns ? { ...options, columns: () => columns() - indent } : options;
}

/** What is left of a line under the name of a step. */
export function belowName({ columns }: ReportOptions): Room {
  return indentedRoom(roomOf(columns?.()), BELOW_NAME);
}

/** The text that a step adds to the report. */
export function renderEcho(echo: string | undefined, style: Style): string[] {
  const text = echo?.trim() ?? "";
  return text === "" ? [] : text.split("\n").map((line) => style.blue(line.trimEnd()));
}
