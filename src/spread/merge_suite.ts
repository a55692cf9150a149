import {
  countWorkflows,
  type EndedWorkflow,
  RunTotals,
  workflowState,
} from "../run/count_steps.ts";
import type {
  JobFinished,
  RunEvent,
  RunFinished,
  SuiteFinished,
  SuiteStarted,
} from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
import { skipOf, skippedJob } from "./merge_pieces.ts";
import {
  type AnyPiece,
  choosePieces,
  endsInTheMiddle,
  lost,
  type MergedPieces,
  type PieceFile,
  readHeader,
  readSuiteEvents,
} from "./piece_events.ts";
import { outlineOf } from "./run_file.ts";
import type { SuiteRunFile, SuiteRunWorkflow } from "./suite_run_file.ts";

/** The events of one process, by the workflows that it ran. */
interface SuitePiece extends AnyPiece {
  readonly runs: ReadonlyMap<string, readonly RunEvent[]>;
}

/** A workflow with its events. */
interface MergedRun extends EndedWorkflow {
  readonly events: readonly RunEvent[];
}

/**
 * Makes one suite of its processes, as if one of them had run everything. A workflow whose process
 * is missing or ends in the middle has failed; it was skipped if setup failed. Throws RunnerError
 * where events are of another run.
 */
export function mergeSuitePieces(run: SuiteRunFile, files: readonly PieceFile[]): MergedPieces {
  const expected = {
    run: run.run,
    sha256: run.sha256,
    what: "suite",
    created: run.created,
  } as const;
  const names = run.workflows.map(({ name }) => name);
  const chosen = choosePieces(files, readPiece, expected, names);
  const { byName, counted, from, to, warnings } = chosen;
  let setupFailed = false;
  const runs = run.workflows.map((workflow): MergedRun => {
    const isSkipped = setupFailed && workflow.role !== "teardown";
    const merged = mergeRun(workflow, byName.get(workflow.name)?.[0], {
      isSkipped,
      time: to,
      suite: run.run,
    });
    if (workflow.role === "setup" && merged.state === "failed") setupFailed = true;
    return merged;
  });
  const interrupted = [...new Set([...counted].flatMap((piece) => piece.interrupted ?? []))];
  if (!setupFailed) {
    interrupted.push(...run.workflows.flatMap((workflow, at) => unstarted(workflow, runs[at]!)));
  }
  const end = endOf(run.run, runs, { interrupted, from, to });
  function* events(): Iterator<RunEvent> {
    yield {
      type: "suite_started",
      runId: run.run,
      time: from,
      ...run.name === undefined ? {} : { name: run.name },
      workflows: run.workflows.filter(({ role }) => role === undefined).length,
      hash: run.sha256,
    };
    for (const { events } of runs) yield* events;
    yield end;
  }
  return {
    events: { [Symbol.iterator]: events },
    passed: end.state === "passed",
    warnings: [...new Set(warnings)],
  };
}

/**
 * Why a workflow was not started although nothing of the merged run is the reason: setup, or a
 * workflow before it with --fail-fast, had failed when its process began, and was repeated alone.
 */
function unstarted(workflow: SuiteRunWorkflow, { role, state, events }: MergedRun): string[] {
  if (role !== undefined || state !== "skipped") return [];
  const blocked = events.find((event) => event.type === "job_finished" && event.blocked);
  if (blocked?.type !== "job_finished") return [];
  return [`'${workflow.name}' was ${blocked.reason ?? "not started"}`];
}

function readPiece(piece: PieceFile): SuitePiece | undefined {
  const { file } = piece;
  const { start, end, ended, runs: byId } = readSuiteEvents(piece);
  const header = start && readHeader(start.piece, file);
  if (!header) return undefined;
  const interrupted = end ? end.interrupted : endsInTheMiddle(file);
  const runs = new Map<string, readonly RunEvent[]>();
  for (const events of byId.values()) {
    const [first] = events;
    if (first?.type === "run_started" && first.suite) runs.set(keyOf(first.suite), events);
  }
  return { file, header, began: start.time, ended, runs, interrupted };
}

function keyOf({ role, index }: Pick<SuiteRunWorkflow, "role" | "index">): string {
  return `${role ?? ""} ${index}`;
}

/** The circumstances of a workflow, as far as they are known. */
interface Circumstances {
  /** Setup failed before it. */
  readonly isSkipped: boolean;
  /** The time of events that are made here. */
  readonly time: number;
  /** The id of the suite. */
  readonly suite: string;
}

function mergeRun(
  workflow: SuiteRunWorkflow,
  piece: SuitePiece | undefined,
  { isSkipped, time, suite }: Circumstances,
): MergedRun {
  const { role } = workflow;
  const events = (piece?.runs.get(keyOf(workflow)) ?? []).map((event) => ofSuite(event, suite));
  const last = events.at(-1);
  if (last?.type === "run_finished") {
    return { role, state: workflowState(last), steps: last.steps, events };
  }
  const runId = events[0]?.runId ?? `${suite} ${keyOf(workflow)}`;
  const isBegun = events.length > 0;
  if (!isBegun) events.push(startOf(workflow, runId, suite, time));
  const isOver = new Set(events.flatMap((event) => event.type === "job_finished" ? event.job : []));
  const isLost = !isSkipped || isBegun;
  events.push(
    ...isLost ? lostJobs(workflow, runId, time, isOver, piece) : skippedJobs(workflow, runId, time),
  );
  const end = endOfRun(workflow, runId, events, isLost);
  return { role, state: workflowState(end), steps: end.steps, events: [...events, end] };
}

function startOf(
  { role, index, workflow, jobs }: SuiteRunWorkflow,
  runId: string,
  id: string,
  time: number,
): RunEvent {
  const { name, description, file } = workflow;
  return {
    ...{ type: "run_started", runId, time, name },
    ...description === undefined ? {} : { description },
    file,
    suite: { id, index, ...role === undefined ? {} : { role } },
    jobs: outlineOf({ jobs: jobs.filter(({ cleanup }) => !cleanup) }),
  };
}

/** As a process skips the jobs of a workflow after setup has failed. */
function skippedJobs({ jobs }: SuiteRunWorkflow, runId: string, time: number): JobFinished[] {
  const ends = new Map<string, JobFinished>();
  const skip = (id: string): void => {
    const job = jobs.find((other) => other.id === id);
    if (!job || job.cleanup || ends.has(id)) return;
    job.needs.forEach(skip);
    const needs = job.needs.flatMap((need) => ends.get(need) ?? []);
    const skipped = skippedJob(job, needs, time) ??
      skipOf(job, time, "not started: setup failed", true);
    ends.set(id, { ...skipped, runId });
  };
  jobs.forEach(({ id }) => skip(id));
  return [...ends.values()];
}

/** The jobs that are not known to have ended. */
function lostJobs(
  { jobs }: SuiteRunWorkflow,
  runId: string,
  time: number,
  isOver: ReadonlySet<string>,
  piece: SuitePiece | undefined,
): JobFinished[] {
  const message = piece
    ? endsInTheMiddle(piece.file)
    : "no process of this workflow came back: its machine was lost, or it never started";
  return jobs.filter(({ id, cleanup }) => !isOver.has(id) && !cleanup).map((job) => ({
    ...{ type: "job_finished", runId, time, job: job.id, name: job.name, state: "failed" },
    ...{ duration: 0, failures: [lost(message)] },
  }));
}

function endOfRun(
  { jobs, leftOut }: SuiteRunWorkflow,
  runId: string,
  events: readonly RunEvent[],
  isLost: boolean,
): RunFinished {
  const totals = new RunTotals();
  for (const event of events) totals.take(event);
  const counted = totals.all();
  const from = events[0]!.time;
  const to = events.reduce((latest, { time }) => Math.max(latest, time), from);
  // A workflow that is not begun leaves out its cleanup.
  const unrun = isLost ? 0 : jobs.filter(({ cleanup }) => cleanup).length;
  const isShown = events.some((event) => event.type === "job_finished" && event.state === "failed");
  return {
    ...{ type: "run_finished", runId, time: to, duration: to - from },
    state: isLost ? "failed" : "passed",
    // Its jobs may all have passed before it was lost.
    ...isLost && !isShown ? { interrupted: "its machine was lost" } : {},
    ...counted,
    ...leftOut + unrun === 0 ? {} : { leftOut: leftOut + unrun },
  };
}

/** The last event of a suite. */
function endOf(
  runId: string,
  runs: readonly EndedWorkflow[],
  { interrupted, from, to, isPassed = interrupted.length === 0 }: {
    readonly interrupted: readonly string[];
    readonly from: number;
    readonly to: number;
    /** Whether it may pass if no workflow failed. */
    readonly isPassed?: boolean;
  },
): SuiteFinished {
  const { workflows, steps } = countWorkflows(runs);
  return {
    ...{ type: "suite_finished", runId, time: to, duration: to - from },
    state: workflows.failed === 0 && isPassed ? "passed" : "failed",
    ...interrupted.length === 0 ? {} : { interrupted: interrupted.join("; ") },
    workflows,
    steps,
  };
}

/** The same event as one of the suite with that id. */
function ofSuite(event: RunEvent, id: string): RunEvent {
  return event.type === "run_started" && event.suite
    ? { ...event, suite: { ...event.suite, id } }
    : event;
}

/** One shard, with the events of its runs. */
interface Shard {
  readonly file: string;
  readonly start: SuiteStarted;
  readonly end: SuiteFinished;
  readonly runs: readonly ShardRun[];
}

interface ShardRun extends MergedRun {
  readonly index: number;
}

/**
 * Makes one suite of its shards. Throws RunnerError where one is missing, ends in its middle or is
 * of another suite. Of a shard that was run more than once, the last run counts.
 */
export function mergeShards(files: readonly PieceFile[]): MergedPieces {
  const read = files.map(readShard).sort((a, b) => a.start.time - b.start.time);
  const [first] = read;
  if (!first) throw new RunnerError("there are no events to merge");
  const other = read.find(({ start }) => start.hash !== first.start.hash);
  if (other) {
    throw new RunnerError(
      `'${other.file}' is of another suite than '${first.file}'`,
      "all shards must run the same files with the same options",
    );
  }
  const warnings: string[] = [];
  const shards = chooseShards(read, warnings);
  const runs = chooseRuns(shards.flatMap((shard) => shard.runs));
  const { shard: _, ...start } = first.start;
  const id = start.runId;
  const from = Math.min(...shards.map(({ start }) => start.time));
  const to = Math.max(...shards.map(({ end }) => end.time));
  const end = endOf(id, runs, {
    interrupted: [...new Set(shards.flatMap(({ end }) => end.interrupted ?? []))],
    from,
    to,
    isPassed: shards.every(({ end }) => end.state === "passed"),
  });
  const workflows = shards.reduce((sum, { start }) => sum + start.workflows, 0);
  const events: RunEvent[] = [{ ...start, time: from, workflows }];
  for (const run of runs) for (const event of run.events) events.push(ofSuite(event, id));
  return { events: [...events, end], passed: end.state === "passed", warnings };
}

function readShard(piece: PieceFile): Shard {
  const { file } = piece;
  const { start, end, runs: byId } = readSuiteEvents(piece);
  const [first] = byId.values();
  if (start?.piece || first?.[0]?.type === "run_started" && first[0].piece) {
    throw new RunnerError(
      `'${file}' is of one process of a run, and the run file is missing`,
      "name the file that runner prepare has written, too",
    );
  }
  if (!start) {
    throw new RunnerError(
      `'${file}' has no events of a suite`,
      "merge what --report ndjson=FILE has written in each shard",
    );
  }
  const runs = [...byId.values()].map((events) => readRun(file, events));
  if (!end) throw cutOff(file);
  return { file, start, end, runs };
}

function readRun(file: string, events: readonly RunEvent[]): ShardRun {
  const [start] = events;
  const end = events.find((event) => event.type === "run_finished");
  if (start?.type !== "run_started" || end?.type !== "run_finished") throw cutOff(file);
  const { role, index = 0 } = start.suite ?? {};
  return { role, index, state: workflowState(end), steps: end.steps, events };
}

function cutOff(file: string): RunnerError {
  return new RunnerError(
    `'${file}' ends in the middle`,
    "its run was killed, or the file was not copied as a whole: run the shard again",
  );
}

/** Each shard once. */
function chooseShards(parts: readonly Shard[], warnings: string[]): readonly Shard[] {
  const byIndex = new Map<number, Shard>();
  const count = parts[0]!.start.shard?.of ?? 1;
  for (const part of parts) {
    const { index, of } = part.start.shard ?? { index: 1, of: 1 };
    if (of !== count) {
      throw new RunnerError(`'${part.file}' is one of ${of} shards, and others are of ${count}`);
    }
    const earlier = byIndex.get(index);
    if (earlier) {
      warnings.push(`'${earlier.file}' was left out: '${part.file}' is a later run of it`);
    }
    byIndex.set(index, part);
  }
  const missing = Array.from({ length: count }, (_, at) => at + 1).filter((at) => !byIndex.has(at));
  if (missing.length > 0) {
    const which = missing.length === 1 ? `shard ${missing[0]}` : `shards ${missing.join(", ")}`;
    throw new RunnerError(
      `${which} of ${count} ${missing.length === 1 ? "is" : "are"} missing`,
      "its machine was lost or its events were not kept: run it again",
    );
  }
  return [...byIndex].sort(([a], [b]) => a - b).map(([, part]) => part);
}

const ROLES = ["setup", undefined, "teardown"];

/**
 * The runs in the order of the suite. Setup and teardown ran in each shard: those that passed
 * count once, and those that failed each time.
 */
function chooseRuns(runs: readonly ShardRun[]): readonly ShardRun[] {
  const sorted = runs.toSorted((a, b) =>
    ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || a.index - b.index
  );
  return sorted.filter((run, at) => {
    if (run.role === undefined || run.state === "failed") return true;
    const same = sorted.filter(({ role, index }) => role === run.role && index === run.index);
    return !same.some(({ state }) => state === "failed") && sorted.indexOf(same[0]!) === at;
  });
}
