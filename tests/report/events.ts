import { LateTexts } from "../../src/report/text/late_texts.ts";
import type {
  Failure,
  FailureCount,
  JobFinished,
  JobStarted,
  RunEvent,
  RunFinished,
  RunStarted,
  StepFinished,
  StepResult,
  StepRun,
  StepStarted,
  StepTally,
} from "../../src/run/event.ts";
import { Recorder } from "../../src/report/recorder.ts";
import type { Reporter } from "../../src/report/reporter.ts";
import { tallyRounds } from "../../src/run/round_tally.ts";

/** All texts of reports. */
export const LATE = new LateTexts();
await LATE.load();

/** When the runs of these tests begin: noon, whatever the time zone. */
export const NOON = new Date(2026, 0, 2, 12, 0, 0, 0).getTime();

/** A run of these jobs, by id; their names are the same with a capital. */
export function runStarted(jobs: readonly string[], changes: Partial<RunStarted> = {}): RunStarted {
  return {
    type: "run_started",
    runId: "r",
    time: NOON,
    name: "Shop",
    file: "api.yml",
    jobs: jobs.map((id) => ({
      id,
      name: nameOf(id),
      needs: [],
      steps: [{ name: "check the total", uses: "http" }],
    })),
    ...changes,
  };
}

export function jobStarted(job: string, changes: Partial<JobStarted> = {}): JobStarted {
  return { type: "job_started", runId: "r", time: NOON, job, name: nameOf(job), ...changes };
}

export function stepStarted(run: StepRun, name: string): StepStarted {
  return { type: "step_started", runId: "r", time: NOON, run, name, uses: "http" };
}

/** A step of the job that a step embeds. */
export function inner(within: StepRun, step = 0): StepRun {
  return { job: within.job, within, step };
}

/** A step that passed, unless `changes` says otherwise. */
export function stepFinished(
  run: StepRun,
  name: string,
  changes: Partial<StepResult> = {},
): StepFinished {
  const result: StepResult = {
    name,
    uses: "http",
    state: "passed",
    started: NOON + 789,
    duration: 7,
    attempts: [{ number: 1, started: NOON + 789, duration: 7, outcome: "passed" }],
    responseTime: 6.5,
    failures: [],
    ...changes,
  };
  return { type: "step_finished", runId: "r", time: NOON, run, result };
}

export function jobFinished(job: string, changes: Partial<JobFinished> = {}): JobFinished {
  return {
    type: "job_finished",
    runId: "r",
    time: NOON,
    job,
    name: nameOf(job),
    state: "passed",
    duration: 120,
    failures: [],
    ...changes,
  };
}

export function runFinished(changes: Partial<RunFinished> = {}): RunFinished {
  return {
    type: "run_finished",
    runId: "r",
    time: NOON,
    duration: 1130,
    state: "passed",
    jobs: { passed: 1, failed: 0, skipped: 0 },
    steps: { passed: 1, failed: 0, skipped: 0, untested: 0, allowed: 0 },
    flaky: 0,
    ...changes,
  };
}

/** A test on line 14 of api.yml that is false, of this value. */
export function falseTest(value = 2): Failure {
  const text = "    test: res.body.total == 3";
  return {
    kind: "test",
    field: "test",
    message: "test is false",
    expression: "res.body.total == 3",
    operands: [{ text: "res.body.total", type: "int", value }],
    place: { file: "api.yml", line: 14, column: 11, text, from: 10, to: text.length },
  };
}

/** Returns the text of a reporter for the events of a run. */
export function reportOf(reporter: Pick<Reporter, "report">, events: Iterable<RunEvent>): string {
  const report = eventByEvent(reporter);
  let text = "";
  for (const event of tallyRounds(events)) text += report(event);
  return text;
}

/** Reports one event after another. */
export function eventByEvent(reporter: Pick<Reporter, "report">): (event: RunEvent) => string {
  const recorder = new Recorder({ keeps: "outcomes" });
  return (event) => reporter.report(recorder.take(event));
}

function nameOf(id: string): string {
  return id[0]!.toUpperCase() + id.slice(1);
}

/** What a step did in rounds of which most passed. */
export function stepTally(
  step: number,
  passed: number,
  { failures = [], ...changes }: Partial<StepTally<FailureCount>> = {},
): StepTally<FailureCount> {
  const failed = failures.reduce((sum, { count }) => sum + count, 0);
  return {
    ...{ step, name: `step ${step}`, failures, flaky: 0 },
    states: { passed, failed, skipped: 0, untested: 0, allowed: 0 },
    ...{ otherFailures: 0, echoes: [], otherEchoes: 0, inside: [] },
    ...changes,
  };
}
