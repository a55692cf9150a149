import { countWorkflows, workflowState } from "../run/count_steps.ts";
import type { JobState, RunEvent, SuiteFinished, SuiteStarted } from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
import type { MergedPieces, PieceFile } from "./merge_pieces.ts";
import { readSuiteEvents } from "./suite_events.ts";

/** One share, with the events of its runs. */
interface ReadPart {
  readonly file: string;
  readonly start: SuiteStarted;
  readonly end: SuiteFinished;
  readonly runs: readonly Run[];
}

interface Run {
  readonly role: "setup" | "teardown" | undefined;
  readonly index: number;
  readonly state: JobState;
  readonly events: readonly RunEvent[];
}

/**
 * Makes one suite of its shares. Throws RunnerError where one is missing, ends in its middle or is
 * of another suite. Of a share that was run more than once, the last run counts.
 */
export function mergeShards(files: readonly PieceFile[]): MergedPieces {
  const read = files.map(readPart).sort((a, b) => a.start.time - b.start.time);
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
  const chosen = chooseParts(read, warnings);
  const runs = chooseRuns(chosen.flatMap((part) => part.runs));
  const id = first.start.runId;
  const started = Math.min(...chosen.map(({ start }) => start.time));
  const ended = Math.max(...chosen.map(({ end }) => end.time));
  const { shard: _, ...start } = first.start;
  const events: RunEvent[] = [{
    ...start,
    time: started,
    workflows: chosen.reduce((sum, part) => sum + part.start.workflows, 0),
  }];
  for (const run of runs) for (const event of run.events) events.push(ofSuite(event, id));
  const end = endOf(chosen, runs, { id, started, ended });
  return { events: [...events, end], passed: end.state === "passed", warnings };
}

function readPart(piece: PieceFile): ReadPart {
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

function readRun(file: string, events: readonly RunEvent[]): Run {
  const [start] = events;
  const end = events.find((event) => event.type === "run_finished");
  if (start?.type !== "run_started" || end?.type !== "run_finished") throw cutOff(file);
  const { role, index = 0 } = start.suite ?? {};
  return { role, index, state: workflowState(end), events };
}

function cutOff(file: string): RunnerError {
  return new RunnerError(
    `'${file}' ends in the middle`,
    "its run was killed, or the file was not copied as a whole: run the shard again",
  );
}

/** Each share once. */
function chooseParts(parts: readonly ReadPart[], warnings: string[]): readonly ReadPart[] {
  const byIndex = new Map<number, ReadPart>();
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
 * The runs in the order of the suite. Setup and teardown ran in each share: those that passed
 * count once, and those that failed each time.
 */
function chooseRuns(runs: readonly Run[]): readonly Run[] {
  const sorted = runs.toSorted((a, b) =>
    ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || a.index - b.index
  );
  return sorted.filter((run, at) => {
    if (run.role === undefined || run.state === "failed") return true;
    const same = sorted.filter(({ role, index }) => role === run.role && index === run.index);
    return !same.some(({ state }) => state === "failed") && sorted.indexOf(same[0]!) === at;
  });
}

/** All runs belong to one suite. */
function ofSuite(event: RunEvent, id: string): RunEvent {
  return event.type === "run_started" && event.suite
    ? { ...event, suite: { ...event.suite, id } }
    : event;
}

function endOf(
  parts: readonly ReadPart[],
  runs: readonly Run[],
  { id, started, ended }: { id: string; started: number; ended: number },
): SuiteFinished {
  const { workflows, steps } = countWorkflows(runs.map(({ role, state, events }) => {
    const end = events.find((event) => event.type === "run_finished")!;
    return { role, state, steps: end.steps };
  }));
  const interrupted = [...new Set(parts.flatMap(({ end }) => end.interrupted ?? []))];
  const isGood = workflows.failed === 0 && parts.every(({ end }) => end.state === "passed");
  return {
    type: "suite_finished",
    runId: id,
    time: ended,
    duration: ended - started,
    state: isGood ? "passed" : "failed",
    ...interrupted.length === 0 ? {} : { interrupted: interrupted.join("; ") },
    workflows,
    steps,
  };
}
