import type { Exchange, Failure } from "../../../run/event.ts";
import { formatElapsed } from "../../../base/value/duration.ts";
import { attemptsText, exchangeText, failureText } from "../details.ts";
import { labelOf } from "../cases.ts";
import type { JobRecord, RunRecord, StepRecord } from "../run_record.ts";
import { briefFailure, flatSteps } from "./make_page_data.ts";
import { escape } from "./page_head.ts";

/** Nobody reads more of them. */
const MOST_FAILURES = 100;
/** Rows of a table that browsers show at once. */
const MOST_STEPS = 2000;
/** Characters of the requests and responses of steps that did not fail. */
const MOST_TEXT = 500_000;

const ICONS = { passed: "✓", failed: "✗", skipped: "-", untested: "○", tolerated: "✗" } as const;

/** What is left for the workflows that follow. */
export interface StaticBounds {
  steps: number;
  text: number;
}

/** The bounds of a page. */
export function staticBounds(): StaticBounds {
  return { steps: MOST_STEPS, text: MOST_TEXT };
}

/**
 * Renders a run for readers with scripts switched off, as markup that also needs no style: the
 * failures, and below them all jobs and steps with what they sent and received.
 */
export function* renderStatic(record: RunRecord, bounds: StaticBounds): Iterable<string> {
  yield* renderFailures(record);
  yield "<h2>All jobs</h2>\n";
  for (const job of record.jobs) yield* renderJob(job, bounds);
}

function* renderFailures({ jobs, end }: RunRecord): Iterable<string> {
  let count = 0;
  const render = (title: string, failures: readonly Failure[], more: string) => {
    if (++count > MOST_FAILURES) return "";
    const text = failureText(failures.map(briefFailure));
    return `<h3>${escape(title)}</h3>\n<pre>${escape(text)}</pre>\n${more}`;
  };
  yield "<h2>Failures</h2>\n";
  for (const { name, failures, steps } of jobs) {
    if (failures.length > 0) yield render(name, failures, "");
    for (const { step } of flatSteps(steps)) {
      const { result, run } = step;
      if (result.state !== "failed") continue;
      const attempts = attemptsText(result);
      const more = (attempts === "" ? "" : `<pre>${escape(attempts)}</pre>\n`) +
        renderExchange(result.exchange);
      yield render(
        `${name} › ${result.name}${labelOf(run.entry, run.round)}`,
        result.failures,
        more,
      );
    }
  }
  if (count > MOST_FAILURES) yield `<p>… and ${count - MOST_FAILURES} more failures</p>\n`;
  if (count === 0) yield end?.state === "passed" ? "<p>Nothing failed.</p>\n" : "<p>No step.</p>\n";
}

function* renderJob(
  { name, state, reason, duration, steps }: JobRecord,
  bounds: StaticBounds,
): Iterable<string> {
  const facts = [state ?? "unfinished", ...state === "skipped" ? [] : [formatElapsed(duration)]];
  if (reason !== undefined) facts.push(reason);
  yield `<h3>${escape(name)} (${escape(facts.join(", "))})</h3>\n<ul>\n`;
  let left = 0;
  for (const { step, depth } of flatSteps(steps)) {
    if (bounds.steps-- > 0) yield renderStep(step, depth, bounds);
    else left++;
  }
  if (left > 0) yield `<li>… and ${left} more steps</li>\n`;
  yield "</ul>\n";
}

function renderStep(
  { run, result }: StepRecord,
  depth: number,
  bounds: StaticBounds,
): string {
  const { name, state, uses, duration, flaky, echo } = result;
  const facts = [
    state === "untested" ? "not tested" : state,
    ...flaky ? ["flaky"] : [],
    uses,
    ...state === "skipped" ? [] : [formatElapsed(duration)],
  ];
  const title = `${"  ".repeat(depth)}${ICONS[state]} ${name}${labelOf(run.entry, run.round)}`;
  const said = echo === undefined ? "" : `<pre>${escape(echo.slice(0, bounds.text))}</pre>\n`;
  bounds.text -= said.length;
  // Those of failed steps are above.
  const isShown = state !== "failed" && bounds.text > 0;
  const exchange = isShown ? renderExchange(result.exchange) : "";
  bounds.text -= exchange.length;
  return `<li>${escape(title)} (${escape(facts.join(", "))})\n${said}${exchange}</li>\n`;
}

function renderExchange(exchange: Exchange | undefined): string {
  if (!exchange) return "";
  const { command: _, ...shown } = exchange;
  const text = exchangeText(shown);
  if (text === "") return "";
  return `<details><summary>Request and response</summary>\n<pre>${
    escape(text)
  }</pre>\n</details>\n`;
}
