import { formatElapsed } from "../../base/value/duration.ts";
import { sumOf } from "../../run/count_steps.ts";
import {
  coverageShares,
  mergeCoverage,
  shareText,
  uncalledOperations,
  verdictOfRuns,
} from "../coverage.ts";
import type { LoadEnded } from "../../run/event.ts";
import { countOf } from "../../base/text/count_of.ts";
import { cutLine } from "../../base/text/display_width.ts";
import { numberCells, renderRoundsLine } from "../text/render_load.ts";
import { plainParts, stepParts, totalRows } from "../text/summary.ts";
import { PLAIN } from "../reporter.ts";
import { causeNames, describeOthers, groupByCause } from "../causes.ts";
import { type Case, type CaseSuite, countRuns, suitesOf } from "./cases.ts";
import { exchangesText, failureText, valuesOf } from "./details.ts";
import { CUT_OFF, type RunRecord, stateOf } from "../record.ts";
import { printable } from "../../base/text/printable.ts";

/** GitHub takes no longer comment than 65,536 characters, and others no more than that. */
const MAX_BYTES = 60_000;
/** Nobody reads more than these in a comment. */
const MAX_FAILURES = 50;
const MAX_JOBS = 200;
const LONGEST_TABLE = 15_000;
/** The size limits of one failure and of its exchange, which leave room for others. */
const LONGEST_DETAIL = 4000;
const WIDEST_DESCRIPTION = 1000;

/** Renders a run for a pull request or the page of a build. */
export function renderMarkdown(records: readonly RunRecord[]): Iterable<string> {
  return cutPieces(markdownPieces(records), MAX_BYTES);
}

/** GitHub drops a summary beyond 1 MiB of all steps of a build, which may run several workflows. */
const MAX_SUMMARY_BYTES = 250_000;

/** The summary for the page of a build on GitHub. */
export function* renderGithubSummary(records: readonly RunRecord[]): Iterable<string> {
  yield* cutPieces(markdownPieces(records), MAX_SUMMARY_BYTES);
  yield "\n";
}

/** Returns as many pieces as fit, with a note about the rest. No piece is cut. */
function* cutPieces(pieces: Iterable<string>, maxBytes: number): Iterable<string> {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const piece of pieces) {
    bytes += encoder.encode(piece).length;
    if (bytes > maxBytes) {
      yield "\n… (there is more than fits in here)\n";
      return;
    }
    yield piece;
  }
}

/** The report in pieces. It is complete after each of them. */
function* markdownPieces(records: readonly RunRecord[]): Iterable<string> {
  for (const [index, record] of records.entries()) {
    if (index > 0) yield "\n";
    yield* runPieces(record);
  }
  yield* renderCoverage(records);
}

const ICONS = { passed: "✅", failed: "❌", skipped: "➖" } as const;

function* runPieces(record: RunRecord): Iterable<string> {
  const suites = suitesOf([record]);
  yield `## ${ICONS[stateOf(record)]} ${markdownText(record.name)}\n\n`;
  if (record.description) yield `${markdownText(record.description, WIDEST_DESCRIPTION)}\n\n`;
  yield `${summaryOf(record, suites.flatMap(({ cases }) => cases))}\n\n`;
  yield jobTable(suites);
  for (const { job: { load }, name } of suites) if (load?.end) yield loadPiece(name, load.end);
  yield* renderFailures(suites);
  yield* renderKnown(suites);
  yield* renderFlaky(suites);
  for (const { text } of record.warnings.slice(0, MAX_FAILURES)) {
    yield `\n> ⚠️ ${markdownText(text)}\n`;
  }
}

/** Renders the used part of each API. */
function* renderCoverage(records: readonly RunRecord[]): Iterable<string> {
  const ends = records.map(({ end }) => end);
  for (const api of mergeCoverage(ends)) {
    const { operations, statuses, parameters } = coverageShares([api]);
    const uncalled = uncalledOperations(api);
    const shown = uncalled.slice(0, MAX_FAILURES).map((name) => `- ${markdownText(name)}\n`);
    const rest = uncalled.length - shown.length;
    yield `\n### API coverage of ${markdownText(api.file)}\n\n` +
      "| | Covered |\n|---|---|\n" +
      `| Operations | ${shareText(operations)} |\n` +
      `| Status codes | ${shareText(statuses)} |\n` +
      `| Parameters | ${shareText(parameters)} |\n`;
    if (shown.length === 0) continue;
    const ending = rest > 0 ? `- … and ${rest} more\n` : "";
    yield `\n<details><summary>Not called</summary>\n\n${shown.join("")}${ending}\n</details>\n`;
  }
  const verdict = verdictOfRuns(ends);
  if (verdict) yield `\n${verdict.isEnough ? "✅" : "❌"} ${markdownText(verdict.text)}\n`;
}

/** The same counts as at the end of the text; a run that was cut off has what its cases say. */
function summaryOf({ end }: RunRecord, all: readonly Case[]): string {
  const rows = end
    ? totalRows("Jobs", end, PLAIN)
    : [{ label: "Steps", parts: stepParts({ steps: countRuns(all), ...NONE }, PLAIN) }];
  const texts = rows.map(({ label, parts, isRemark }) => {
    const text = plainParts(parts);
    return `${label}: ${isRemark ? markdownText(text) : text}`;
  });
  return [...texts, ...end ? [] : [CUT_OFF]].join(" — ");
}

const NONE = { flaky: 0 };

/** A table in one piece: cutting it would leave broken rows. */
function jobTable(suites: readonly CaseSuite[]): string {
  let table = "| | Job | Steps | Failed | Skipped | Time |\n|---|---|--:|--:|--:|--:|\n";
  for (const [index, suite] of suites.entries()) {
    const row = jobRow(suite);
    if (index === MAX_JOBS || table.length + row.length > LONGEST_TABLE) {
      return `${table}\n… and ${countOf(suites.length - index, "more job")}\n`;
    }
    table += row;
  }
  return table;
}

function jobRow({ job, name, cases }: CaseSuite): string {
  const icon = ICONS[job.state ?? "failed"];
  const why = job.state === "skipped" && job.reason ? ` – ${markdownText(job.reason)}` : "";
  const time = job.started === undefined ? "" : formatElapsed(job.duration);
  const steps = countRuns(cases.filter(({ isJob }) => !isJob));
  const counts = [sumOf(steps), steps.failed, steps.skipped];
  return `| ${[icon, markdownText(name) + why, ...counts, time].join(" | ")} |\n`;
}

/** The steps of a load job and its thresholds: one piece, like the other table. */
function loadPiece(name: string, { stats, thresholds, stopped }: LoadEnded): string {
  const rows = stats.steps.map((step) => [markdownText(step.key), ...numberCells(step)]);
  const table = [
    ["Step", "Count", "Rate", "p50", "p95", "p99", "Max", "Failed"],
    ["---", ...new Array<string>(7).fill("--:")],
    ...rows,
  ].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
  const judged = thresholds.map((threshold) => {
    const { expression, says, passed, problem } = threshold;
    const text = `${says ?? expression}: ${problem ?? valuesOf(threshold)}`;
    return `- ${ICONS[passed ? "passed" : "failed"]} ${markdownText(text)}\n`;
  });
  const why = stopped === undefined ? "" : `\nEnded early: ${markdownText(stopped)}\n`;
  const lines = judged.length === 0 ? "" : `\n${judged.join("")}`;
  return `\n### Load: ${markdownText(name)}\n\n${renderRoundsLine(stats, " · ")}\n` +
    `${why}\n${rows.length === 0 ? "" : table}${lines}`;
}

function* renderFailures(suites: readonly CaseSuite[]): Iterable<string> {
  const failed = findCases(suites, ({ outcome }) => outcome === "failed");
  if (failed.length === 0) return;
  yield "\n### Failures\n";
  const groups = groupByCause(failed.map(({ suite, one }) => {
    // Of rounds, it is one of several.
    const names = one.rounds ? {} : causeNames(one, suite.record.id);
    return { ...names, suite, one };
  }));
  yield* groups.slice(0, MAX_FAILURES).map(failurePiece);
  yield leftOut(groups, "more failure");
}

/** In one piece, so that no cut leaves an element or a fence open. */
function failurePiece([{ suite, one }, ...others]: readonly [FoundCase, ...FoundCase[]]): string {
  const { position, failures, step } = one;
  const exchange = step ? exchangesText(step) : "";
  const where = position ? ` (${markdownText(`${position.file}:${position.line}`)})` : "";
  const titles = [{ suite, one }, ...others].map(({ suite, one }) => `${suite.name} › ${one.name}`);
  const [first = "", ...alike] = titles;
  const title = `${markdownText(first)}${where}`;
  return [
    `\n<details open><summary>${title}</summary>\n\n`,
    detail(failureText(failures)),
    exchange === "" ? "" : detail(exchange),
    alike.length === 0 ? "" : `${markdownText(describeOthers(alike, first), LONGEST_DETAIL)}\n\n`,
    "</details>\n",
  ].join("");
}

function detail(text: string): string {
  if (text.length <= LONGEST_DETAIL) return fencedText(text);
  const rest = countOf(text.length - LONGEST_DETAIL, "more character");
  return fencedText(`${text.slice(0, LONGEST_DETAIL).toWellFormed()}… (${rest})`);
}

function* renderKnown(suites: readonly CaseSuite[]): Iterable<string> {
  const allowed = findCases(suites, (one) => one.allowFailure === true);
  if (allowed.length === 0) return;
  yield "\n### Allowed failures\n\n";
  yield* allowed.slice(0, MAX_FAILURES).map(({ suite, one: { name, failures } }) =>
    `- ${markdownText(`${suite.name} › ${name}: ${failures[0]?.message ?? "failed"}`)}\n`
  );
  yield leftOut(allowed, "more allowed failure");
}

function* renderFlaky(suites: readonly CaseSuite[]): Iterable<string> {
  const flaky = findCases(suites, (one) => one.flaky);
  if (flaky.length === 0) return;
  yield "\n### Flaky\n\n";
  yield* flaky.slice(0, MAX_FAILURES).map(({ suite, one: { name, step, rounds } }) => {
    const title = markdownText(`${suite.name} › ${name}`);
    return rounds?.tally
      ? `- ${title}: flaky in ${countOf(rounds.tally.flaky, "round")}\n`
      : `- ${title}: passed on attempt ${step?.result.attempts.length}\n`;
  });
  yield leftOut(flaky, "more flaky step");
}

/** A word about those beyond the most that are shown. */
function leftOut(all: readonly unknown[], noun: string): string {
  const left = all.length - MAX_FAILURES;
  return left <= 0 ? "" : `\n… and ${countOf(left, noun)}\n`;
}

interface FoundCase {
  readonly suite: CaseSuite;
  readonly one: Case;
}

function findCases(
  suites: readonly CaseSuite[],
  isAsked: (one: Case) => boolean,
): readonly FoundCase[] {
  return suites.flatMap((suite) => suite.cases.filter(isAsked).map((one) => ({ suite, one })));
}

/**
 * Characters that never begin a link on GitHub, and that are not markup unless escaped. A
 * colon before a space or a line number begins no address and no emoji.
 */
const HARMLESS =
  /^(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic} ,.;?!'"()/{}%=+›…–—<>[\]_*|-]|& |: |:\d+(?![\d:]))*$/u;

/** Characters that are markup unless written as a numeric reference. */
const ESCAPED = /[<>[\]_*|&]/g;

/** Texts that are markup or become a link, although each of their characters is harmless. */
const MARKUP = /^[-+=]|^\d+[.)]|www\.|\bGH-\d/i;

/**
 * A text that comes from outside, for a line of Markdown, a cell of a table or an element; no more
 * than the beginning of a long one. Where it could become a link it is shown as code, in which
 * GitHub mentions nobody and links to nothing, and with signs that no renderer takes for anything
 * else.
 */
function markdownText(text: string, columns = 300): string {
  const line = cutLine(printable(text.toWellFormed()).replace(/\s+/g, " ").trim(), columns);
  if (HARMLESS.test(line) && !MARKUP.test(line)) return line.replace(ESCAPED, entity);
  return `<code>${line.replace(/[^\p{L}\p{M}\p{N} ]/gu, entity)}</code>`;
}

function entity(sign: string): string {
  return `&#${sign.codePointAt(0)};`;
}

/** A block of code. */
function fencedText(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([ticks]) => ticks.length);
  const fence = "`".repeat(runs.reduce((max, run) => Math.max(max, run + 1), 3));
  return `${fence}text\n${text}\n${fence}\n\n`;
}
