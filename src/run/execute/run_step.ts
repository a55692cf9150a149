import { roundDuration } from "../../base/value/duration.ts";
import { markCleanup } from "../../workflow/mark_cleanup.ts";
import type { Duration, Step } from "../../workflow/model.ts";
import { evaluateDuration, isTrue } from "./evaluate_field.ts";
import type { Failure, JobState } from "../event.ts";
import { failureOf } from "../failure/lazy_failures.ts";
import { type Outcome, pause, runAttempts } from "./run_attempts.ts";
import type { Session } from "../session.ts";
import {
  closeScope,
  type Entry,
  evaluateName,
  evaluateStepVars,
  makeStepContext,
  type Round,
  type StepContext,
  type UpstreamFailure,
} from "./step_context.ts";

/** Emits the events of a step, or of an entry of its iteration, that does not start. */
export function skipStep(
  session: Session,
  round: Round,
  step: Step,
  entry?: Entry,
  reason = `not started: ${session.draining.reason}`,
): void {
  const { emit, tally, host: { clock } } = session;
  const uses = step.action.name;
  const context = makeStepContext(session, round, step, entry);
  const { run } = context;
  const name = markCleanup(round.job, step, nameOf(session, context, entry) || uses);
  const started = clock.now();
  tally.steps.skipped++;
  emit({ type: "step_started", time: started, run, name, uses });
  const outcome = { state: "skipped", attempts: [], failures: [], reason } as const;
  const place = session.spotOf?.(step);
  const result = { name, uses, ...place ? { place } : {}, started, duration: 0, ...outcome };
  emit({ type: "step_finished", time: started, run, result });
}

/** The name of a step; its template as it is written where that needs what did not run. */
function nameOf(session: Session, context: StepContext, entry: Entry | undefined): string {
  const written = context.step.name?.source.trim() ?? "";
  // All entries of a step have one name then, which reads no entry.
  if (context.step.iteration && !entry) return written;
  try {
    context.names.vars = evaluateStepVars(session, context);
    return evaluateName(context);
  } catch {
    return written;
  }
}

/** The combined state of two parts of a job. */
export function combineStates(a: JobState, b: JobState): JobState {
  if (a === "failed" || b === "failed") return "failed";
  return a === "skipped" ? a : b;
}

/** Runs a step, or an entry of it, once. */
export async function runOnce(
  session: Session,
  round: Round,
  step: Step,
  entry?: Entry,
): Promise<"passed" | "failed"> {
  const { clock } = session.host;
  const context = makeStepContext(session, round, step, entry);
  const { run } = context;
  const uses = step.action.name;
  const started = clock.now();
  const ticks = clock.ticks();
  let name = step.name?.source ?? uses;
  const failures: Failure[] = [];
  try {
    if (entry?.fault !== undefined) throw entry.fault;
    context.names.vars = evaluateStepVars(session, context);
    name = evaluateName(context) || uses;
  } catch (error) {
    failures.push(await failureOf(session, context, error));
  }
  name = markCleanup(round.job, step, name);
  session.emit({ type: "step_started", time: started, run, name, uses });
  let outcome: Outcome = { state: "failed", attempts: [], failures };
  try {
    if (failures.length === 0) outcome = await runUnlessSkipped(session, context, name);
  } catch (error) {
    failures.push(await failureOf(session, context, error));
  }
  await closeScope(session, context.resources.step);
  const { state: judged } = outcome;
  if (judged === "failed" || judged === "skipped") {
    rememberUpstream(round, { step, run, name, state: judged });
  }
  if (judged === "failed" && session.toleratesFailures && !session.cancellation.reason) {
    outcome = { ...outcome, state: "tolerated" };
  }
  session.tally.steps[outcome.state]++;
  if (outcome.untested !== undefined) session.tally.untestedFailures++;
  if (outcome.flaky) session.tally.flaky++;
  countAssertions(session, outcome);
  if (outcome.untestedInside) session.tally.untestedFailures += outcome.untestedInside;
  const duration = roundDuration(clock.ticks() - ticks);
  const place = session.spotOf?.(step);
  const result = { name, uses, ...place ? { place } : {}, started, duration, ...outcome };
  session.emit({ type: "step_finished", time: clock.now(), run, result });
  if (judged !== "failed") return "passed";
  round.count.failed++;
  cancelIfFailFast(session, round.job.id);
  return "failed";
}

function countAssertions({ tally }: Session, { assertions }: Outcome): void {
  if (!assertions) return;
  tally.assertions.passed += assertions.passed;
  tally.assertions.failed += assertions.failed;
}

/** Remembers a step that may not have published what those after it in its round read. */
function rememberUpstream({ upstreamFailures }: Round, failure: UpstreamFailure): void {
  const { id, outputs } = failure.step;
  if (id !== undefined && outputs.length > 0) upstreamFailures.push(failure);
}

/** Called after a step or a job failed for good: with `--fail-fast`, nothing new starts. */
export function cancelIfFailFast({ failFast, draining }: Session, job: string): void {
  if (failFast) draining.cancel(`--fail-fast after "${job}" failed`);
}

function runUnlessSkipped(
  session: Session,
  context: StepContext,
  name: string,
): Outcome | Promise<Outcome> {
  const { step: { skipif, wait }, scope } = context;
  if (skipif && isTrue(skipif, scope, "skipif")) {
    const reason = `skipif is true: ${skipif.source.trim()}`;
    return { state: "skipped", attempts: [], failures: [], reason };
  }
  return wait ? runAfter(wait, session, context, name) : runAttempts(session, context, name);
}

async function runAfter(
  wait: Duration,
  session: Session,
  context: StepContext,
  name: string,
): Promise<Outcome> {
  const milliseconds = evaluateDuration(wait, context.scope, ["wait"]);
  await pause(session, context.run, milliseconds, "wait");
  return { ...await runAttempts(session, context, name), wait: milliseconds };
}
