import type { StepResult } from "../run/event.ts";
import { BELOW_NAME, stepLine } from "./layout.ts";
import { renderAttempts } from "./render_attempts.ts";
import { type ExchangeBounds, renderExchange } from "./render_exchange.ts";
import { renderFailure } from "./render_failure.ts";
import type { ReportOptions } from "./reporter.ts";
import type { Style } from "./style.ts";
import { indentLines } from "./text_lines.ts";

/** Enough for most of the two kilobytes of a body that an event holds unless all is asked for. */
const EXCHANGE_BOUNDS: ExchangeBounds = { columns: 100, lines: 40 };

/** The line of a step and what belongs below it. */
export function renderStep(number: number, result: StepResult, options: ReportOptions): string[] {
  const { style } = options;
  const below = [...renderEcho(result.echo, style)];
  if (result.state === "failed") below.push(...renderTrouble(result, style));
  return [stepLine(number, result, options), ...indentLines(below, BELOW_NAME)];
}

/** The text that a step adds to the report. */
export function renderEcho(echo: string | undefined, style: Style): string[] {
  const text = echo?.trim() ?? "";
  return text === "" ? [] : text.split("\n").map((line) => style.blue(line.trimEnd()));
}

/** Why a step failed: each failure, its attempts, and what went over the wire. */
export function renderTrouble(result: StepResult, style: Style): string[] {
  return [
    ...result.failures.flatMap((failure) => renderFailure(failure, style)),
    ...renderAttempts(result.attempts),
    ...(result.exchange ? renderExchange(result.exchange, style, EXCHANGE_BOUNDS) : []),
  ];
}
