import { countWorkflows, type EndedWorkflow, workflowState } from "../run/count_steps.ts";
import type {
  JobFinished,
  PieceHeader,
  RunEvent,
  RunFinished,
  SuiteFinished,
} from "../run/event.ts";
import { conditionOf, lost, type MergedPieces, type PieceFile } from "./merge_pieces.ts";
import { newestParts } from "./newest_parts.ts";
import { readHeader, refuseOtherRun } from "./read_header.ts";
import { outlineOf } from "./run_file.ts";
import { RunTotals } from "../run/run_totals.ts";
import { endsInTheMiddle } from "./survey_piece.ts";
import { readSuiteEvents } from "./suite_events.ts";
import type { SuiteRunFile, SuiteRunWorkflow } from "./suite_run_file.ts";

/** The events of one process, by the workflows that it ran. */
interface SuitePieceEvents {
  readonly file: string;
  readonly header: PieceHeader;
  readonly began: number;
  readonly ended: number;
  readonly interrupted: string | undefined;
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
  const warnings: string[] = [];
  const pieces = files.flatMap((file) => {
    const piece = readPiece(file);
    if (!piece) warnings.push(`'${file.file}' was left out: it has no events of this suite`);
    return piece ? [piece] : [];
  });
  const expected = { run: run.run, sha256: run.sha256, what: "suite" } as const;
  for (const { file, header } of pieces) refuseOtherRun(file, header, expected);
  const pieceOf = ({ name }: SuiteRunWorkflow) => {
    const [newest] = newestParts(
      pieces.filter(({ header }) => header.jobs.includes(name)),
      ({ header }) => header,
      ({ file: newer }, { file: older }) =>
        warnings.push(`'${name}' was run more than once: '${newer}' counts, '${older}' does not`),
    );
    return newest;
  };
  const used = new Map(run.workflows.map((workflow) => [workflow, pieceOf(workflow)]));
  const counted = new Set([...used.values()].flatMap((piece) => piece ?? []));
  const began = Math.min(...[...counted].map((piece) => piece.began));
  const ended = Math.max(...[...counted].map((piece) => piece.ended));
  const [from, to] = counted.size === 0 ? [run.created, run.created] : [began, ended];
  let setupFailed = false;
  const runs = run.workflows.map((workflow): MergedRun => {
    const isSkipped = setupFailed && workflow.role !== "teardown";
    const merged = mergeRun(workflow, used.get(workflow), { isSkipped, time: to, suite: run.run });
    if (workflow.role === "setup" && merged.state === "failed") setupFailed = true;
    return merged;
  });
  const interrupted = [...new Set([...counted].flatMap((piece) => piece.interrupted ?? []))];
  if (!setupFailed) {
    interrupted.push(...run.workflows.flatMap((workflow, at) => unstarted(workflow, runs[at]!)));
  }
  const end = endOf(run.run, runs, interrupted, from, to);
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

function readPiece(piece: PieceFile): SuitePieceEvents | undefined {
  const { file } = piece;
  const { start, end, ended, runs: byId } = readSuiteEvents(piece);
  const header = start && readHeader(start.piece, file);
  if (!header) return undefined;
  const interrupted = end ? end.interrupted : endsInTheMiddle(file);
  const runs = new Map<string, readonly RunEvent[]>();
  for (const own of byId.values()) {
    const [first] = own;
    if (first?.type === "run_started" && first.suite) runs.set(keyOf(first.suite), own);
  }
  return { file, header, began: start.time, ended, runs, interrupted };
}

function keyOf({ role, index }: Pick<SuiteRunWorkflow, "role" | "index">): string {
  return `${role ?? ""} ${index}`;
}

/** What is known of the circumstances of a workflow. */
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
  piece: SuitePieceEvents | undefined,
  { isSkipped, time, suite }: Circumstances,
): MergedRun {
  const { role } = workflow;
  const own = piece?.runs.get(keyOf(workflow)) ?? [];
  const events = own.map((event) =>
    event.type === "run_started" && event.suite
      ? { ...event, suite: { ...event.suite, id: suite } }
      : event
  );
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
  const skip = (id: string): JobFinished[] => {
    const job = jobs.find((other) => other.id === id);
    if (!job || job.cleanup || ends.has(id)) return [];
    job.needs.forEach(skip);
    const needs = job.needs.flatMap((need) => ends.get(need) ?? []);
    const decision = conditionOf(job)(needs.map(({ job, state, blocked }) => {
      return { id: job, state, ...blocked ? { blocked } : {} };
    }));
    const end: JobFinished = {
      ...{ type: "job_finished", runId, time, job: id, name: job.name, state: "skipped" },
      duration: 0,
      reason: decision.starts ? "not started: setup failed" : decision.reason,
      ...!decision.starts && decision.onPurpose ? {} : { blocked: true },
      failures: [],
    };
    ends.set(id, end);
    return [end];
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
  piece: SuitePieceEvents | undefined,
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

function endOf(
  runId: string,
  runs: readonly MergedRun[],
  interrupted: readonly string[],
  from: number,
  to: number,
): SuiteFinished {
  const { workflows, steps } = countWorkflows(runs);
  return {
    ...{ type: "suite_finished", runId, time: to, duration: to - from },
    state: workflows.failed === 0 && interrupted.length === 0 ? "passed" : "failed",
    ...interrupted.length === 0 ? {} : { interrupted: interrupted.join("; ") },
    workflows,
    steps,
  };
}
