import type { Exchange, Failure, StepResult } from "../../run/event.ts";
import { printable } from "../../source/printable.ts";
import { renderAttempts } from "../text/render_attempts.ts";
import { renderExchange } from "../text/render_exchange.ts";
import { renderFailure } from "../text/render_failure.ts";
import { IN_A_PIPE } from "../text/text_lines.ts";
import { PLAIN } from "../style.ts";

const BOUNDS = { columns: IN_A_PIPE.columns, lines: 40 };

/** Several reports of one run say the same about a step. */
const EXCHANGES = new WeakMap<Exchange, string>();

/** All about failures as lines of plain text: what, where, and the values that decided it. */
export function failureText(failures: readonly Failure[]): string {
  const lines = failures.flatMap((failure) => renderFailure(failure, PLAIN, IN_A_PIPE));
  return printable(lines.join("\n"));
}

/** What became of each attempt; empty where there was but one. */
export function attemptsText({ attempts }: StepResult): string {
  if (attempts.length < 2) return "";
  return printable(renderAttempts(attempts, IN_A_PIPE).join("\n"));
}

/** Request and response as lines of plain text. */
export function exchangeText(exchange: Exchange): string {
  let text = EXCHANGES.get(exchange);
  if (text === undefined) {
    text = printable(renderExchange(exchange, PLAIN, BOUNDS).join("\n"));
    EXCHANGES.set(exchange, text);
  }
  return text;
}
