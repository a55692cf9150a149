import type { StepResult } from "../run/event.ts";
import { BELOW_NAME, stepLine } from "./layout.ts";
import { renderAttempts } from "./render_attempts.ts";
import { renderExchange } from "./render_exchange.ts";
import { renderFailure } from "./render_failure.ts";
import type { ReportOptions } from "./reporter.ts";
import { indentedRoom, type Room, roomOf } from "./room.ts";
import type { Style } from "./style.ts";
import { indentLines } from "./text_lines.ts";

/** Enough for most of the two kilobytes of a body that an event holds unless all is asked for. */
const EXCHANGE_LINES = 40;
/** How far the text of a field of an exchange is indented. */
const DEEPEST_FIELD = 4;

/** The line of a step and what belongs below it. */
export function renderStep(number: number, result: StepResult, options: ReportOptions): string[] {
  const { style } = options;
  const below = [...renderEcho(result.echo, style)];
  if (result.state === "failed") below.push(...renderTrouble(result, style, belowName(options)));
  return [stepLine(number, result, options), ...indentLines(below, BELOW_NAME)];
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
  return [
    ...result.failures.flatMap((failure) => renderFailure(failure, style, room)),
    ...renderAttempts(result.attempts, room),
    ...(result.exchange ? renderExchange(result.exchange, style, bounds) : []),
  ];
}
