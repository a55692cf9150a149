import type { Exchange, StepResult } from "../run/event.ts";
import { briefMessage } from "./brief_message.ts";
import { BELOW_NAME, BELOW_NUMBER, stepLine } from "./layout.ts";
import { renderAttempts } from "./render_attempts.ts";
import { renderExchange } from "./render_exchange.ts";
import { renderFailure } from "./render_failure.ts";
import type { ReportOptions } from "./reporter.ts";
import { indentedRoom, type Room, roomOf } from "./room.ts";
import type { StepTree } from "./step_trees.ts";
import type { Style } from "./style.ts";
import { indentLines } from "./text_lines.ts";

/** Enough for most of the two kilobytes of a body that an event holds unless all is asked for. */
const EXCHANGE_LINES = 40;
/** How far the text of a field of an exchange is indented. */
const DEEPEST_FIELD = 4;

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
export function renderStep(
  number: number,
  { result, inside }: StepTree,
  options: ReportOptions,
): string[] {
  const { style } = options;
  const below = [...renderEcho(result.echo, style)];
  if (result.state === "failed") below.push(...renderTrouble(result, style, belowName(options)));
  return [
    stepLine(number, result, options),
    ...inside.length === 0 ? [] : renderInside(inside, options),
    ...indentLines(below, BELOW_NAME),
  ];
}

/** The numbers of the steps of an embedded job stand below the name of the step around them. */
function renderInside(steps: readonly StepTree[], options: ReportOptions): string[] {
  const inner = narrowed(options, BELOW_NUMBER);
  const lines = steps.flatMap((step, number) => renderStep(number, step, inner));
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

/** Why a step failed: each failure, its attempts, and what went over the wire. */
export function renderTrouble(result: StepResult, style: Style, room: Room): string[] {
  const { columns } = indentedRoom(room, DEEPEST_FIELD);
  const bounds = { columns, lines: EXCHANGE_LINES };
  const { failures, attempts, exchange } = result;
  // The steps inside show what they sent and got.
  const isInside = failures.every(({ kind }) => kind === "embedded");
  return [
    ...failures.flatMap((failure) => renderFailure(failure, style, room)),
    ...renderAttempts(attempts, room),
    ...(exchange && !isInside ? renderExchange(briefExchange(exchange), style, bounds) : []),
  ];
}

function briefExchange({ req, res, ...more }: Exchange): Exchange {
  return { req: briefMessage(req), res: briefMessage(res), ...more };
}
