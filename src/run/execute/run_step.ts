import { roundDuration } from "../../base/value/duration.ts";
import { markCleanup } from "../../workflow/step_facts.ts";
import type { Step } from "../../workflow/model.ts";
import type { Failure, JobState } from "../event.ts";
import { type Entry, type Round, type Run, StepExecution } from "../run_state.ts";
import { evaluateDuration, isTrue } from "./evaluate_field.ts";
import { type AttemptsResult, pause, runAttempts } from "./run_attempts.ts";

/** Emits the events of a step, or of an entry of its iteration, that does not start. */
export function skipStep(
  round: Round,
  model: Step,
  entry?: Entry,
  reason = `not started: ${round.run.draining.reason}`,
): void {
  const { run } = round;
  const step = new StepExecution(round, model, entry);
  const uses = model.action.name;
  const name = markCleanup(round.job, model, nameOfSkipped(step) || uses);
  const started = run.host.clock.now();
  run.emit({ type: "step_started", time: started, run: step.id, name, uses });
  const outcome = { state: "skipped", attempts: [], failures: [], reason } as const;
  const position = run.positionOf?.(model);
  const result = { name, uses, place: position, started, duration: 0, ...outcome };
  run.emit({ type: "step_finished", time: started, run: step.id, result });
}

/** The name of a step; its template as it is written where that needs what did not run. */
function nameOfSkipped(step: StepExecution): string {
  const { model, entry } = step;
  const written = model.name?.source.trim() ?? "";
  // All entries of a step have one name then, which reads no entry.
  if (model.iteration && !entry) return written;
  try {
    step.evaluateVars();
    return step.evaluateName();
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
  round: Round,
  model: Step,
  entry?: Entry,
): Promise<"passed" | "failed"> {
  const { run } = round;
  const { clock } = run.host;
  const step = new StepExecution(round, model, entry);
  const uses = model.action.name;
  const started = clock.now();
  const ticks = clock.ticks();
  const failures: Failure[] = [];
  try {
    if (entry?.fault !== undefined) throw entry.fault;
    step.evaluateVars();
    step.name = step.evaluateName() || uses;
  } catch (error) {
    failures.push(await step.failureOf(error));
  }
  const name = step.name = markCleanup(round.job, model, step.name);
  run.emit({ type: "step_started", time: started, run: step.id, name, uses });
  let outcome: AttemptsResult = { state: "failed", attempts: [], failures };
  try {
    if (failures.length === 0) outcome = await runUnlessSkipped(step);
  } catch (error) {
    failures.push(await step.failureOf(error));
  }
  await run.close(step.resources.step);
  const { state } = outcome;
  if (state === "failed" || state === "skipped") {
    // Those after it in its round may read what it has not published.
    const publishes = model.id !== undefined && model.outputs.length > 0;
    if (publishes) round.upstreamFailures.push({ step: model, run: step.id, name, state });
  }
  if (state === "failed" && run.toleratesFailures && !run.cancellation.reason) {
    outcome = { ...outcome, state: "tolerated" };
  }
  const duration = roundDuration(clock.ticks() - ticks);
  const position = run.positionOf?.(model);
  const result = { name, uses, place: position, started, duration, ...outcome };
  run.emit({ type: "step_finished", time: clock.now(), run: step.id, result });
  if (state !== "failed") return "passed";
  round.count.failed++;
  cancelIfFailFast(run, round.job.id);
  return "failed";
}

async function runUnlessSkipped(step: StepExecution): Promise<AttemptsResult> {
  const { model: { skipif, wait }, scope } = step;
  if (skipif && isTrue(skipif, scope, "skipif")) {
    const reason = `skipif is true: ${skipif.source.trim()}`;
    return { state: "skipped", attempts: [], failures: [], reason };
  }
  if (!wait) return await runAttempts(step);
  const milliseconds = evaluateDuration(wait, scope, ["wait"]);
  await pause(step, milliseconds, "wait");
  return { ...await runAttempts(step), wait: milliseconds };
}

/** Called after a step or a job failed for good: with `--fail-fast`, nothing new starts. */
export function cancelIfFailFast({ failFast, draining }: Run, job: string): void {
  if (failFast) draining.cancel(`--fail-fast after "${job}" failed`);
}
