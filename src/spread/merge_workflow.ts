import {
  type StartCondition,
  startsAlways,
  startsWhenNeedFailed,
  startsWhenNeedsSucceed,
} from "../plan/plan.ts";
import { mergeCoverage } from "../report/coverage.ts";
import { RunTotals } from "../run/count_steps.ts";
import type {
  Failure,
  JobFinished,
  JobStarted,
  JobState,
  LoadEnded,
  LoadOutline,
  LoadSecond,
  RunEvent,
  RunStarted,
} from "../run/event.ts";
import { FLAKY, titleOf } from "../workflow/step_facts.ts";
import { explained } from "../expr/hints.ts";
import { parseExpression } from "../expr/parse_expression.ts";
import type { FieldError } from "../run/execute/evaluate_field.ts";
import { RunnerError } from "../base/errors.ts";
import { formatDuration } from "../base/value/duration.ts";
import { Masker } from "../secrets/masker.ts";
import type { Dict } from "../base/value/value.ts";
import { endsInTheMiddle, lost, type RunPart } from "./piece_events.ts";
import type { RunFileJob, RunFileWorkflow } from "./run_file.ts";
import { LoadTotals, mergeSeconds, statsValue } from "../run/load/load_stats.ts";
import { judge } from "../run/load/thresholds.ts";

/** The facts about a run that is made of the events of its processes. */
interface Circumstances {
  readonly runId: string;
  /** Where it is one of a suite. */
  readonly suite?: RunStarted["suite"];
  /** When the first process began, and the last one ended: milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** Why it failed though no job did. */
  readonly interrupted: readonly string[];
  /** Why no job was started, where that was on purpose. */
  readonly notStarted?: string;
  /** Why there are no events of a job that should have run. */
  readonly missing?: string;
  /** Knows the secrets of its vars. */
  readonly secrets?: Masker;
}

/** A run, as if one process had run everything. */
interface MergedWorkflow {
  /** Made while they are taken. */
  readonly events: Iterable<RunEvent>;
  readonly passed: boolean;
  readonly warnings: readonly string[];
}

/**
 * Merges the events of a workflow from several processes. A job that is missing or torn has failed,
 * unless another job blocks it. `partsOf` finds the processes that ran a job.
 */
export function mergeWorkflow(
  { workflow, jobs: outline, vars, leftOut }: RunFileWorkflow,
  partsOf: (job: string) => readonly RunPart[],
  circumstances: Circumstances,
): MergedWorkflow {
  const { runId, suite, from, to, interrupted } = circumstances;
  const jobs = mergeJobs(outline, partsOf, vars, circumstances);
  const parts = [...new Set(jobs.flatMap(({ parts }) => parts))];
  const passed = interrupted.length === 0 &&
    jobs.every(({ finished }) => finished.state !== "failed" && (suite || !finished.blocked));
  const coverage = mergeCoverage(parts.map(({ end }) => end));
  const { name, description, file } = workflow;
  const [first] = parts;
  function* events(): Iterator<RunEvent> {
    const totals = new RunTotals();
    const started: RunStarted = {
      type: "run_started",
      ...{ runId, time: from, name, description, file, suite },
      origin: sharedOrigin(first?.start.origin),
      vars: first?.start.vars,
      jobs: outlineOf(outline),
    };
    totals.take(started);
    yield started;
    for (const event of inOrder(parts, jobs)) {
      totals.take(event);
      yield { ...event, runId };
    }
    yield {
      ...{ type: "run_finished", runId, time: to, duration: to - from },
      state: passed ? "passed" : "failed",
      interrupted: interrupted.join("; ") || undefined,
      ...totals.all(),
      coverage: coverage.length === 0 ? undefined : coverage,
      leftOut: leftOut || undefined,
    };
  }
  const warnings = [...clockWarnings(jobs), ...paceWarnings(jobs)];
  return { events: { [Symbol.iterator]: events }, passed, warnings };
}

/** The origin that all processes of a run share: commit, branch and build. */
export function sharedOrigin(
  { commit, branch, ci }: NonNullable<RunStarted["origin"]> = {},
): RunStarted["origin"] {
  return commit || branch || ci ? { commit, branch, ci } : undefined;
}

/** A job of the run with the processes that ran it. */
interface MergedJob {
  readonly job: RunFileJob;
  readonly parts: readonly RunPart[];
  readonly started?: JobStarted;
  readonly finished: JobFinished;
  /** Where it is a load job in several parts. */
  readonly load?: MergedLoad;
}

function numberOf({ piece: { header } }: RunPart): number {
  return header?.part?.index ?? 1;
}

function countOf([part]: readonly RunPart[]): number {
  return part?.piece.header?.part?.of ?? 1;
}

/** Whether all parts of a job have ended. */
function isWhole(id: string, parts: readonly RunPart[]): boolean {
  return new Set(parts.map(numberOf)).size === countOf(parts) &&
    parts.every(({ jobs }) => jobs.get(id)?.finished);
}

function mergeJobs(
  jobs: readonly RunFileJob[],
  partsOf: (job: string) => readonly RunPart[],
  vars: Dict,
  circumstances: Circumstances,
): readonly MergedJob[] {
  const { secrets = new Masker() } = circumstances;
  const merged = new Map<string, MergedJob>();
  const merge = (job: RunFileJob): MergedJob => {
    const done = merged.get(job.id);
    if (done) return done;
    const needs = job.needs.flatMap((id) => jobs.find((other) => other.id === id) ?? []).map(merge);
    const parts = partsOf(job.id);
    const starts = parts.flatMap(({ jobs }) => jobs.get(job.id)?.started ?? []);
    const started = starts.sort((a, b) => a.time - b.time)[0];
    const expect = isWhole(job.id, parts) ? job.expect ?? [] : undefined;
    const load = started?.load && countOf(parts) > 1
      ? mergeLoad(job.id, parts, started.load, expect, vars)
      : undefined;
    const finished = parts.some(({ jobs }) => jobs.has(job.id))
      ? finishOf(job, parts, vars, secrets, load)
      : finishWithoutEvents(job, needs, parts, circumstances);
    // Each part says how many of the rounds are its own.
    const { rounds = started?.rounds } = job;
    const result = { job, parts, finished, load, started: started && { ...started, rounds } };
    merged.set(job.id, result);
    return result;
  };
  return jobs.map(merge);
}

/** The end of a job that no process has begun. Engines do not start what another job blocks. */
function finishWithoutEvents(
  job: RunFileJob,
  needs: readonly MergedJob[],
  [part]: readonly RunPart[],
  { to, notStarted, missing }: Circumstances,
): JobFinished {
  const { id, name } = job;
  const end: Omit<JobFinished, "state"> = {
    ...{ type: "job_finished", runId: "", time: to, job: id, name, duration: 0, failures: [] },
  };
  if (job.skip) return { ...end, state: "skipped", reason: "--skip" };
  const decision = conditionOf(job)(
    needs.map(({ finished: { job, name, state, blocked } }) => {
      return { title: titleOf(job, name), state, blocked };
    }),
  );
  if (!decision.starts) {
    const { reason, onPurpose } = decision;
    return { ...end, state: "skipped", reason, blocked: onPurpose ? undefined : true };
  }
  if (notStarted) return { ...end, state: "skipped", reason: notStarted, blocked: true };
  const message = part ? endsInTheMiddle(part.piece.file) : missing ??
    "no piece of this job came back: its machine was lost, or it never started";
  return { ...end, state: "failed", failures: [lost(message)] };
}

/** The condition on which a job starts. */
function conditionOf({ cleanup, when }: RunFileJob): StartCondition {
  if (cleanup || when === "always") return startsAlways;
  return when === "failure" ? startsWhenNeedFailed : startsWhenNeedsSucceed;
}

/** From worst to best. */
const STATES: readonly JobState[] = ["failed", "skipped", "passed"];

/** All parts of a job as one. */
function finishOf(
  { id, name, allowFailure }: RunFileJob,
  parts: readonly RunPart[],
  vars: Dict,
  secrets: Masker,
  load: MergedLoad | undefined,
): JobFinished {
  const ends = parts.flatMap(({ jobs }) => jobs.get(id)?.finished ?? []);
  const of = countOf(parts);
  const numbers = new Set(parts.map(numberOf));
  const missing = Array.from({ length: of }, (_, at) => at + 1).filter((at) => !numbers.has(at));
  const torn = parts.filter(({ jobs }) => !jobs.get(id)?.finished);
  const isSplit = of > 1 && missing.length + torn.length === 0;
  const failures = [
    ...isSplit && load ? failuresOf(load.errors, "load.expect", secrets) : [],
    ...distinctOf(ends.flatMap((end) => end.failures)),
    ...missing.map((at) => lost(`part ${at} of ${of} did not come back`)),
    ...torn.map(({ piece }) => lost(endsInTheMiddle(piece.file))),
  ];
  const worst = STATES.find((state) => ends.some((end) => end.state === state));
  const end = ends.find(({ state }) => state === worst);
  const isLost = missing.length + torn.length > 0;
  const isKnown = !isLost && (ends.some(({ allowFailure }) => allowFailure) ||
    isSplit && failures.length > 0 && allowFailure !== undefined && isAllowed(allowFailure, vars));
  const hasFailed = isLost || failures.length > 0 && !isKnown;
  const from = Math.min(
    ...parts.map(({ jobs, start }) => jobs.get(id)?.started?.time ?? start.time),
  );
  const time = Math.max(...parts.map(({ jobs, ended }) => jobs.get(id)?.finished?.time ?? ended));
  return {
    type: "job_finished",
    runId: "",
    time,
    job: id,
    name: end?.name ?? name,
    state: hasFailed ? "failed" : worst!,
    duration: ends.length === 1 && !isLost ? end!.duration : time - from,
    reason: isLost ? undefined : end?.reason,
    blocked: isLost ? undefined : end?.blocked,
    failures,
    allowFailure: isKnown && worst === "passed" ? true : undefined,
  };
}

/** All parts may fail for one reason, such as a mistake in the `skipif` of their job. */
function distinctOf(failures: readonly Failure[]): readonly Failure[] {
  return [...new Map(failures.map((one) => [JSON.stringify(one), one])).values()];
}

/** Whether a failure of a split job is known; what its needs published is not known here. */
function isAllowed(source: string, vars: Dict): boolean {
  const names = { vars, outputs: {}, needs: {}, [FLAKY]: true };
  try {
    return parseExpression(source).evaluate({ names, strict: true }) === true;
  } catch {
    return false;
  }
}

function failuresOf(
  errors: readonly FieldError[],
  field: string,
  secrets: Masker,
): readonly Failure[] {
  return errors.map((error) => {
    const cause = explained(error.cause);
    if (!(cause instanceof RunnerError)) throw cause;
    return { kind: "action", field, message: secrets.mask(cause.message), hint: cause.hint };
  });
}

/** The clocks of machines are not corrected, since nobody knows which of them is right. */
function clockWarnings(jobs: readonly MergedJob[]): readonly string[] {
  const byId = new Map(jobs.map((merged) => [merged.job.id, merged]));
  return jobs.flatMap(({ job, started }) =>
    job.needs.flatMap((id) => {
      const { job: need, finished, parts = [] } = byId.get(id) ?? {};
      if (
        !need || !started || !finished || parts.length === 0 || finished.state !== "passed"
      ) return [];
      const early = finished.time - started.time;
      if (early <= 0) return [];
      const time = early < 1000 ? `${Math.round(early)}ms` : `${(early / 1000).toFixed(1)}s`;
      return [
        `"${titleOf(job.id, job.name)}" began ${time} before "${titleOf(id, need.name)}" ended: ` +
        "the clocks of their machines differ",
      ];
    })
  );
}

/** Parts that did not begin together did not have the rate of the file from the beginning. */
function paceWarnings(jobs: readonly MergedJob[]): readonly string[] {
  return jobs.flatMap(({ job, parts, load }) => {
    const { id, pace } = job;
    const starts = parts.flatMap(({ jobs }) => jobs.get(id)?.started?.time ?? []);
    const apart = Math.max(...starts) - Math.min(...starts);
    if (pace === undefined || starts.length < 2 || apart <= pace) return [];
    const [late, usual] = [apart, pace].map(formatDuration);
    const cause = load ? "" : `, and its rounds are to start every ${usual}`;
    return [
      `the parts of "${titleOf(job.id, job.name)}" began ${late} apart${cause}: ` +
      "let them begin together with runner prepare --start-in",
    ];
  });
}

/** Events with their places in the order of one time. */
interface Stream {
  readonly events: Iterator<RunEvent>;
  next: RunEvent | undefined;
}

/** All events of jobs by their times; those of one file stay in their order. */
function* inOrder(
  parts: readonly RunPart[],
  jobs: readonly MergedJob[],
): Iterable<RunEvent> {
  const starts = jobs.flatMap(({ started }) => started ?? []).sort((a, b) => a.time - b.time);
  const ends = jobs.map(({ finished }) => finished).sort((a, b) => a.time - b.time);
  const merged = new Map(jobs.map((one) => [one.job.id, { ...one, of: new Set(one.parts) }]));
  const streams = [
    starts,
    ...parts.map((part) =>
      keptEvents(
        part,
        (id) => merged.get(id)?.of.has(part) ?? false,
        (id) => merged.get(id)?.load !== undefined,
      )
    ),
    ...jobs.flatMap(({ load, finished: { time } }) => load ? [loadEvents(load, time)] : []),
    ends,
  ].map((events): Stream => {
    const iterator = (events as Iterable<RunEvent>)[Symbol.iterator]();
    return { events: iterator, next: iterator.next().value };
  });
  for (;;) {
    let first: Stream | undefined;
    // The first of those at one time wins: starts come before other events, and ends after them.
    for (const stream of streams) {
      if (stream.next && (!first || stream.next.time < first.next!.time)) first = stream;
    }
    if (!first) return;
    yield first.next!;
    first.next = first.events.next().value;
  }
}

function* loadEvents({ seconds, ended }: MergedLoad, time: number): Iterable<RunEvent> {
  yield* seconds();
  yield { ...ended, time };
}

/** The events of the jobs that count, except events that are made anew. */
function* keptEvents(
  { events }: RunPart,
  counts: (job: string) => boolean,
  isMerged: (job: string) => boolean,
): Iterable<RunEvent> {
  for (const event of events()) {
    switch (event.type) {
      case "run_started":
      case "run_finished":
      case "job_started":
      case "job_finished":
      case "suite_started":
      case "suite_finished":
      case "rounds_tallied":
        continue;
      case "load_second":
      case "load_ended":
        if (counts(event.job) && !isMerged(event.job)) yield event;
        continue;
      case "round_finished":
      case "round_traced":
        if (counts(event.job)) yield event;
        continue;
      case "note":
        if (event.run === undefined || counts(event.run.job)) yield event;
        continue;
      default:
        if (counts(event.run.job)) yield event;
    }
  }
}

/** The joint result of several processes of a load job. */
interface MergedLoad {
  /** Of all processes, from their files. */
  readonly seconds: () => Iterable<LoadSecond>;
  readonly ended: LoadEnded;
  /** The thresholds that failed. */
  readonly errors: readonly FieldError[];
}

/** Merges the parts of a load job. `expect` is undefined where one of them was lost. */
function mergeLoad(
  id: string,
  parts: readonly RunPart[],
  outline: LoadOutline,
  expect: readonly string[] | undefined,
  vars: Dict,
): MergedLoad {
  const totals = new LoadTotals(outline.steps);
  const seconds = () => secondsOf(id, parts);
  for (const second of seconds()) if (second.phase !== "warm_up") totals.add(second);
  const stats = totals.stats();
  const names = { vars, outputs: {}, needs: {}, stats: statsValue(stats, outline.steps) };
  const errors: FieldError[] = [];
  const thresholds = (expect ?? []).map((source) =>
    judge({ expression: parseExpression(source) }, { names, strict: true }, errors)
  );
  const reasons = parts.flatMap(({ jobs }) => jobs.get(id)?.stopped ?? []);
  const [stopped] = expect ? reasons : ["a process of it was lost"];
  return {
    seconds,
    ended: {
      ...{ type: "load_ended", runId: "", time: 0, job: id, stats, thresholds },
      stopped,
    },
    errors,
  };
}

function* secondsOf(id: string, parts: readonly RunPart[]): Iterable<LoadSecond> {
  const streams = parts.map(({ events }) => secondsIn(events(), id));
  for (;;) {
    const seconds = streams.flatMap((stream) => stream.next().value ?? []);
    if (seconds.length === 0) return;
    const time = Math.max(...seconds.map(({ time }) => time));
    yield { type: "load_second", runId: "", time, ...mergeSeconds(seconds) };
  }
}

function* secondsIn(events: Iterable<RunEvent>, id: string): Generator<LoadSecond, undefined> {
  for (const event of events) {
    if (event.type === "load_second" && event.job === id) yield event;
  }
  return undefined;
}

/** The jobs of a workflow as its first event has them. */
function outlineOf(jobs: RunFileWorkflow["jobs"]): RunStarted["jobs"] {
  return jobs.map((
    { skip: _, cleanup: _1, when: _2, expect: _3, rounds: _4, pace: _5, allowFailure: _6, ...job },
  ) => job);
}
