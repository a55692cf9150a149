import { printable } from "../../source/printable.ts";
import { type Case, type Suite, suitesOf } from "./cases.ts";
import { attemptsText, exchangeText, failureText } from "./details.ts";
import type { RunRecord } from "./run_record.ts";

/**
 * TAP version 14: a subtest for each job, a test point for each run of a step.
 *
 * Source: https://testanything.org/tap-version-14-specification.html
 */
export function* renderTap(record: RunRecord): Iterable<string> {
  const suites = suitesOf(record);
  yield "TAP version 14\n";
  yield `# ${inOneLine(record.name)}\n`;
  yield `1..${suites.length}\n`;
  for (const [index, suite] of suites.entries()) yield* renderSuite(suite, index + 1);
  const { end } = record;
  if (!end || end.interrupted !== undefined) {
    yield `Bail out! ${inOneLine(end?.interrupted ?? "the run was cut off")}\n`;
  }
}

function* renderSuite({ job, name, cases }: Suite, number: number): Iterable<string> {
  yield `# Subtest: ${inOneLine(name)}\n`;
  yield `    1..${cases.length}\n`;
  for (const [index, one] of cases.entries()) yield renderCase(one, index + 1);
  const skipped = job.state === "skipped" ? job.reason ?? "skipped" : undefined;
  // A job that was cut off may have no step that failed.
  yield point(job.state === "passed" || skipped !== undefined, number, name, skipped);
}

function renderCase(one: Case, number: number): string {
  const { name, outcome, reason } = one;
  const skipped = outcome === "skipped" ? reason ?? "skipped" : undefined;
  const head = `    ${point(outcome !== "failed", number, name, skipped)}`;
  const diagnostics = skipped === undefined ? diagnosticsOf(one) : [];
  if (diagnostics.length === 0) return head;
  // Also before empty lines: some readers look for the indentation to know where the YAML ends.
  const lines = ["---", ...diagnostics, "..."].map((line) => `      ${line}\n`);
  return head + lines.join("");
}

/** Lines of YAML. */
function diagnosticsOf(one: Case): string[] {
  const { outcome, step } = one;
  const result = step?.result;
  const attempts = result?.attempts.length ?? 0;
  return [
    ...result ? [`duration_ms: ${result.duration.toFixed(3)}`] : [],
    ...attempts > 1 ? [`attempts: ${attempts}`] : [],
    ...one.flaky ? ["flaky: true"] : [],
    ...attempts > 1 ? block("tried", attemptsText(result!)) : [],
    ...outcome === "failed" ? failureLines(one) : [],
    ...result?.untested === undefined ? [] : block("untested", printable(result.untested)),
    ...result?.echo ? block("echo", printable(result.echo)) : [],
  ];
}

function failureLines({ failures, place, step }: Case): string[] {
  const exchange = step?.result.exchange;
  return [
    `severity: ${failures.every(({ kind }) => kind === "test") ? "fail" : "error"}`,
    ...place
      ? [
        "at:",
        // JSON is YAML, too.
        `  file: ${JSON.stringify(place.file)}`,
        `  line: ${place.line}`,
        `  column: ${place.column}`,
      ]
      : [],
    ...block("message", failureText(failures)),
    ...exchange ? block("exchange", exchangeText(exchange)) : [],
  ];
}

/** A text of several lines as YAML, which keeps them as they are but for line ends behind them. */
function block(key: string, text: string): string[] {
  // The indentation is said, for the first line may be indented itself.
  const lines = text.toWellFormed().replace(NOT_YAML, "\ufffd").trimEnd().split("\n");
  return [`${key}: |2-`, ...lines.map((line) => `  ${line}`)];
}

/** What YAML has no place for besides control characters. */
const NOT_YAML = /[\ufeff\ufffe\uffff]/g;

function point(isGood: boolean, number: number, name: string, skipped?: string): string {
  const about = skipped === undefined ? "" : ` # SKIP ${escape(skipped)}`;
  return `${isGood ? "ok" : "not ok"} ${number} - ${escape(name)}${about}\n`;
}

/** A `#` would begin a directive, and `\` escapes. */
function escape(text: string): string {
  return inOneLine(text).replace(/[\\#]/g, "\\$&");
}

function inOneLine(text: string): string {
  if (/^(?:[!-~]+ )*[!-~]*$/.test(text)) return text;
  return printable(text.toWellFormed()).replace(/\s+/g, " ").trim();
}
