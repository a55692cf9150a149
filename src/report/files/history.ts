import { cutLine } from "../../base/text/display_width.ts";
import { isDict, isNumber } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import type { JobState, LoadNumbers, RunFinished } from "../../run/event.ts";
import type { StagedFile } from "../../host/staged_file.ts";
import {
  type JobRecord,
  loneRecord,
  type RunRecord,
  stateOf as stateOfRun,
  stateOfAll,
  type SuiteRecord,
  timesOf,
} from "../record.ts";
import { readKept } from "./kept_file.ts";
import { failedParts, runLabel } from "../failed_parts.ts";
import { failureEntries, type FailureEntry } from "../text/render_failure.ts";
import { type Case, type CaseSuite, durationOf, suitesOf, withDistinctNames } from "./cases.ts";

/** The version of the form of the files. */
const SCHEMA = "runner-history/1";

/** Runs that a history keeps of each workflow or suite. */
const MAX_RUNS = 50;

/** The passed tests of a larger run are left out, so that its file stays small. */
const MAX_TESTS = 5000;

/** The widest text of a failure. */
const WIDEST_FAILURE = 500;

/** A run as its file in the history has it. */
export interface HistoryRun {
  readonly schema: typeof SCHEMA;
  /** The workflow or suite: only runs of the same one are compared. */
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly state: "passed" | "failed";
  /** Some jobs or workflows were not selected. */
  readonly isPartial: boolean;
  /** The runs of steps by state, as the run counts them, and those that were flaky. */
  readonly steps?: RunFinished["steps"] & { readonly flaky: number };
  /** The steps of the file, each entry with the result of all rounds together. */
  readonly tests: readonly (readonly [name: string, state: TestState, duration: number])[];
  /** The rounds of load jobs, and each of their steps. */
  readonly load?: readonly LoadPoint[];
  /** Each workflow, followed by its jobs; absent in files of older versions. */
  readonly parts?: readonly RunPart[];
}

/** How a workflow or a job of it ended. */
export interface RunPart {
  /** Of the workflow: unique in the run. */
  readonly file: string;
  /** Of the workflow. */
  readonly name: string;
  /** The name of the job, unique in its workflow; absent where this is about the workflow. */
  readonly job?: string;
  readonly state: JobState;
  /** Milliseconds. */
  readonly duration: number;
  /** The first failure of a job. */
  readonly failure?: Pick<FailureEntry, "title" | "location" | "text">;
}

/** The rounds of a load job or the runs of one of its steps; times in milliseconds. */
type LoadPoint = readonly [
  name: string,
  count: number,
  failed: number,
  rate: number,
  p50: number,
  p95: number,
  p99: number,
];

/** The results that a history knows, the worst first; a flaky test passed only when retried. */
const TEST_STATES = ["failed", "flaky", "passed"] as const;

/** The result of a test. */
export type TestState = typeof TEST_STATES[number];

/** Runs of the same workflow or suite, the oldest first; the last one is the current run. */
export type History = readonly HistoryRun[];

/** A directory of earlier runs, and the file that adds the current one. */
export interface OpenHistory {
  readonly path: string;
  readonly file: StagedFile;
  /** The names of files in the directory that are not runs. */
  readonly foreign: readonly string[];
  /** The earlier runs of the same workflow or suite, and this one. */
  readonly with: (records: readonly RunRecord[], suite: SuiteRecord | undefined) => History;
  /** Removes runs that are too old, of the same workflow or suite. */
  readonly prune: (subject: string) => Promise<void>;
}

/** Reads the earlier runs and opens a file for another one. Throws as Deno does. */
export async function openHistory(path: string, { files, clock }: Host): Promise<OpenHistory> {
  const directory = path.replace(/(?<=.)\/+$/, "");
  const { earlier, foreign } = await readHistory(directory, files);
  const ofSubject = (subject: string) => earlier.filter(({ run }) => run.subject === subject);
  const stamp = new Date(clock.now()).toISOString().replace(/[-:.]/g, "");
  const name = `run-${stamp}-${crypto.randomUUID().slice(0, 8)}.json`;
  return {
    path: directory,
    file: await files.stage(`${directory}/${name}`),
    foreign,
    with(records, suite) {
      const current = historyRun(records, suite);
      const before = ofSubject(current.subject).map(({ run }) => run);
      return [...before, current].slice(-MAX_RUNS);
    },
    async prune(subject) {
      for (const { name } of ofSubject(subject).slice(0, 1 - MAX_RUNS)) {
        await files.remove(`${directory}/${name}`);
      }
    },
  };
}

/** The runs in a directory, the oldest first, and the names of files that are not runs. */
export async function readHistory(directory: string, files: Host["files"]) {
  const earlier: { readonly name: string; readonly run: HistoryRun }[] = [];
  const foreign: string[] = [];
  for (const name of await files.list(directory) ?? []) {
    // For example `.gitkeep`.
    if (name.startsWith(".")) continue;
    const run = await readRun(`${directory}/${name}`, files);
    if (run) earlier.push({ name, run });
    else if (run === undefined) foreign.push(name);
  }
  earlier.sort((a, b) => a.run.started - b.run.started);
  return { earlier, foreign };
}

/** The run in a file; undefined if it is something else, null if another program removed it. */
async function readRun(path: string, files: Host["files"]): Promise<HistoryRun | null | undefined> {
  if (!path.endsWith(".json")) return undefined;
  try {
    const run = await readKept(path, SCHEMA, files);
    return isRun(run) ? run : undefined;
  } catch (error) {
    return error instanceof Error && error.name === "NotFound" ? null : undefined;
  }
}

function isRun(file: unknown): file is HistoryRun {
  return isDict(file) && typeof file.subject === "string" &&
    isTime(file.started) && isTime(file.duration) &&
    (file.state === "passed" || file.state === "failed") &&
    (file.steps === undefined || isDict(file.steps) && Object.values(file.steps).every(isNumber)) &&
    Array.isArray(file.tests) &&
    file.tests.every((test) =>
      Array.isArray(test) && typeof test[0] === "string" &&
      TEST_STATES.includes(test[1] as TestState)
    ) &&
    (file.load === undefined || Array.isArray(file.load) && file.load.every(isLoadPoint)) &&
    (file.parts === undefined || Array.isArray(file.parts) && file.parts.every(isPart));
}

const STATES: readonly unknown[] = ["passed", "failed", "skipped"] satisfies JobState[];

function isPart(part: unknown): boolean {
  if (!isDict(part) || !STATES.includes(part.state) || !isTime(part.duration)) return false;
  const { file, name, job = "", failure = { title: "", text: "" } } = part;
  return isDict(failure) && [file, name, job, failure.title, failure.text, failure.location ?? ""]
    .every((text) => typeof text === "string");
}

function isLoadPoint(point: unknown): boolean {
  if (!Array.isArray(point) || point.length !== 7) return false;
  const [name, ...numbers] = point;
  return typeof name === "string" && numbers.every(isNumber);
}

/** Whether it is a time that dates know: milliseconds. */
function isTime(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 8.64e15;
}

/** The entry of a run in a history. */
export function historyRun(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
): HistoryRun {
  const { started, duration } = timesOf(records);
  const lone = loneRecord(records);
  // Other runs of a suite may have other workflows of the same name: their files tell them apart.
  const suites = suitesOf(
    records.map((record) => lone ? record : { ...record, name: record.file }),
  );
  const tests = suites.flatMap(testsOf);
  const load = suites.flatMap(({ name, job }) => loadOf(job, name));
  return {
    schema: SCHEMA,
    subject: lone?.file ?? `suite ${suite?.start.name ?? ""}`.trimEnd(),
    started: suite?.start.time ?? started,
    duration: Math.round(suite?.end?.duration ?? duration),
    state: stateOfAll(records, suite),
    isPartial: suite?.start.shard !== undefined ||
      records.some(({ end }) => (end?.leftOut ?? 0) > 0),
    steps: stepsOf(records, suite),
    tests: tests.length <= MAX_TESTS
      ? tests
      : tests.filter(([, state]) => state !== "passed").slice(0, MAX_TESTS),
    load: load.length > 0 ? load : undefined,
    parts: partsOf(records).slice(0, MAX_TESTS),
  };
}

/** The workflows and their jobs. */
function partsOf(records: readonly RunRecord[]): readonly RunPart[] {
  return withDistinctNames(records.map((record) => ({ name: record.file, record })))
    .flatMap(({ name: file, record }): RunPart[] => {
      const { id, name, end, jobs } = record;
      return [
        { file, name, state: stateOfRun(record), duration: end?.duration ?? 0 },
        ...withDistinctNames(jobs).map((job) => {
          const { name: title, state = "failed", duration } = job;
          return { file, name, job: title, state, duration, failure: failureOf(job, id) };
        }),
      ];
    });
}

function failureOf(job: JobRecord, runId: string): RunPart["failure"] {
  const [first] = failedParts(job).flatMap((part) => failureEntries(part, runId));
  if (!first || job.state === "passed") return undefined;
  const { title, location, text } = first;
  return { title, location, text: cutLine(text, WIDEST_FAILURE) };
}

function loadOf({ load }: JobRecord, name: string): readonly LoadPoint[] {
  if (!load?.end || load.end.stats.count === 0) return [];
  const { stats } = load.end;
  const point = (
    name: string,
    { count, failed, rate, p50, p95, p99 }: LoadNumbers,
  ): LoadPoint => [name, count, failed, rate, p50, p95, p99];
  return [point(name, stats), ...stats.steps.map((one) => point(`${name} › ${one.key}`, one))];
}

/** A load job or a step of it, compared with what it was. */
interface ComparedLoad {
  readonly name: string;
  /** Milliseconds. */
  readonly p95: number;
  /** The median of the p95 of the runs before. */
  readonly median: number;
  /** The number of these runs. */
  readonly runs: number;
  /** By more than chance. */
  readonly isSlower: boolean;
}

/** The runs that the last one is compared with. */
const COMPARED = 10;
/** Fewer say nothing. */
const MIN_COMPARED = 3;
/** What is slower by less, in parts or in milliseconds, is chance. */
const SLOWER = 1.2;
const MIN_DIFFERENCE = 1;

/** What of the last run is slower than in the runs before it. */
export function slowerLoads(history: History): readonly ComparedLoad[] {
  return compareLoads(history).filter(({ isSlower }) => isSlower);
}

/** The load jobs of the last run and their steps, compared with the runs before it. */
export function compareLoads(history: History): readonly ComparedLoad[] {
  const before = history.slice(0, -1);
  return (history.at(-1)?.load ?? []).flatMap(([name, , , , , p95]) => {
    const times = before.flatMap(({ load = [] }) => load.find((one) => one[0] === name)?.[5] ?? [])
      .slice(-COMPARED).sort((a, b) => a - b);
    const runs = times.length;
    if (runs === 0) return [];
    const median = (times[Math.floor((runs - 1) / 2)]! + times[Math.floor(runs / 2)]!) / 2;
    const isSlower = runs >= MIN_COMPARED && p95 >= median * SLOWER &&
      p95 - median >= MIN_DIFFERENCE;
    return [{ name, p95, median, runs, isSlower }];
  });
}

function stepsOf(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
): HistoryRun["steps"] {
  const steps = suite?.end?.steps ?? records[0]?.end?.steps;
  const flaky = records.reduce((sum, { end }) => sum + (end?.flaky ?? 0), 0);
  return steps && { ...steps, flaky };
}

/** The steps that ran, named as the file does: their values may differ in each run. */
function testsOf({ name, job, cases }: CaseSuite): HistoryRun["tests"] {
  const tests = cases.flatMap((one) => {
    const state = stateOf(one);
    if (!state || !one.step) return [];
    const { step, entry } = one.step.run;
    const title = `${job.outline[step]?.name}${runLabel({ entry })}`;
    return [{ name: title, state, duration: Math.round(durationOf(one)) }];
  });
  return withDistinctNames(tests).map((one) => [`${name} › ${one.name}`, one.state, one.duration]);
}

/** A skipped step is no result of a test, and an allowed failure is as good as a pass. */
function stateOf({ outcome, flaky }: Case): TestState | undefined {
  if (outcome === "skipped") return undefined;
  return outcome === "failed" ? "failed" : flaky ? "flaky" : "passed";
}

/** A test whose results were not always the same. */
interface UnstableTest {
  readonly name: string;
  /** Its result in each run of the history; undefined where it did not run. */
  readonly states: readonly (TestState | undefined)[];
  /** How often it failed or passed unlike the time before. */
  readonly changes: number;
  /** The number of runs in which it passed only after a failed attempt. */
  readonly retried: number;
  readonly failed: number;
}

/** The tests that changed their state or needed retries, the least stable first. */
export function unstableTests(history: History): readonly UnstableTest[] {
  const byName = new Map<string, (TestState | undefined)[]>();
  for (const [index, { tests }] of history.entries()) {
    for (const [name, state] of tests) {
      const states = byName.get(name) ?? history.map(() => undefined);
      byName.set(name, states.with(index, state));
    }
  }
  return Array.from(byName, ([name, states]) => {
    const ran = states.filter((state) => state !== undefined);
    const changes = ran.filter((state, index) =>
      index > 0 && (state === "failed") !== (ran[index - 1] === "failed")
    ).length;
    const retried = ran.filter((state) =>
      state === "flaky"
    ).length;
    const failed = ran.filter((state) => state === "failed").length;
    return { name, states, changes, retried, failed };
  }).filter(({ changes, retried }) => changes + retried > 0)
    .sort((a, b) => b.changes + b.retried - a.changes - a.retried || b.failed - a.failed);
}
