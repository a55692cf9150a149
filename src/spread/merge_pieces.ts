import { countWorkflows, type EndedWorkflow, workflowState } from "../run/count_steps.ts";
import type {
  RunEvent,
  RunFinished,
  SuiteFinished,
  SuitePart,
  SuiteStarted,
} from "../run/event.ts";
import { tallyRounds } from "../run/round_tally.ts";
import { RunnerError } from "../base/errors.ts";
import { loadFunctions } from "../expr/functions/registry.ts";
import { parseExpression } from "../expr/parse_expression.ts";
import { addSecretsOf } from "../secrets/find_secrets.ts";
import { Masker } from "../secrets/masker.ts";
import { mergeWorkflow, sharedOrigin } from "./merge_workflow.ts";
import {
  endsInTheMiddle,
  newestParts,
  type Piece,
  type PieceFile,
  refuseOtherRun,
  type RunPart,
  surveyPiece,
} from "./piece_events.ts";
import { readRunFile, type RunFile, type RunFileJob, type RunFileWorkflow } from "./run_file.ts";
import type { NamedText } from "./read_json_file.ts";
import type { Opening } from "./seal.ts";

/** The events of several processes as those of one, with warnings. */
export interface Merged {
  readonly isSuite: boolean;
  /** Made while they are taken. */
  readonly events: Iterable<RunEvent>;
  readonly passed: boolean;
  readonly warnings: readonly string[];
}

/**
 * Merges the pieces of the run of a run file or, without one, the shards of a suite; the events of
 * one run are that run. Without `opening`, sealed vars are nil: only an expectation about rounds
 * may read them. Throws RunnerError where events are of another run.
 */
export async function mergePieces(
  files: readonly PieceFile[],
  runFile?: NamedText,
  opening?: Opening,
): Promise<Merged> {
  const run = runFile && await readRunFile(runFile, opening);
  await loadFunctions((run?.workflows ?? []).flatMap(({ jobs }) => jobs).flatMap(expressionsOf));
  const pieces = files.map(surveyPiece);
  const merged = run
    ? mergeRun(run, pieces, opening?.secrets)
    : mergeWhole(pieces) ?? mergeShards(pieces);
  return { ...merged, events: tallyRounds(merged.events) };
}

/** The expressions of a job that are evaluated once its parts are merged. */
function expressionsOf({ expect = [], allowFailure }: RunFileJob) {
  const sources = allowFailure === undefined ? expect : [...expect, allowFailure];
  return sources.map((source) => parseExpression(source).node);
}

/** A run that one process has carried out, and that may have been killed; undefined if it is not. */
function mergeWhole([piece, second]: readonly Piece[]): Merged | undefined {
  const [part] = piece?.runs ?? [];
  if (!piece || !part || second || piece.header || piece.start !== part.start) return undefined;
  const { start, end } = part;
  const passed = end?.state === "passed";
  if (end) return { isSuite: false, events: part.events(), passed, warnings: [] };
  const { runId, name, description, file, jobs } = start;
  const workflow = { name, description, file, sha256: "" };
  const why = [endsInTheMiddle(piece.file)];
  const { events } = mergeWorkflow(
    { name, index: 0, workflow, jobs, leftOut: 0, vars: {} },
    () => [part],
    { runId, from: start.time, to: part.ended, interrupted: why },
  );
  return { isSuite: false, events, passed, warnings: why };
}

/** A process of a run that has a run file. */
type CountedPiece = Piece & Required<Pick<Piece, "start" | "header">>;

/**
 * Makes one run of its pieces, as if one process had run everything. A job or a workflow whose
 * piece is missing or ends in its middle has failed, unless something else keeps it from starting.
 * `secrets` knows those of the run file that no name gives away.
 */
function mergeRun(run: RunFile, files: readonly Piece[], secrets = new Masker()): Merged {
  const warnings: string[] = [];
  const pieces: CountedPiece[] = [];
  for (const piece of files) {
    const { file, start, header } = piece;
    if (start && header) {
      refuseOtherRun(file, header, run);
      pieces.push({ ...piece, start, header });
    } else warnings.push(`'${file}' was left out: it has no events of a piece of this run`);
  }
  const [only] = run.workflows;
  const names = run.suite ? run.workflows.map(({ name }) => name) : only!.jobs.map(({ id }) => id);
  const byName = new Map(names.map((name) => {
    const all = pieces.filter(({ header }) => header.jobs.includes(name));
    const newest = newestParts(all, ({ header }) => header, (newer, older) =>
      warnings.push(
        `'${name}' was run more than once: '${newer.file}' counts, '${older.file}' does not`,
      ));
    return [name, newest];
  }));
  const counted = [...new Set([...byName.values()].flat())];
  const [from, to] = counted.length === 0 ? [run.created, run.created] : [
    Math.min(...counted.map(({ start }) => start.time)),
    Math.max(...counted.map(({ ended }) => ended)),
  ];
  for (const { vars } of run.workflows) addSecretsOf(vars, secrets);
  const merged = run.suite
    ? mergeSuite(run, (name) => byName.get(name)![0], { from, to, counted })
    : mergeWorkflow(only!, (id) => byName.get(id)!.flatMap(({ runs }) => runs), {
      ...{ runId: run.run, from, to, secrets },
      interrupted: counted.flatMap(({ header, interrupted }) =>
        interrupted === undefined ? [] : `${header.jobs.join(", ")}: ${interrupted}`
      ),
    });
  return {
    ...merged,
    isSuite: run.suite !== undefined,
    warnings: [...new Set([...warnings, ...merged.warnings])],
  };
}

/** The events of a workflow that has ended. */
type WholePart = RunPart & Required<Pick<RunPart, "end">>;

function isOver(part: RunPart): part is WholePart {
  return part.end !== undefined;
}

/** A workflow of a suite with its events. */
interface MergedRun extends EndedWorkflow {
  readonly events: readonly RunEvent[];
}

function mergeSuite(
  { run: id, suite, sha256, workflows }: RunFile,
  pieceOf: (workflow: string) => CountedPiece | undefined,
  { from, to, counted }: {
    readonly from: number;
    readonly to: number;
    readonly counted: readonly CountedPiece[];
  },
): Omit<Merged, "isSuite"> {
  let setupFailed = false;
  const runs = workflows.map((workflow): MergedRun => {
    const isSkipped = setupFailed && workflow.role !== "teardown";
    const run = mergeMember(workflow, pieceOf(workflow.name), { id, to, isSkipped });
    if (workflow.role === "setup" && run.state === "failed") setupFailed = true;
    return run;
  });
  const interrupted = new Set(counted.flatMap((piece) => piece.interrupted ?? []));
  for (const [at, { name }] of workflows.entries()) {
    const why = setupFailed ? undefined : unstarted(runs[at]!);
    if (why !== undefined) interrupted.add(`'${name}' was ${why}`);
  }
  return suiteOf(runs, {
    ...{ type: "suite_started", runId: id, time: from, name: suite!.name },
    workflows: workflows.filter(({ role }) => role === undefined).length,
    origin: sharedOrigin(counted[0]?.start.origin),
    hash: sha256,
  }, { to, interrupted, warnings: [] });
}

/**
 * Why a workflow was not started although nothing of the merged run is the reason: setup, or a
 * workflow before it with --fail-fast, had failed when its process began, and was repeated alone.
 */
function unstarted({ role, state, events }: MergedRun): string | undefined {
  if (role !== undefined || state !== "skipped") return undefined;
  const blocked = events.find((event) => event.type === "job_finished" && event.blocked);
  return blocked?.type === "job_finished" ? blocked.reason ?? "not started" : undefined;
}

function mergeMember(
  workflow: RunFileWorkflow,
  piece: Piece | undefined,
  { id, to, isSkipped }: {
    readonly id: string;
    readonly to: number;
    /** Setup failed before it. */
    readonly isSkipped: boolean;
  },
): MergedRun {
  const { role, index, jobs, leftOut } = workflow;
  const part = piece?.runs.find(({ start: { suite } }) =>
    suite?.role === role && suite?.index === index
  );
  if (part && isOver(part)) return ofSuite(part, id);
  // A workflow that is not begun leaves out its cleanup.
  const begun = isSkipped && !part ? jobs.filter(({ cleanup }) => !cleanup) : jobs;
  const torn = piece && endsInTheMiddle(piece.file);
  const merged = mergeWorkflow(
    { ...workflow, jobs: begun, leftOut: leftOut + jobs.length - begun.length },
    () => part ? [part] : [],
    {
      runId: part?.start.runId ?? `${id} ${workflow.name}`,
      suite: { id, index, role },
      from: part?.start.time ?? to,
      to,
      interrupted: part ? [torn!] : [],
      notStarted: isSkipped && !part ? "not started: setup failed" : undefined,
      missing: torn,
    },
  );
  const events = [...merged.events];
  const end = events.at(-1) as RunFinished;
  return { role, state: workflowState(end), steps: end.steps, events };
}

/** A run that is over, as one of the suite with that id. */
function ofSuite({ start, end, events }: WholePart, id: string): MergedRun {
  const suite = start.suite && { ...start.suite, id };
  return {
    role: suite?.role,
    state: workflowState(end),
    steps: end.steps,
    events: [...events()].map((event) =>
      event.type === "run_started" ? { ...event, suite } : event
    ),
  };
}

/** All events of a suite. */
function suiteOf(
  runs: readonly MergedRun[],
  started: SuiteStarted,
  { to, interrupted, warnings, isPassed = interrupted.size === 0 }: {
    readonly to: number;
    readonly interrupted: ReadonlySet<string>;
    readonly warnings: readonly string[];
    /** Whether it may pass if no workflow failed. */
    readonly isPassed?: boolean;
  },
): Omit<Merged, "isSuite"> {
  const totals = countWorkflows(runs);
  const passed = totals.workflows.failed === 0 && isPassed;
  function* events(): Iterator<RunEvent> {
    yield started;
    for (const { events } of runs) yield* events;
    yield {
      ...{ type: "suite_finished", runId: started.runId, time: to, duration: to - started.time },
      state: passed ? "passed" : "failed",
      interrupted: [...interrupted].join("; ") || undefined,
      ...totals,
    };
  }
  return { events: { [Symbol.iterator]: events }, passed, warnings };
}

/** One shard of a suite, which has all its events. */
interface WholeShard {
  readonly file: string;
  readonly start: SuiteStarted;
  readonly end: SuiteFinished;
  readonly runs: readonly WholePart[];
}

/**
 * Makes one suite of its shards. Throws RunnerError where one is missing, ends in its middle or is
 * of another suite. Of a shard that was run more than once, the last run counts.
 */
function mergeShards(pieces: readonly Piece[]): Merged {
  const read = pieces.map(readShard).sort((a, b) => a.start.time - b.start.time);
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
  const { start } = first;
  const runs = chooseRuns(shards.flatMap((shard) => shard.runs))
    .map((part) => ofSuite(part, start.runId));
  return {
    isSuite: true,
    ...suiteOf(runs, {
      ...start,
      time: Math.min(...shards.map(({ start }) => start.time)),
      workflows: shards.reduce((sum, { start }) => sum + start.workflows, 0),
      shard: undefined,
      origin: sharedOrigin(start.origin),
    }, {
      to: Math.max(...shards.map(({ end }) => end.time)),
      interrupted: new Set(shards.flatMap(({ end }) => end.interrupted ?? [])),
      warnings,
      isPassed: shards.every(({ end }) => end.state === "passed"),
    }),
  };
}

function readShard({ file, start, header, end, runs }: Piece): WholeShard {
  if (header) {
    throw new RunnerError(
      `'${file}' is of one process of a run, and the run file is missing`,
      "name the file that runner prepare has written, too",
    );
  }
  if (start?.type !== "suite_started") {
    throw new RunnerError(
      `'${file}' has no events of a suite`,
      "merge what --report ndjson=FILE has written in each shard",
    );
  }
  if (end?.type !== "suite_finished") throw cutOff(file);
  if (!runs.every(isOver)) throw cutOff(file);
  return { file, start, end, runs };
}

function cutOff(file: string): RunnerError {
  return new RunnerError(
    `'${file}' ends in the middle`,
    "its run was killed, or the file was not copied as a whole: run the shard again",
  );
}

/** Each shard once. */
function chooseShards(parts: readonly WholeShard[], warnings: string[]): readonly WholeShard[] {
  const byIndex = new Map<number, WholeShard>();
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

const ROLES: readonly SuitePart["role"][] = ["setup", undefined, "teardown"];

/**
 * The runs in the order of the suite. Setup and teardown ran in each shard: those that passed
 * count once, and those that failed each time.
 */
function chooseRuns(parts: readonly WholePart[]): readonly WholePart[] {
  const runs = parts.map((part) => {
    const { role, index = 0 } = part.start.suite ?? {};
    return { part, role, index, hasFailed: workflowState(part.end) === "failed" };
  });
  const sorted = runs.sort((a, b) =>
    ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || a.index - b.index
  );
  return sorted.filter((run) => {
    if (run.role === undefined || run.hasFailed) return true;
    const same = sorted.filter(({ role, index }) => role === run.role && index === run.index);
    return !same.some(({ hasFailed }) => hasFailed) && same[0] === run;
  }).map(({ part }) => part);
}
