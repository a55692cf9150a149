import {
  type JobRecord,
  loneRecord,
  type RunRecord,
  type StepRecord,
  type SuiteRecord,
  timesOf,
} from "../run_record.ts";

/** A run as the history remembers it. */
export interface HistoryRun {
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly state: "passed" | "failed";
  /** Some jobs or workflows were left out on purpose. */
  readonly isPartial: boolean;
  readonly tests: readonly HistoryTest[];
}

/** A step as the file has it, with the outcome of all of its runs together. */
export interface HistoryTest {
  /** The job and the step, after the workflow where there are several. */
  readonly name: string;
  /** `flaky`: it passed only after a failed attempt. */
  readonly state: TestState;
  /** Milliseconds, of all of its runs together. */
  readonly duration: number;
}

/** The outcomes that a history remembers, the worst first. */
export const TEST_STATES = ["failed", "flaky", "passed"] as const;

/** The outcome of a test. */
export type TestState = typeof TEST_STATES[number];

/** Runs of the same workflow or suite, the oldest first; the last one is the current run. */
export type History = readonly HistoryRun[];

/** What a history is about: the workflow, or the suite; runs of others are not compared with it. */
export function subjectOf(records: readonly RunRecord[], suite: SuiteRecord | undefined): string {
  const lone = loneRecord(records);
  return lone ? lone.file : `suite ${suite?.start.name ?? ""}`.trimEnd();
}

/** What a history remembers of a run. */
export function historyRun(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
): HistoryRun {
  const { started, duration } = timesOf(records);
  const isLone = loneRecord(records) !== undefined;
  const hasPassed = suite?.end
    ? suite.end.state === "passed"
    : records.every(({ end }) => end?.state === "passed");
  const isPartial = suite?.start.shard !== undefined ||
    records.some(({ end }) => (end?.leftOut ?? 0) > 0);
  return {
    started: suite?.start.time ?? started,
    duration: Math.round(suite?.end?.duration ?? duration),
    state: hasPassed ? "passed" : "failed",
    isPartial,
    tests: records.flatMap((record) => testsOf(record, isLone ? "" : `${record.file} › `)),
  };
}

function testsOf({ jobs }: RunRecord, prefix: string): HistoryTest[] {
  return jobs.flatMap((job) => testsOfJob(job, `${prefix}${job.name} › `));
}

function testsOfJob({ outline, steps }: JobRecord, prefix: string): HistoryTest[] {
  const seen = new Map<string, number>();
  return outline.flatMap(({ name }, index) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const runs = steps.filter(({ run }) => run.step === index);
    const states = new Set(runs.map(stateOf));
    const state = TEST_STATES.find((one) => states.has(one));
    if (state === undefined) return [];
    return [{
      name: `${prefix}${name}${count === 1 ? "" : ` (${count})`}`,
      state,
      duration: Math.round(runs.reduce((sum, { result }) => sum + result.duration, 0)),
    }];
  });
}

/** What was skipped says nothing about a test, and a tolerated failure is as good as a pass. */
function stateOf({ result: { state, flaky } }: StepRecord): TestState | undefined {
  if (state === "skipped") return undefined;
  return state === "failed" ? "failed" : flaky ? "flaky" : "passed";
}

/** A test that did not always come out the same. */
export interface UnstableTest {
  readonly name: string;
  /** Its outcome in each run of the history; undefined where it did not run. */
  readonly states: readonly (TestState | undefined)[];
  /** How often it came out otherwise than in the run of it before. */
  readonly changes: number;
  /** The number of runs in which it passed only after a failed attempt. */
  readonly retried: number;
  readonly failed: number;
}

/** The tests that changed their state or needed retries, the least stable first. */
export function unstableTests(history: History): readonly UnstableTest[] {
  const states = new Map<string, (TestState | undefined)[]>();
  history.forEach(({ tests }, index) => {
    for (const { name, state } of tests) {
      let known = states.get(name);
      if (!known) states.set(name, known = new Array(history.length).fill(undefined));
      known[index] = state;
    }
  });
  return [...states].flatMap(([name, all]) => {
    const ran = all.filter((state) => state !== undefined);
    const changes = ran.filter((state, index) =>
      index > 0 && (state === "failed") !== (ran[index - 1] === "failed")
    ).length;
    const retried = ran.filter((state) =>
      state === "flaky"
    ).length;
    const failed = ran.filter((state) => state === "failed").length;
    return changes + retried === 0 ? [] : [{ name, states: all, changes, retried, failed }];
  }).sort((a, b) => b.changes + b.retried - a.changes - a.retried || b.failed - a.failed);
}
