import { oneLine } from "../../base/text/printable.ts";
import type { AssertionCount, Attempt } from "../../run/event.ts";
import { summarizeFailure } from "../../run/failure/summarize_failure.ts";
import { countOf } from "../../base/text/count_of.ts";
import {
  assertionsOf,
  type Case,
  type CaseSuite,
  countAssertions,
  countRuns,
  durationOf,
  type RoundsOfCase,
  suitesOf,
  withDistinctNames,
} from "./cases.ts";
import {
  attemptsText,
  exchangesText,
  failureText,
  insideText,
  roundsText,
  valuesOf,
} from "./details.ts";
import {
  loneRecord,
  roundStats,
  type RunRecord,
  type StepRecord,
  type SuiteRecord,
  timesOf,
} from "../record.ts";

/**
 * A JUnit report: a suite for each job, a test case for each run of a step. A false test is a
 * `failure`, everything else that goes wrong an `error`.
 *
 * There is no standard. This keeps to what https://github.com/testmoapp/junitxml collects, and
 * reports the attempts of a flaky step as Maven Surefire does.
 */
export function* renderJunit(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): Iterable<string> {
  const suites = withXmlNames(suitesOf(records, suite)).map((one) => {
    return { ...one, cases: withXmlNames(one.cases) };
  });
  const { started, duration } = timesOf(records);
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  const head = {
    name: suite?.start.name ?? loneRecord(records)?.name ?? countOf(records.length, "workflow"),
    ...countsOf(suites.flatMap(({ cases }) => cases)),
    time: seconds(duration),
    timestamp: timestamp(started),
  };
  yield `<testsuites${attributes(head)}>\n`;
  for (const suite of suites) yield* renderSuite(suite);
  yield "</testsuites>\n";
}

/** Names may become equal without the characters that XML does not allow. */
function withXmlNames<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return withDistinctNames(items.map((item) => ({ ...item, name: inXml(item.name) })));
}

function* renderSuite({ record, job, name, prefix, cases }: CaseSuite): Iterable<string> {
  const suite = {
    name,
    ...countsOf(cases),
    time: seconds(job.duration),
    timestamp: timestamp(job.started ?? record.started),
    file: job.outline[0]?.place?.file ?? record.file,
  };
  yield `  <testsuite${attributes(suite)}>\n`;
  const { untested, allowed } = countRuns(cases);
  const stats = job.tally && roundStats(job.tally);
  yield renderProperties({
    job: job.id,
    needs: job.needs.join(", "),
    rounds: job.rounds,
    stats: stats && JSON.stringify(stats),
    not_tested: untested || undefined,
    allowed: allowed || undefined,
    tags: job.tags?.join(", "),
    tool: `${record.tool.name} ${record.tool.version}`,
  }, "    ");
  const classname = `${record.name}.${name.slice(inXml(prefix).length)}`;
  for (const one of cases) yield renderCase(record, classname, one);
  yield "  </testsuite>\n";
}

function renderCase(record: RunRecord, classname: string, one: Case): string {
  const { name, step, position, outcome, reason = "skipped", flaky } = one;
  const result = step?.result;
  const assertions = assertionsOf(one);
  const testcase = {
    name,
    classname,
    time: seconds(durationOf(one)),
    file: position?.file ?? record.file,
    line: position?.line,
    assertions: assertions && totalOf(assertions),
  };
  const output = outputOf(one);
  return [
    `    <testcase${attributes(testcase)}>\n`,
    step ? renderProperties(propertiesOf(step, one), "      ") : "",
    outcome === "skipped" ? `      <skipped${attributes({ message: reason })}/>\n` : "",
    outcome === "failed" ? renderFailures(one) : "",
    flaky && result ? renderFlaky(result.attempts) : "",
    output === "" ? "" : `      <system-out>${escape(output)}</system-out>\n`,
    "    </testcase>\n",
  ].join("");
}

function propertiesOf({ run, result }: StepRecord, one: Case): Attributes {
  const { flaky, rounds, outcome } = one;
  const { uses, attempts, trace } = result;
  return {
    action: uses,
    id: run.id,
    ...rounds ? roundsByState(rounds) : {},
    attempts: attempts.length > 1 ? attempts.length : undefined,
    flaky: flaky ? "true" : undefined,
    untested: outcome === "untested" ? "true" : undefined,
    allowed: outcome === "allowed" ? "true" : undefined,
    trace: trace?.id,
    trace_url: trace?.url,
  };
}

/** `rounds_passed` and the like, for each outcome that there was. */
function roundsByState({ states }: RoundsOfCase): Attributes {
  const counts = Object.entries(states).filter(([, count]) => count > 0);
  return Object.fromEntries(counts.map(([state, count]) => [`rounds_${state}`, count]));
}

/** One element for all failures of a case: readers expect no more than one. */
function renderFailures({ failures }: Case): string {
  const error = failures.find(({ kind }) => kind !== "test");
  const first = error ?? failures[0];
  const element = error ? "error" : "failure";
  const message = first ? summarizeFailure(first) : "failed";
  const summary = attributes({ message, type: first?.kind ?? "failed" });
  return `      <${element}${summary}>${escape(failureText(failures))}</${element}>\n`;
}

/** More attempts add nothing new; `attempts` is their number. */
const MAX_ATTEMPTS = 10;

/** The attempts before the one that was good. */
function renderFlaky(attempts: readonly Attempt[]): string {
  return attempts.slice(0, -1).slice(0, MAX_ATTEMPTS).map(({ outcome, message = outcome }) => {
    const [element, type] = outcome === "error"
      ? ["flakyError", "action"]
      : ["flakyFailure", "test"];
    return `      <${element}${attributes({ message: oneLine(message), type })}/>\n`;
  }).join("");
}

/**
 * The steps of the job that a step embeds, its echo, and its request and response if it failed: of
 * those that passed they would be most of the file. For a step in several rounds, their results.
 */
function outputOf({ step, outcome, failures, rounds, allowFailure, threshold }: Case): string {
  if (threshold?.passed) return valuesOf(threshold);
  if (!step) return allowFailure ? `allowed failure:\n${failureText(failures)}` : "";
  if (rounds?.tally) return roundsText([rounds.tally], rounds.of);
  return [
    outcome === "allowed"
      ? `${allowFailure ? "allowed failure" : "failed, and the thresholds of the job decide"}:
${failureText(failures)}`
      : "",
    insideText(step),
    step.result.echo?.trimEnd(),
    attemptsText(step.result),
    exchangesText(step),
  ].filter(Boolean).join("\n");
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

function attributes(values: Attributes): string {
  return Object.entries(values).map(([name, value]) =>
    value === undefined ? "" : ` ${name}="${inQuotes(String(value))}"`
  ).join("");
}

function renderProperties(properties: Attributes, indent: string): string {
  const lines = Object.entries(properties).map(([name, value]) =>
    value === undefined || value === ""
      ? ""
      : `${indent}  <property${attributes({ name, value })}/>\n`
  ).join("");
  return lines && `${indent}<properties>\n${lines}${indent}</properties>\n`;
}

function countsOf(cases: readonly Case[]) {
  const failed = cases.filter(({ outcome }) => outcome === "failed");
  const errors = failed.filter(({ failures }) => failures.some(({ kind }) => kind !== "test"));
  return {
    tests: cases.length,
    failures: failed.length - errors.length,
    errors: errors.length,
    skipped: cases.filter(({ outcome }) => outcome === "skipped").length,
    assertions: totalOf(countAssertions(cases)),
  };
}

function totalOf({ passed, failed }: AssertionCount): number {
  return passed + failed;
}

function seconds(milliseconds: number): string {
  return (Math.round(milliseconds) / 1000).toFixed(3);
}

/** Without a zone: the form that most readers know. */
function timestamp(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Text for XML 1.0, which has no place for most control characters, not even escaped. */
function escape(text: string): string {
  return inXml(text).replace(/[&<>\r]/g, (sign) => ENTITIES[sign]!);
}

/** The same for an attribute, in which a reader would take line ends for spaces. */
function inQuotes(text: string): string {
  return inXml(text).replace(/[&<>"\t\n\r]/g, (sign) => ENTITIES[sign]!);
}

/** Nothing is left out: that would join the parts of a secret that were not masked. */
function inXml(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.toWellFormed().replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
}
