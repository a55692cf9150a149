import { roundDuration } from "../../base/value/duration.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Scope } from "../../expr/expression.ts";
import type { PlannedJob } from "../../plan/plan.ts";
import type { Job } from "../../workflow/model.ts";
import { FLAKY, mayPass, namesOfMatrix } from "../../workflow/step_facts.ts";
import { roundsOf } from "../count_steps.ts";
import type { Failure, JobFinished } from "../event.ts";
import type { LoadPlan } from "../load/plan_load.ts";
import { type JobOutcome, Round, type RoundStart, type Run } from "../run_state.ts";
import { compiledSteps } from "./compiled_step.ts";
import { FieldError, FieldErrors, isMistake, isTrue } from "./evaluate_field.ts";
import { runRound } from "./flight.ts";
import { cancelIfFailFast } from "./run_step.ts";

/** Runs a job in all its rounds. */
export async function runJob(
  run: Run,
  planned: PlannedJob,
  needs: Dict = {},
): Promise<JobOutcome> {
  const { clock } = run.host;
  const ticks = clock.ticks();
  const { job, name, nameError, skip } = planned;
  const { load: longest } = run.options;
  const hasLoad = job.load !== undefined && longest !== "off" && skip === undefined;
  const load = hasLoad ? await planOf(run, job, needs, longest) : undefined;
  run.emit({
    type: "job_started",
    time: clock.now(),
    job: job.id,
    name,
    rounds: job.repeat && roundsOf(job.repeat.count, run.options.piece?.header.part),
    load: load instanceof Error ? undefined : load?.outline,
  });
  const failures: Failure[] = [];
  let outcome: JobOutcome = { state: "failed" };
  let allowsFailure = false;
  const mistakes = { count: 0 };
  try {
    allowsFailure = skip === undefined && isFailureAllowed(run, job, needs);
    if (skip === undefined && nameError !== undefined) throw new FieldError(["name"], nameError);
    if (load instanceof Error) throw load;
    const jobRun = allowsFailure ? run.with({ allowsFailure, mistakes }) : run;
    outcome = skip === undefined
      ? await runUnlessSkipped(jobRun, job, needs, load)
      : { state: "skipped", reason: skip };
  } catch (error) {
    for (const one of error instanceof FieldErrors ? error.errors : [error]) {
      if (isMistake(one)) mistakes.count++;
      failures.push(await run.failureOf({ run, job }, one));
    }
  }
  const known = allowsFailure && outcome.state === "failed" && !run.cancellation.reason &&
    mistakes.count === 0;
  if (known) {
    outcome = { ...outcome, state: "passed" };
  } else if (
    allowsFailure && outcome.state === "passed" && !job.repeat && !hasLoad &&
    !mayPass(job.allowFailure!)
  ) {
    run.note("warning", `the job "${name}" passed, so its "allow_failure" can go`);
  }
  if (outcome.state === "failed") cancelIfFailFast(run, job);
  const duration = roundDuration(clock.ticks() - ticks);
  finishJob(run, planned, outcome, { duration, failures, known: known || undefined });
  return outcome;
}

/** Reports the outcome of a job. */
export function finishJob(
  run: Run,
  { job, name }: PlannedJob,
  { state, reason, blocked }: JobOutcome,
  rest: Pick<JobFinished, "duration" | "failures" | "known">,
): void {
  const time = run.host.clock.now();
  run.emit({
    type: "job_finished",
    time,
    job: job.id,
    name,
    state,
    reason,
    blocked,
    ...rest,
  });
}

/** Whether a failure of a job is known. */
function isFailureAllowed(run: Run, job: Job, needs: Dict): boolean {
  const { id, allowFailure } = job;
  if (!allowFailure) return false;
  const seen = { vars: run.vars, outputs: run.outputs.view, needs, ...namesOfMatrix(job) };
  const scope = run.makeScope({ ...seen, [FLAKY]: true }, { label: `allow_failure of ${id}` });
  return isTrue(allowFailure, scope, "allow_failure");
}

async function runUnlessSkipped(
  run: Run,
  job: Job,
  needs: Dict,
  load: LoadPlan | undefined,
): Promise<JobOutcome> {
  const { skipif, repeat } = job;
  const seen = { needs, ...namesOfMatrix(job) };
  const names = { vars: run.vars, outputs: run.outputs.view, ...seen };
  const scope = run.makeScope(names, { label: `skipif of ${job.id}` });
  if (skipif && isTrue(skipif, scope, "skipif")) {
    return { state: "skipped", reason: `skipif is true: ${skipif.source.trim()}` };
  }
  const start = { run, job, outputs: run.outputs, names: seen };
  const steps = compiledSteps(run.resources, job);
  const state = load
    ? await (await import("../load/run_load.ts")).runLoad(start, steps, load, scope)
    : repeat
    ? await (await import("../load/run_repeat.ts")).runRepeat(start, steps, repeat, scope)
    : await runRound(new Round(job.load ? await withoutLoad(start, scope) : start), steps);
  if (state !== "skipped") return { state };
  return { state, reason: `stopped: ${run.draining.reason}`, blocked: true };
}

/** What a load job is to do; an error where that cannot be evaluated. */
async function planOf(
  run: Run,
  job: Job,
  needs: Dict,
  longest: number | undefined,
): Promise<LoadPlan | FieldError> {
  const { planLoad } = await import("../load/plan_load.ts");
  const names = { vars: run.vars, outputs: run.outputs.view, needs, ...namesOfMatrix(job) };
  try {
    return planLoad(
      job,
      run.makeScope(names, { label: `load of ${job.id}` }),
      run.host.env,
      longest,
    );
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
}

/** The only round of a load job with `--load off`. */
async function withoutLoad(start: RoundStart, scope: Scope): Promise<RoundStart> {
  const { namesOfOnlyRound } = await import("../load/run_load.ts");
  return { ...start, names: { ...start.names, ...await namesOfOnlyRound(start, scope) } };
}
