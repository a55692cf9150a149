import type {
  Exchange,
  Failure,
  LoadThreshold,
  StepResult,
  StepTally,
  StepTree,
} from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import { formatValue } from "../../base/value/format_value.ts";
import { oneLine, printable } from "../../base/text/printable.ts";
import { renderAttempts, renderFailure } from "../text/render_failure.ts";
import { renderExchange } from "../text/render_exchange.ts";
import { renderRounds } from "../text/render_rounds.ts";
import { IN_A_PIPE } from "../text/lines.ts";
import { PLAIN } from "../reporter.ts";
import { runLabel } from "../failed_parts.ts";

const BOUNDS = { columns: IN_A_PIPE.columns, lines: 40 };

/** Failures as lines of plain text: what, where, and the values that decided it. */
export function failureText(failures: readonly Failure[]): string {
  const lines = failures.flatMap((failure) => renderFailure(failure, PLAIN, IN_A_PIPE));
  return printable(lines.join("\n"));
}

/** `stats.p95 is 0.28`: what decided a threshold. */
export function valuesOf({ operands }: LoadThreshold): string {
  return printable(
    operands.map(({ text, value }) => `${text} is ${formatValue(value)}`).join(", "),
  );
}

/** The result of each attempt; empty if there was only one. */
export function attemptsText({ attempts }: StepResult): string {
  return printable(renderAttempts(attempts, IN_A_PIPE).join("\n"));
}

/** Request and response as lines of plain text. */
export function exchangeText(exchange: Exchange): string {
  return printable(renderExchange(exchange, PLAIN, BOUNDS).join("\n"));
}

/** Requests and responses of a failed step and of the failed steps in the job that it embeds. */
export function exchangesText({ result, inside }: StepTree): string {
  if (!hasFailed(result)) return "";
  const texts = result.exchange ? [exchangeText(result.exchange)] : [];
  return [...texts, ...inside.map(exchangesText).filter((text) => text !== "")].join("\n");
}

/** The results of the rounds of steps: counts, times, echoes and failures. */
export function roundsText(steps: readonly StepTally[], rounds: number): string {
  return printable(renderRounds(steps, rounds, { timing: false, style: PLAIN }).join("\n"));
}

/** The steps of an embedded job, one on each line; empty if the step embeds none. */
export function insideText({ inside }: StepTree, indent = ""): string {
  return inside.map((step) => {
    const { name, state, echo } = step.result;
    const label = runLabel(step.run);
    const lines = [
      `${indent}${state === "untested" ? "not tested" : state}: ${oneLine(name)}${label}`,
    ];
    if (echo !== undefined) {
      lines.push(`${indent}  ${echo.trimEnd().replaceAll("\n", `\n${indent}  `)}`);
    }
    if (step.inside.length > 0) lines.push(insideText(step, `${indent}  `));
    return printable(lines.join("\n"));
  }).join("\n");
}
