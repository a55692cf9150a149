import {
  type StartCondition,
  startsAlways,
  startsWhenNeedFailed,
  startsWhenNeedsSucceed,
} from "../plan/plan.ts";
import { mergeCoverage } from "../report/coverage.ts";
import type { Failure, JobFinished, JobState, RunEvent } from "../run/event.ts";
import { FLAKY, titleOf } from "../workflow/step_facts.ts";
import { parseExpression } from "../expr/parse_expression.ts";
import type { FieldError } from "../run/execute/evaluate_field.ts";
import { RunnerError } from "../base/errors.ts";
import { addSecretsOf } from "../secrets/add_secrets.ts";
import { formatDuration } from "../base/value/duration.ts";
import { Masker } from "../secrets/masker.ts";
import type { Dict } from "../base/value/value.ts";
import { type MergedLoad, mergeLoad } from "./merge_load.ts";
import {
  choosePieces,
  endsInTheMiddle,
  lost,
  type MergedPieces,
  type Piece,
  type PieceFile,
  surveyPiece,
} from "./piece_events.ts";
import { inOrder, type MergedJob } from "./order_events.ts";
import { outlineOf, type RunFile, type RunFileJob } from "./run_file.ts";
import { RunTotals } from "../run/count_steps.ts";

/**
 * Makes one run of its pieces, as if one process had run everything. A job whose piece is missing
 * or ends in its middle has failed, unless another job blocks it. Throws RunnerError where events
 * are of another run. `secrets` knows those of the run file that no name gives away.
 */
export function mergePieces(
  run: RunFile,
  files: readonly PieceFile[],
  secrets = new Masker(),
): MergedPieces {
  addSecretsOf(run.vars, secrets);
  const expected = {
    run: run.run,
    sha256: run.workflow.sha256,
    what: "workflow",
    created: run.created,
  } as const;
  const ids = run.jobs.map(({ id }) => id);
  const chosen = choosePieces(files, surveyPiece, expected, ids);
  const { byName, counted, from, to, warnings } = chosen;
  const jobs = mergeJobs(run, byName, to, secrets);
  warnings.push(...clockWarnings(jobs), ...paceWarnings(jobs));
  const interrupted = [...counted].flatMap(({ header, interrupted }) =>
    interrupted === undefined ? [] : [`${header.jobs.join(", ")}: ${interrupted}`]
  );
  const passed = interrupted.length === 0 &&
    jobs.every(({ finished }) => finished.state !== "failed" && !finished.blocked);
  const coverage = mergeCoverage([...counted]);
  const runId = run.run;
  function* events(): Iterator<RunEvent> {
    const totals = new RunTotals();
    for (const event of unendedEvents(run, from, [...counted], jobs)) {
      totals.take(event);
      yield { ...event, runId };
    }
    yield {
      type: "run_finished",
      runId,
      time: to,
      duration: to - from,
      state: passed ? "passed" : "failed",
      ...interrupted.length === 0 ? {} : { interrupted: interrupted.join("; ") },
      ...totals.all(),
      ...coverage.length === 0 ? {} : { coverage },
      ...run.leftOut === 0 ? {} : { leftOut: run.leftOut },
    };
  }
  return { events: { [Symbol.iterator]: events }, passed, warnings: [...new Set(warnings)] };
}

function partOf({ header }: Piece): number {
  return header.part?.index ?? 1;
}

function partsOf([piece]: readonly Piece[]): number {
  return piece?.header.part?.of ?? 1;
}

/** Whether all parts of a job have come to their end. */
function isWhole(id: string, pieces: readonly Piece[]): boolean {
  return new Set(pieces.map(partOf)).size === partsOf(pieces) &&
    pieces.every(({ jobs }) => jobs.get(id)?.finished);
}

function mergeJobs(
  { jobs, vars }: RunFile,
  piecesOf: ReadonlyMap<string, readonly Piece[]>,
  ended: number,
  secrets: Masker,
): readonly MergedJob[] {
  const merged = new Map<string, MergedJob>();
  const merge = (job: RunFileJob): MergedJob => {
    const known = merged.get(job.id);
    if (known) return known;
    const needs = job.needs.flatMap((id) => jobs.find((other) => other.id === id) ?? []).map(merge);
    const pieces = piecesOf.get(job.id)!;
    const starts = pieces.flatMap(({ jobs }) => jobs.get(job.id)?.started ?? []);
    const started = starts.sort((a, b) => a.time - b.time)[0];
    const load = started?.load && partsOf(pieces) > 1
      ? mergeLoad(
        job.id,
        pieces,
        started.load,
        isWhole(job.id, pieces) ? job.expect ?? [] : undefined,
        vars,
      )
      : undefined;
    const finished = pieces.length === 0
      ? finishWithoutPiece(job, needs, ended)
      : finishOf(job, pieces, vars, secrets, load);
    // Each part says how many of the rounds are its own.
    const { rounds } = job;
    const whole = started && { ...started, ...rounds === undefined ? {} : { rounds } };
    const result = { job, pieces, finished, load, ...whole ? { started: whole } : {} };
    merged.set(job.id, result);
    return result;
  };
  return jobs.map(merge);
}

/** Engines do not start what another job blocks. */
function finishWithoutPiece(
  job: RunFileJob,
  needs: readonly MergedJob[],
  time: number,
): JobFinished {
  if (job.skip) return skipOf(job, time, "--skip", false);
  const skipped = skippedJob(job, needs.map(({ finished }) => finished), time);
  if (skipped) return skipped;
  const message = "no piece of this job came back: its machine was lost, or it never started";
  return { ...skipOf(job, time), state: "failed", failures: [lost(message)] };
}

/** The end of a job that its needs keep from starting; undefined if it starts. */
export function skippedJob(
  job: RunFileJob,
  needs: readonly JobFinished[],
  time: number,
): JobFinished | undefined {
  const decision = conditionOf(job)(
    needs.map(({ job, name, state, blocked }) => ({
      ...{ title: titleOf(job, name), state },
      ...blocked ? { blocked } : {},
    })),
  );
  if (decision.starts) return undefined;
  return skipOf(job, time, decision.reason, !decision.onPurpose);
}

/** The end of a job that did not start. */
export function skipOf(
  { id, name }: RunFileJob,
  time: number,
  reason?: string,
  blocked = false,
): JobFinished {
  return {
    ...{ type: "job_finished", runId: "", time, job: id, name, state: "skipped", duration: 0 },
    ...reason === undefined ? {} : { reason },
    ...blocked ? { blocked } : {},
    failures: [],
  };
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
  pieces: readonly Piece[],
  vars: Dict,
  secrets: Masker,
  load: MergedLoad | undefined,
): JobFinished {
  const ends = pieces.flatMap(({ jobs }) => jobs.get(id)?.finished ?? []);
  const of = partsOf(pieces);
  const parts = new Set(pieces.map(partOf));
  const missing = Array.from({ length: of }, (_, at) => at + 1).filter((at) => !parts.has(at));
  const torn = pieces.filter(({ jobs }) => !jobs.get(id)?.finished);
  const isSplit = of > 1 && missing.length + torn.length === 0;
  const failures = [
    ...isSplit && load ? failuresOf(load.errors, "load.expect", secrets) : [],
    ...distinctOf(ends.flatMap((end) => end.failures)),
    ...missing.map((at) => lost(`part ${at} of ${of} did not come back`)),
    ...torn.map(({ file }) => lost(endsInTheMiddle(file))),
  ];
  const worst = STATES.find((state) => ends.some((end) => end.state === state));
  const end = ends.find(({ state }) => state === worst);
  const isLost = missing.length + torn.length > 0;
  const isKnown = !isLost && (ends.some(({ known }) => known) ||
    isSplit && failures.length > 0 && allowFailure !== undefined && isAllowed(allowFailure, vars));
  const hasFailed = isLost || failures.length > 0 && !isKnown;
  const from = Math.min(...pieces.map(({ jobs, began }) => jobs.get(id)?.started?.time ?? began));
  const time = Math.max(...pieces.map(({ jobs, ended }) => jobs.get(id)?.finished?.time ?? ended));
  return {
    type: "job_finished",
    runId: "",
    time,
    job: id,
    name: end?.name ?? name,
    state: hasFailed ? "failed" : worst!,
    duration: ends.length === 1 && !isLost ? end!.duration : time - from,
    ...isLost || end?.reason === undefined ? {} : { reason: end.reason },
    ...!isLost && end?.blocked ? { blocked: true } : {},
    failures,
    ...isKnown && worst === "passed" ? { known: true as const } : {},
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
  return errors.map(({ cause }) => {
    if (!(cause instanceof RunnerError)) throw cause;
    const hint = cause.hint === undefined ? {} : { hint: cause.hint };
    return { kind: "action", field, message: secrets.mask(cause.message), ...hint };
  });
}

/** The clocks of machines are not corrected, since nobody knows which of them is right. */
function clockWarnings(jobs: readonly MergedJob[]): readonly string[] {
  const byId = new Map(jobs.map((merged) => [merged.job.id, merged]));
  return jobs.flatMap(({ job, started }) =>
    job.needs.flatMap((id) => {
      const { job: need, finished, pieces = [] } = byId.get(id) ?? {};
      if (
        !need || !started || !finished || pieces.length === 0 || finished.state !== "passed"
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
  return jobs.flatMap(({ job, pieces, load }) => {
    const { id, pace } = job;
    const starts = pieces.flatMap(({ jobs }) => jobs.get(id)?.started?.time ?? []);
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

/** All events but the last. */
function* unendedEvents(
  { workflow, jobs: outline }: RunFile,
  time: number,
  ...args: Parameters<typeof inOrder>
): Iterable<RunEvent> {
  const { name, description, file } = workflow;
  yield {
    type: "run_started",
    runId: "",
    time,
    name,
    ...description === undefined ? {} : { description },
    file,
    jobs: outlineOf({ jobs: outline }),
  };
  yield* inOrder(...args);
}
