import { indentLines } from "../text_lines.ts";
import { type Case, casesOf } from "./cases.ts";
import { exchangeText, failureText } from "./details.ts";
import type { JobRecord, RunRecord } from "./run_record.ts";

/**
 * TAP version 14: a subtest for each job, a test point for each run of a step.
 *
 * Source: https://testanything.org/tap-version-14-specification.html
 */
export function* renderTap(record: RunRecord): Iterable<string> {
  yield "TAP version 14\n";
  yield `# ${comment(record.name)}\n`;
  yield `1..${record.jobs.length}\n`;
  for (const [index, job] of record.jobs.entries()) yield* renderJob(record, job, index + 1);
  const { end } = record;
  if (!end || end.interrupted !== undefined) {
    yield `Bail out! ${comment(end?.interrupted ?? "the run was cut off")}\n`;
  }
}

function* renderJob(record: RunRecord, job: JobRecord, number: number): Iterable<string> {
  if (job.state === "skipped") {
    yield point(true, number, job.name, `SKIP ${comment(job.reason ?? "")}`);
    return;
  }
  const cases = casesOf(job, record);
  yield `# Subtest: ${comment(job.name)}\n`;
  yield `    1..${cases.length}\n`;
  for (const [index, one] of cases.entries()) yield* renderCase(one, index + 1);
  // A job that was cut off may have no step that failed.
  yield point(job.state === "passed", number, job.name);
}

function* renderCase(one: Case, number: number): Iterable<string> {
  const { name, outcome, reason, result } = one;
  const isGood = outcome !== "failed";
  yield "    " + point(
    isGood,
    number,
    name,
    outcome === "skipped" ? `SKIP ${comment(reason ?? "")}` : undefined,
  );
  const diagnostics = diagnosticsOf(one);
  if (diagnostics.length === 0 || outcome === "skipped") return;
  yield lines(["---", ...diagnostics, "..."], 6);
  if (result?.echo) yield lines(result.echo.trimEnd().split("\n").map((line) => `# ${line}`), 4);
}

/** Lines of YAML. */
function diagnosticsOf(one: Case): string[] {
  const { outcome, failures, place, result } = one;
  const attempts = result?.attempts.length ?? 0;
  return [
    ...result ? [`duration_ms: ${result.duration.toFixed(3)}`] : [],
    ...attempts > 1 ? [`attempts: ${attempts}`] : [],
    ...one.flaky ? ["flaky: true"] : [],
    ...outcome !== "failed" ? [] : [
      `severity: ${failures.every(({ kind }) => kind === "test") ? "fail" : "error"}`,
      ...place
        ? [
          "at:",
          `  file: ${quote(place.file)}`,
          `  line: ${place.line}`,
          `  column: ${place.column}`,
        ]
        : [],
      ...block("message", failureText(failures)),
      ...result?.exchange ? block("exchange", exchangeText(result.exchange)) : [],
    ],
  ];
}

/** A text of several lines as YAML, which keeps them as they are. */
function block(key: string, text: string): string[] {
  // The indentation is said, for the first line may be indented itself.
  return [`${key}: |2-`, ...indentLines(text.split("\n"), 2)];
}

function point(isGood: boolean, number: number, name: string, directive?: string): string {
  const about = directive === undefined ? "" : ` # ${directive.trim()}`;
  return `${isGood ? "ok" : "not ok"} ${number} - ${description(name)}${about}\n`;
}

/** A `#` would begin a directive, and `\` escapes. */
function description(text: string): string {
  return comment(text).replace(/[\\#]/g, "\\$&");
}

function comment(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function lines(all: readonly string[], columns: number): string {
  return indentLines(all, columns).map((line) => `${line}\n`).join("");
}
