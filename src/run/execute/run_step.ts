import type { Path } from "../../base/source.ts";
import { roundDuration } from "../../base/value/duration.ts";
import { type Dict, isDict, mergeDicts, type Value } from "../../base/value/value.ts";
import type { DataTemplate, Expression } from "../../expr/expression.ts";
import { renderData } from "../../expr/template.ts";
import { addSecretsOf } from "../../secrets/find_secrets.ts";
import type { Job } from "../../workflow/model.ts";
import { FLAKY, keysOf, markCleanup, mayPass, titleOfJob } from "../../workflow/step_facts.ts";
import type {
  Attempt,
  BareEvent,
  Failure,
  JobState,
  StepFinished,
  TraceContext,
} from "../event.ts";
import {
  type Entry,
  type Round,
  type RunExecution,
  type RunOptions,
  StepExecution,
} from "../run_state.ts";
import { hasFailed } from "../step_trees.ts";
import type { CompiledStep } from "./compiled_step.ts";
import { evaluateDuration, inField, isTrue } from "./evaluate_field.ts";
import { pause, runOneAttempt, type StepOutcome } from "./conclude_step.ts";

/** Emits the events of a step, or of an entry of its iteration, that does not start. */
export function skipStep(
  round: Round,
  compiled: CompiledStep,
  entry?: Entry,
  reason = `not started: ${round.run.draining.reason}`,
): void {
  const { run } = round;
  const step = new StepExecution(round, compiled, entry);
  const { model, started } = step;
  const uses = model.action.name;
  const name = nameOfSkipped(step);
  run.emit({ type: "step_started", time: started, run: step.id, name, uses });
  const outcome = { state: "skipped", attempts: [], failures: [], reason } as const;
  const position = run.positionOf?.(model);
  const result = { name, uses, place: position, started, duration: 0, ...outcome };
  run.emit({ type: "step_finished", time: started, run: step.id, result });
}

/** The name of a step, with … for values of steps that did not run. */
function nameOfSkipped(step: StepExecution): string {
  const { model, entry, round: { job } } = step;
  const known = model.name?.parts.map((part) => typeof part === "string" ? part : "…").join("");
  const written = markCleanup(job, model, known?.trim() || model.action.name);
  // All entries of a step have one name then, which reads no entry.
  if (model.iteration && !entry) return written;
  try {
    evaluateVars(step);
    return evaluateName(step);
  } catch {
    return written;
  }
}

/**
 * Sets `vars`: those of the workflow, then of the step, then of the entry. Those of the step see
 * the entry, unless its templates may read them.
 */
export function evaluateVars(step: StepExecution): Dict {
  const { run, model, entry } = step;
  let vars = step.names.vars as Dict;
  if (!model.vars && !entry) return vars;
  const { req: _, res: __, rt: ___, status: ____, ...names } = step.names;
  const evaluate = (template: DataTemplate, field: Path): Dict => {
    const scope = { ...step.scope, names: { ...names, vars } };
    const value = inField(field, () => renderData(template, scope)) as Value;
    const added = isDict(value) ? value : { item: value };
    addSecretsOf(added, run.secrets);
    return added;
  };
  const row = () => entry && evaluate(entry.template, ["iteration", entry.index]);
  const own = model.vars ? keysOf(model.vars) : [];
  const sees = own.length > 0 && !mentions(entry?.template, own);
  let values = sees ? row() : undefined;
  if (values) vars = mergeDicts(vars, values);
  for (const part of partsOfVars(step)) {
    try {
      vars = mergeDicts(vars, evaluate(part, ["vars"]));
    } catch (error) {
      // What finds the entries cannot see what reads one.
      if (entry || !model.iteration) throw error;
    }
  }
  values ??= row();
  if (values) vars = mergeDicts(vars, values);
  step.names.vars = vars;
  return vars;
}

/** The vars of the step itself: one by one, where the entries are not known yet. */
function partsOfVars(
  { model: { vars, iteration }, entry }: StepExecution,
): readonly DataTemplate[] {
  if (!vars) return [];
  if (entry || !iteration || vars.kind !== "map") return [vars];
  return vars.entries.map((each) => ({ kind: "map", entries: [each] }));
}

/** Whether a template of an entry may read vars with these names. */
function mentions(template: DataTemplate | undefined, names: readonly string[]): boolean {
  switch (template?.kind) {
    case "template":
      return names.some((name) => template.template.source.includes(name));
    case "list":
      return template.items.some((item) => mentions(item, names));
    case "map":
      return template.entries.some(([, value]) => mentions(value, names));
    default:
      return false;
  }
}

/** The name for reports; if it is empty, that of the action. */
function evaluateName({ compiled, model, round: { job }, scope }: StepExecution): string {
  if (compiled.name !== undefined) return compiled.name;
  const { name, action } = model;
  const text = inField(["name"], () => name!.renderText(scope, { display: true })).trim();
  return markCleanup(job, model, text || action.name);
}

/** The combined state of two parts of a job. */
export function combineStates(a: JobState, b: JobState): JobState {
  if (a === "failed" || b === "failed") return "failed";
  return a === "skipped" ? a : b;
}

/** The state of a step that has run. */
type EndState = "passed" | "failed";

/** Runs a step, or an entry of it, once: at once, or as a promise where it waits for something. */
export function runOnce(
  round: Round,
  compiled: CompiledStep,
  entry?: Entry,
): EndState | Promise<EndState> {
  const step = new StepExecution(round, compiled, entry);
  try {
    if (entry?.fault !== undefined) throw entry.fault;
    evaluateVars(step);
    step.name = evaluateName(step);
  } catch (error) {
    return failBeforeStart(step, error);
  }
  emitStarted(step);
  const { model: { skipif, wait, retry }, scope } = step;
  const end = (outcome: StepOutcome) => endOrPause(step, outcome);
  try {
    if (skipif && isTrue(skipif, scope, "skipif")) {
      const reason = `skipif is true: ${skipif.source.trim()}`;
      return end({ state: "skipped", attempts: [], failures: [], reason });
    }
  } catch (error) {
    return failStep(step, error);
  }
  return wait || retry
    ? runSlowly(step).then(end, (error) => failStep(step, error))
    : runOneAttempt(step, end);
}

/** Runs a step that waits for a time or for a better result. */
async function runSlowly(step: StepExecution): Promise<StepOutcome> {
  const { model: { wait, retry }, scope } = step;
  const carryOut = async () =>
    retry
      ? await (await import("./run_attempts.ts")).runAttempts(step, retry)
      : await runOneAttempt(step, (outcome) => outcome);
  if (!wait) return await carryOut();
  const milliseconds = evaluateDuration(wait, scope, ["wait"]);
  await pause(step, milliseconds, "wait");
  return { ...await carryOut(), wait: milliseconds };
}

function emitStarted({ run, id, name, model, started }: StepExecution): void {
  run.emit({ type: "step_started", time: started, run: id, name, uses: model.action.name });
}

/** Ends a step whose vars or name cannot be evaluated. */
async function failBeforeStart(step: StepExecution, error: unknown): Promise<EndState> {
  const failures = [await step.failureOf(error)];
  const { compiled, model, round: { job } } = step;
  if (compiled.name === undefined) step.name = markCleanup(job, model, step.name);
  emitStarted(step);
  return await endOrPause(step, failed(failures));
}

async function failStep(step: StepExecution, error: unknown): Promise<EndState> {
  return await endOrPause(step, failed([await step.failureOf(error)]));
}

function failed(failures: readonly Failure[]): StepOutcome {
  return { state: "failed", attempts: [], failures };
}

/** Ends a step; one that has failed may pause before that, to ask how to go on. */
function endOrPause(step: StepExecution, outcome: StepOutcome): EndState | Promise<EndState> {
  const { allowFailure } = step.model;
  return allowFailure
    ? judgeKnown(step, allowFailure, outcome).then((judged) => endUnlessAsked(step, judged))
    : endUnlessAsked(step, outcome);
}

/** The outcome of a step that may have `allow_failure`. */
async function judgeKnown(
  step: StepExecution,
  allowFailure: Expression,
  outcome: StepOutcome,
): Promise<StepOutcome> {
  const { run, id } = step;
  try {
    const scope = { ...step.scope, names: { ...step.names, [FLAKY]: true } };
    if (outcome.state === "skipped" || !isTrue(allowFailure, scope, "allow_failure")) {
      return outcome;
    }
  } catch (error) {
    const failures = [...outcome.failures, await step.failureOf(error)];
    return { ...outcome, state: "failed", failures };
  }
  if (outcome.state === "failed") {
    const isAllowed = !run.cancellation.reason && !step.hasMistake;
    return isAllowed ? { ...outcome, state: "allowed", allowFailure: true } : outcome;
  }
  // Of several runs, others may still fail.
  if (id.round === undefined && id.entry === undefined && !mayPass(allowFailure)) {
    run.note("warning", 'it passed, so its "allow_failure" can go', step);
  }
  return outcome;
}

function endUnlessAsked(step: StepExecution, outcome: StepOutcome): EndState | Promise<EndState> {
  const { run } = step;
  const isAsked = outcome.state === "failed" && run.options.onFailedStep && !run.isEmbedded &&
    !run.allowsFailure && !run.cancellation.reason;
  return isAsked ? pauseAfterFailure(step, outcome) : endStep(step, outcome);
}

async function pauseAfterFailure(step: StepExecution, outcome: StepOutcome): Promise<EndState> {
  const { askAfterFailure } = await import("./ask_after_failure.ts");
  const decision = await askAfterFailure(step, finishedEvent(step, outcome));
  if (decision === "repeat") {
    step.forgetResponse();
    if (step.trace) step.openSpan(step.trace);
    return await runSlowly(step).then(
      (again) => endOrPause(step, afterAttempts(outcome.attempts, again)),
      (error) => failStep(step, error),
    );
  }
  if (decision === "stop") step.run.draining.cancel(`stopped after "${step.name}" failed`);
  return await endStep(step, outcome);
}

/** The outcome of a step that was run again, with its attempts before that. */
function afterAttempts(before: readonly Attempt[], outcome: StepOutcome): StepOutcome {
  const attempts = [...before, ...outcome.attempts]
    .map((attempt, index) => ({ ...attempt, number: index + 1 }));
  return {
    ...outcome,
    attempts,
    maxAttempts: attempts.length,
    flaky: outcome.state === "failed" ? undefined : true,
  };
}

/** Closes what is open in a step, and reports its outcome. */
function endStep(step: StepExecution, outcome: StepOutcome): EndState | Promise<EndState> {
  const { run, open } = step;
  return open ? run.close(open).then(() => reportStep(step, outcome)) : reportStep(step, outcome);
}

function reportStep(step: StepExecution, outcome: StepOutcome): EndState {
  const { run, round, compiled, model, name } = step;
  const { state } = outcome;
  if (compiled.publishes && (hasFailed(outcome) || state === "skipped")) {
    // Those after it in its round may read what it has not published.
    const why = state === "skipped" ? state : "failed";
    const failure = { step: model, run: step.id, name, state: why } as const;
    round.failures.upstream = [...round.failures.upstream, failure];
  }
  run.emit(finishedEvent(step, outcome));
  if (state !== "failed") return "passed";
  round.failures.count++;
  if (step.hasMistake) run.mistakes.count++;
  if (!run.allowsFailure) cancelIfFailFast(run, round.job);
  return "failed";
}

function finishedEvent(
  { run, id, model, name, started, ticks, hasMistake, trace }: StepExecution,
  outcome: StepOutcome,
): BareEvent<StepFinished> {
  const { clock } = run.host;
  const { statisticsDecide } = run;
  const allowsFailure = run.allowsFailure && !hasMistake;
  const isAllowed = outcome.state === "failed" && (statisticsDecide || allowsFailure) &&
    !run.cancellation.reason;
  // That of a step that embeds a job, not those inside of it.
  const isByStep = isAllowed && allowsFailure && !run.isEmbedded;
  const result = {
    name,
    uses: model.action.name,
    place: run.positionOf?.(model),
    started,
    duration: roundDuration(clock.ticks() - ticks),
    ...outcome,
    trace: trace && outcome.state === "failed" ? linked(trace, run.options) : trace,
    ...isAllowed ? { state: "allowed" as const } : {},
    ...isByStep ? { allowFailure: true as const } : {},
  };
  return { type: "step_finished", time: clock.now(), run: id, result };
}

/** The place in its trace of a step that failed, with the address of the trace. */
function linked(trace: TraceContext, { trace: { url } = {} }: RunOptions): TraceContext {
  return url ? { ...trace, url: url.replaceAll("{id}", trace.id) } : trace;
}

/** Called after a step or a job failed for good: with `--fail-fast`, nothing new starts. */
export function cancelIfFailFast({ failFast, draining }: RunExecution, job: Job): void {
  if (failFast) draining.cancel(`--fail-fast after "${titleOfJob(job)}" failed`);
}
