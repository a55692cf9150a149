import { RunnerError } from "../../base/errors.ts";
import { oneLine, printable, printableLine } from "../../base/text/printable.ts";
import type { Host } from "../../host/host.ts";
import { loadStyle, printableData, type Style } from "../../report/reporter.ts";
import { asText, roomOf } from "../../report/text/lines.ts";
import { renderTrouble } from "../../report/text/render_failure.ts";
import { renderJson } from "../../base/value/render_json.ts";
import type { StepResult } from "../../run/event.ts";
import type { Cancellation } from "../../run/cancellation.ts";
import type { FailedStep, FailureDecision } from "../../run/run_state.ts";

const HELP = `  <expression>  its value, such as res.body or vars
  r             run the step again
  c             continue, as without --pause-on-failure
  q             quit: begin nothing new, but clean up
`;

/** Makes the function that asks on the terminal how to go on after a failed step, one at a time. */
export function makeAsker(
  { stdin, stderr }: Pick<Host, "stdin" | "stderr">,
  cancellation: Cancellation,
  isColoured: boolean,
): (step: FailedStep) => Promise<FailureDecision> {
  const stop = new AbortController();
  cancellation.whenCancelled(() => stop.abort());
  let last: Promise<FailureDecision> = Promise.resolve("continue");
  const ask = async (step: FailedStep): Promise<FailureDecision> => {
    if (cancellation.reason !== undefined) return "continue";
    const style = await loadStyle(isColoured);
    stderr.write(renderFailedStep(step, style, stderr.columns()));
    for (;;) {
      const answer = await stdin.ask("failed> ", stop.signal);
      const decision = answer === undefined ? "stop" : DECISIONS[answer.trim()];
      if (decision) return decision;
      stderr.write(renderAnswer(step, answer!.trim(), style, stderr.columns()));
    }
  };
  return (step) => last = last.then((decision) => decision === "stop" ? decision : ask(step));
}

const DECISIONS: Readonly<Record<string, FailureDecision | undefined>> = {
  r: "repeat",
  c: "continue",
  q: "stop",
};

function renderFailedStep(
  { job, result, names }: FailedStep,
  style: Style,
  columns: number,
): string {
  return asText([
    style.bold(`✗ ${printableLine(result.name)} failed (job ${printableLine(job)})`),
    ...renderTrouble(printableData(result) as StepResult, style, roomOf(columns)),
    style.dim(`Enter an expression (${names.join(", ")}), r, c, q, or ? for help`),
  ]);
}

function renderAnswer(step: FailedStep, text: string, style: Style, columns: number): string {
  if (text === "" || text === "?") return HELP;
  try {
    return printable(asText(renderJson(step.evaluate(text).value, columns)));
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    const hint = error.hint === undefined ? "" : ` (${oneLine(error.hint)})`;
    return asText([style.red(printableLine(step.mask(`${oneLine(error.message)}${hint}`)))]);
  }
}
