import { formatSeconds } from "../format_time.ts";
import { countOf, oneLine } from "../text_lines.ts";
import { type Case, casesOf } from "./cases.ts";
import { exchangeText, failureText } from "./details.ts";
import type { JobRecord, RunRecord } from "./run_record.ts";

/** More failures than these nobody reads in a comment. */
const MOST_FAILURES = 50;
const MOST_JOBS = 200;

/** What a person reads of a run in a pull request or on the page of a build. */
export function* renderMarkdown(record: RunRecord): Iterable<string> {
  const suites = record.jobs.map((job) => ({ job, cases: casesOf(job, record) }));
  const all = suites.flatMap(({ cases }) => cases);
  const isGood = record.end?.state === "passed";
  yield `## ${isGood ? "✅" : "❌"} ${text(record.name)}\n\n`;
  if (record.description) yield `${text(record.description)}\n\n`;
  yield `${summaryOf(record, all)}\n\n`;
  yield "| | Job | Steps | Failed | Skipped | Time |\n|---|---|--:|--:|--:|--:|\n";
  for (const { job, cases } of suites.slice(0, MOST_JOBS)) yield jobRow(job, cases);
  if (suites.length > MOST_JOBS) {
    yield `\n… and ${countOf(suites.length - MOST_JOBS, "more job")}\n`;
  }
  yield* renderFailures(suites);
  const flaky = suites.flatMap(({ job, cases }) =>
    cases.filter(({ flaky }) => flaky).map((one) =>
      `- ${text(`${job.name} › ${one.name}`)}: passed on attempt ${one.result!.attempts.length}\n`
    )
  );
  if (flaky.length > 0) {
    yield `\n### Flaky\n\n`;
    yield* flaky.slice(0, MOST_FAILURES);
  }
  for (const { text: warning } of record.warnings) yield `\n> ⚠️ ${text(warning)}\n`;
}

function summaryOf(record: RunRecord, all: readonly Case[]): string {
  const count = (outcome: Case["outcome"]) => all.filter((one) => one.outcome === outcome).length;
  const parts = [
    `${count("passed")} passed`,
    ...count("failed") > 0 ? [`**${count("failed")} failed**`] : [],
    ...count("skipped") > 0 ? [`${count("skipped")} skipped`] : [],
    `in ${formatSeconds(record.end?.duration ?? 0)}`,
  ];
  const interrupted = record.end ? record.end.interrupted : "the run was cut off";
  return parts.join(", ") + (interrupted === undefined ? "" : ` — ${text(interrupted)}`);
}

function jobRow(job: JobRecord, cases: readonly Case[]): string {
  const count = (outcome: Case["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
  const icon = job.state === "passed" ? "✅" : job.state === "skipped" ? "⏭️" : "❌";
  const why = job.state === "skipped" && job.reason ? ` (${text(job.reason)})` : "";
  const time = job.started === undefined ? "" : formatSeconds(job.duration);
  return `| ${icon} | ${text(job.name)}${why} | ${cases.length} | ${count("failed")} | ${
    count("skipped")
  } | ${time} |\n`;
}

function* renderFailures(
  suites: readonly { readonly job: JobRecord; readonly cases: readonly Case[] }[],
): Iterable<string> {
  const failed = suites.flatMap(({ job, cases }) =>
    cases.filter(({ outcome }) => outcome === "failed").map((one) => ({ job, one }))
  );
  if (failed.length === 0) return;
  yield "\n### Failures\n";
  for (const { job, one } of failed.slice(0, MOST_FAILURES)) {
    const place = one.place ? ` (<code>${html(`${one.place.file}:${one.place.line}`)}</code>)` : "";
    const exchange = one.result?.exchange;
    // In one piece, so that no cut leaves an element or a fence open.
    yield [
      `\n<details open><summary>${html(`${job.name} › ${one.name}`)}${place}</summary>\n\n`,
      fenced(failureText(one.failures)),
      exchange ? fenced(exchangeText(exchange)) : "",
      "</details>\n",
    ].join("");
  }
  if (failed.length > MOST_FAILURES) {
    yield `\n… and ${countOf(failed.length - MOST_FAILURES, "more failure")}\n`;
  }
}

/** A block of code whose fence is longer than any in the text. */
function fenced(block: string): string {
  const longest = Math.max(2, ...[...block.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${block}\n${fence}\n\n`;
}

/** A text that is no markup, neither of Markdown nor of HTML, and mentions nobody. */
function text(plain: string): string {
  return html(plain).replace(/[\\`*_{}[\]()+!|~]|#(?!64;)/g, "\\$&");
}

/** The same where Markdown is not read: inside of an element. */
function html(plain: string): string {
  return oneLine(plain)
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
    .replace(/@/g, "&#64;");
}
