import { oneLine } from "../../base/text/printable.ts";
import type { Attempt, StepState } from "../../run/event.ts";
import { summarizeFailure } from "../../run/failure/summarize_failure.ts";
import {
  assertionsOf,
  type Case,
  type CaseSuite,
  countAssertions,
  countCases,
  durationOf,
  suitesOf,
} from "./cases.ts";
import { failureText, roundsText, valuesOf } from "./details.ts";
import { type RunRecord, type StepRecord, type SuiteRecord, timesOf } from "../record.ts";
import { runLabel } from "../failed_parts.ts";

/** A report in the Common Test Report Format, https://ctrf.io. */
export function* renderCtrf(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): Iterable<string> {
  const suites = suitesOf(records, suite);
  const all = suites.flatMap(({ cases }) => cases);
  const { passed, failed, skipped, untested, allowed } = countCases(all);
  const { started, duration } = timesOf(records);
  const tool = records[0]?.tool;
  const { commit, branch, ci, args, host } = suite?.start.origin ?? records[0]?.origin ?? {};
  const environment = {
    commit,
    branchName: branch,
    buildName: ci?.name,
    buildUrl: ci?.url,
    extra: args || host ? { args, host } : undefined,
  };
  const head = {
    reportFormat: "CTRF",
    specVersion: "1.0.0",
    timestamp: new Date(started).toISOString(),
    generatedBy: tool && `${tool.name} ${tool.version}`,
    results: {
      tool,
      summary: {
        tests: all.length,
        passed,
        failed,
        skipped,
        pending: 0,
        other: untested + allowed,
        flaky: all.filter(({ flaky }) => flaky).length,
        suites: suites.length,
        start: started,
        stop: Math.round(started + duration),
        duration: Math.round(duration),
        extra: {
          notTested: untested,
          allowed,
          assertions: countAssertions(all),
        },
      },
      environment: Object.values(environment).some((each) => each) ? environment : undefined,
    },
  };
  yield `${JSON.stringify(head).slice(0, -2)},"tests":[`;
  let isFirst = true;
  for (const suite of suites) {
    for (const one of suite.cases) {
      yield `${isFirst ? "" : ","}\n${JSON.stringify(testOf(suite, one))}`;
      isFirst = false;
    }
  }
  yield "\n]}}\n";
}

/** States for which the format has no word. */
const RAW: { readonly [K in StepState]?: string } = {
  untested: "not tested",
  allowed: "allowed",
};

function statusOf(state: StepState): string {
  return RAW[state] ? "other" : state;
}

/** JSON leaves out what is undefined. */
function testOf({ record, name: suite, prefix, job }: CaseSuite, one: Case): unknown {
  const { name, outcome, failures, position, step, threshold } = one;
  const result = step?.result;
  const { rounds } = one;
  const assertions = assertionsOf(one);
  const [failure] = failures;
  const attempts = result?.attempts ?? [];
  const retries = attempts.length < 2 ? undefined : attempts.length - 1;
  const start = rounds ? undefined : result?.started;
  const duration = Math.round(durationOf(one));
  return {
    name: `${suite} › ${name}`,
    status: statusOf(outcome),
    rawStatus: one.allowFailure ? "allowed failure" : RAW[outcome],
    duration,
    start,
    stop: start === undefined ? undefined : start + duration,
    suite: [record.name, suite.slice(prefix.length)],
    tags: job.tags,
    message: messageOf(one),
    trace: failure && failureText(failures),
    filePath: position?.file,
    line: position?.line,
    snippet: failure?.place?.text.trim(),
    flaky: one.flaky || undefined,
    retries,
    // The last one is the test itself.
    retryAttempts: retries && attempts.slice(0, retries).map(retryOf),
    type: result?.uses,
    extra: assertions || rounds || threshold
      ? { assertions, rounds: rounds?.states, threshold: threshold?.expression }
      : undefined,
    stdout: stdoutOf(one),
    steps: step && step.inside.length > 0 ? step.inside.flatMap(stepsOf) : undefined,
  };
}

/** The output of a step or, in several rounds, their results. */
function stdoutOf({ step, rounds, threshold }: Case): string[] | undefined {
  if (threshold?.passed) return [valuesOf(threshold)];
  if (rounds?.tally) return roundsText([rounds.tally], rounds.of).split("\n");
  const echo = step?.result.echo;
  return echo ? echo.trimEnd().split("\n") : undefined;
}

/** The steps of an embedded job, with those of the job files in it. */
function stepsOf({ run, result, inside }: StepRecord): unknown[] {
  const { name, state } = result;
  return [
    { name: oneLine(name) + runLabel(run), status: statusOf(state) },
    ...inside.flatMap(stepsOf),
  ];
}

function messageOf({ outcome, reason = "skipped", failures: [failure] }: Case): string | undefined {
  if (outcome === "skipped") return reason;
  return failure && summarizeFailure(failure);
}

function retryOf({ number, outcome, started, duration, message }: Attempt): unknown {
  return {
    attempt: number,
    status: outcome === "passed" ? "passed" : "failed",
    start: started,
    duration: Math.round(duration),
    message,
  };
}
