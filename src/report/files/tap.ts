import { printable } from "../../base/text/printable.ts";
import { type Case, type CaseSuite, countCases, countRuns, suitesOf } from "./cases.ts";
import {
  attemptsText,
  exchangesText,
  failureText,
  insideText,
  roundsText,
  valuesOf,
} from "./details.ts";
import { CUT_OFF, type RunRecord, type SuiteRecord } from "../record.ts";

/**
 * TAP version 14: a subtest for each job, a test point for each run of a step.
 *
 * Source: https://testanything.org/tap-version-14-specification.html
 */
export function* renderTap(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): Iterable<string> {
  const suites = suitesOf(records, suite);
  yield "TAP version 14\n";
  for (const { name } of records) yield `# ${inOneLine(name)}\n`;
  yield `1..${suites.length}\n`;
  for (const [index, suite] of suites.entries()) yield* renderSuite(suite, index + 1);
  const all = suites.flatMap(({ cases }) => cases);
  const { passed, failed, allowed, skipped, untested } = countRuns(all);
  const thresholds = countCases(all.filter(({ threshold }) => threshold));
  const counts = {
    passed,
    failed,
    allowed,
    skipped,
    "not tested": untested,
    "thresholds passed": thresholds.passed,
    "thresholds failed": thresholds.failed + thresholds.allowed,
  };
  for (const [name, count] of Object.entries(counts)) if (count > 0) yield `# ${name} ${count}\n`;
  const cut = records.find(({ end }) => !end || end.interrupted !== undefined);
  if (cut) yield `Bail out! ${inOneLine(cut.end?.interrupted ?? CUT_OFF)}\n`;
}

function* renderSuite({ job, name, cases }: CaseSuite, number: number): Iterable<string> {
  yield `# Subtest: ${inOneLine(name)}\n`;
  yield `    1..${cases.length}\n`;
  for (const [index, one] of cases.entries()) yield renderCase(one, index + 1);
  const skipped = job.state === "skipped" ? job.reason ?? "skipped" : undefined;
  const isGood = (job.state === "passed" || skipped !== undefined) &&
    cases.every(({ outcome }) => outcome !== "failed");
  yield point(isGood, number, name, isGood && skipped ? `SKIP ${escape(skipped)}` : undefined);
}

function renderCase(one: Case, number: number): string {
  const { name, outcome, reason } = one;
  const skipped = outcome === "skipped" ? reason ?? "skipped" : undefined;
  // TODO is TAP's directive for an allowed failure: a point that is not ok fails nothing then.
  const directive = one.allowFailure
    ? "TODO allowed failure"
    : skipped && `SKIP ${escape(skipped)}`;
  const head = `    ${point(outcome !== "failed" && !one.allowFailure, number, name, directive)}`;
  const diagnostics = skipped === undefined ? diagnosticsOf(one) : "";
  return diagnostics === "" ? head : `${head}${line("---")}${diagnostics}${line("...")}`;
}

/** A line of YAML. Empty ones are indented, too: some readers find the end of the YAML by that. */
function line(text: string): string {
  return `      ${text}\n`;
}

function diagnosticsOf(one: Case): string {
  const { outcome, failures, flaky, step, rounds, threshold } = one;
  if (threshold?.passed) return block("values", valuesOf(threshold));
  if (!step) return failures.length > 0 ? failureLines(one) : "";
  if (rounds?.tally) {
    const failed = outcome === "failed" || outcome === "allowed" ? failureLines(one) : "";
    return failed + (flaky ? line("flaky: true") : "") +
      block("rounds", roundsText([rounds.tally], rounds.of));
  }
  const { result } = step;
  const attempts = result.attempts.length;
  let lines = line(`duration_ms: ${result.duration.toFixed(3)}`);
  if (attempts > 1) lines += line(`attempts: ${attempts}`);
  if (flaky) lines += line("flaky: true");
  if (attempts > 1) lines += block("tried", attemptsText(result));
  if (outcome === "failed" || outcome === "allowed") lines += failureLines(one);
  if (result.state === "untested") lines += line("untested: true");
  if (step.inside.length > 0) lines += block("steps", insideText(step));
  if (result.echo) lines += block("echo", printable(result.echo));
  return lines;
}

function failureLines({ failures, position, step, outcome, allowFailure }: Case): string {
  const severity = allowFailure
    ? "allowed failure"
    : outcome === "allowed"
    ? "allowed"
    : failures.every(({ kind }) => kind === "test")
    ? "fail"
    : "error";
  let lines = line(`severity: ${severity}`);
  if (position) {
    lines += line("at:");
    // JSON is YAML, too.
    lines += line(`  file: ${JSON.stringify(position.file)}`);
    lines += line(`  line: ${position.line}`);
    lines += line(`  column: ${position.column}`);
  }
  lines += block("message", failureText(failures));
  const exchange = step ? exchangesText(step) : "";
  return exchange === "" ? lines : lines + block("exchange", exchange);
}

/** A text of several lines as YAML, which keeps them as they are but for line ends behind them. */
function block(key: string, text: string): string {
  // The indentation is said, for the first line may be indented itself.
  const lines = text.toWellFormed().replace(NOT_YAML, "\ufffd").trimEnd().split("\n");
  return line(`${key}: |2-`) + lines.map((each) => line(`  ${each}`)).join("");
}

/** Characters that YAML does not allow, besides control characters. */
const NOT_YAML = /[\ufeff\ufffe\uffff]/g;

function point(isGood: boolean, number: number, name: string, directive?: string): string {
  const about = directive === undefined ? "" : ` # ${directive}`;
  return `${isGood ? "ok" : "not ok"} ${number} - ${escape(name)}${about}\n`;
}

/** A `#` would begin a directive, and `\` escapes. */
function escape(text: string): string {
  return PLAIN.test(text) ? text : inOneLine(text).replace(/[\\#]/g, "\\$&");
}

/** Nearly every name: words of ASCII without these two. */
const PLAIN = /^(?:[!"$-[\]-~]+ )*[!"$-[\]-~]*$/;

function inOneLine(text: string): string {
  if (/^(?:[!-~]+ )*[!-~]*$/.test(text)) return text;
  return printable(text.toWellFormed()).replace(/\s+/g, " ").trim();
}
