import { countOf } from "../../base/text/count_of.ts";
import { makeLevels } from "../../dag/dag.ts";
import type { DataTemplate, Expression, Template } from "../../expr/expression.ts";
import {
  fieldsOf,
  isKnown,
  type Knowledge,
  knownValue,
  learnVars,
  type Preview,
  previewData,
  previewExpression,
  previewStep,
  previewTemplate,
  type StepPreview,
  withoutVars,
} from "../../plan/preview.ts";
import { idsOfNeeds, type Plan, type PlannedJob } from "../../plan/plan.ts";
import { namesOfMatrix } from "../../workflow/step_facts.ts";
import { addSecretsOf, addSecretValue } from "../../secrets/add_secrets.ts";
import { oneLine, printable } from "../../base/text/printable.ts";
import { formatDuration, parseDuration } from "../../base/value/duration.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { Value } from "../../base/value/value.ts";
import { STEP_TIMEOUT } from "../../workflow/decode/fields.ts";
import { assertNever } from "../../base/errors.ts";
import type {
  Assertion,
  Duration,
  Iteration,
  Load,
  LoadStage,
  Repeat,
  Retry,
} from "../../workflow/model.ts";
import { hidePreviewSecrets, indent, renderPreview } from "./render_preview.ts";

/** The input of a dry run. */
interface DryRun {
  readonly plan: Plan;
  /** The vars of the workflow as they were before they were evaluated, and what they see. */
  readonly vars: DataTemplate;
  readonly environment: Readonly<Record<string, string>>;
  /** Learns the secrets that come up. */
  readonly secrets: Masker;
}

/** Describes what a run would do, as far as that is known beforehand. */
export function renderDryRun({ plan, vars, environment, secrets }: DryRun): string {
  const { workflow, jobs } = plan;
  const addSecret = (value: Value) => addSecretValue(value, secrets);
  plan.secrets.forEach(addSecret);
  const shownVars = previewData(vars, {
    scope: { names: environment, strict: false, addSecret },
    openVars: new Set(),
  });
  const scope = { names: { vars: {} }, strict: true, addSecret };
  const nothing = { scope, openVars: new Set<string>() };
  const known = learnVars(nothing, shownVars);
  // Nothing is printed before all secrets are known.
  addSecretsOf(environment, secrets);
  const previews = jobs.map((job) => previewJob(job, known, secrets));
  addSecretsIn(shownVars, secrets);
  const mask = (text: string) => secrets.mask(text);
  const levels = makeLevels(jobs);
  const depth = Math.max(0, ...levels.values()) + 1;
  const lines = [
    shown(mask(workflow.name)),
    ...(workflow.description ? [mask(workflow.description.trim())] : []),
    "",
    `dry run: ${countJobs(plan)} in ${countOf(depth, "level")}, nothing was run`,
    "",
    ...renderFields("vars", shownVars, mask),
  ];
  for (let level = 0; level < depth; level++) {
    lines.push(...(lines.at(-1) === "" ? [] : [""]), `level ${level + 1}`);
    for (const preview of previews) {
      if (levels.get(preview.planned) === level) {
        lines.push("", ...indent(renderJob(preview, mask)));
      }
    }
  }
  return printable(lines.join("\n") + "\n");
}

type Mask = (text: string) => string;

interface JobPreview {
  readonly planned: PlannedJob;
  readonly known: Knowledge;
  readonly steps: readonly StepPreview[];
}

function previewJob(planned: PlannedJob, vars: Knowledge, secrets: Masker): JobPreview {
  const { job } = planned;
  const { scope } = vars;
  const inJob = { ...scope.names, ...namesOfMatrix(job) };
  const known = { ...vars, scope: { ...scope, names: inJob } };
  const names = { ...inJob, ...(job.repeat || job.load ? {} : { repeat_index: 0 }) };
  const inStep = { ...vars, scope: { ...scope, names } };
  // Each round has other rows.
  const inSteps = job.load?.data ? withoutVars(inStep) : inStep;
  const steps = job.steps.map((step) => withoutSecrets(previewStep(step, inSteps), secrets));
  return { planned, known, steps };
}

/** A step of whose parameters no secret is shown; what comes up in them is secret elsewhere too. */
function withoutSecrets(preview: StepPreview, secrets: Masker): StepPreview {
  const runs = preview.runs.map(({ inside, ...run }) => ({
    ...run,
    with: hidePreviewSecrets(run.with, preview.step.action, secrets),
    ...(inside ? { inside: inside.map((step) => withoutSecrets(step, secrets)) } : {}),
  }));
  for (const { vars } of [preview, ...runs]) if (vars) addSecretsIn(vars, secrets);
  // Parameters by which commands and embedded jobs receive variables.
  for (const run of runs) {
    for (const [name, field] of fieldsOf(run.with)) {
      if (name === "env" || name === "vars") addSecretsIn(field, secrets);
    }
  }
  return { ...preview, runs };
}

/** Known values of vars may be secret, and occur elsewhere too. */
function addSecretsIn(vars: Preview, secrets: Masker): void {
  for (const [name, field] of fieldsOf(vars)) {
    if (isKnown(field)) addSecretsOf({ [name]: knownValue(field) }, secrets);
    else addSecretsIn(field, secrets);
  }
}

function renderJob({ planned, known, steps }: JobPreview, mask: Mask): string[] {
  const {
    job: { id, name, when, skipif, allowFailure, stopsAtFailure, lock, repeat, load },
    needs,
    skip,
  } = planned;
  const remark = skip === undefined ? "" : `  # skipped: ${skip}`;
  const needed = idsOfNeeds(needs);
  return [
    `job ${shown(id)}: ${shown(mask(textOf(name, known)))}${remark}`,
    ...indent([
      ...(needed.length === 0 ? [] : [`needs: ${needed.map(shown).join(", ")}`]),
      ...(when === undefined ? [] : [`when: ${when}`]),
      ...renderCondition("skipif", skipif, known, mask),
      ...renderCondition("allow_failure", allowFailure, known, mask),
      ...(stopsAtFailure ? ["on_failure: stop"] : []),
      ...(lock === undefined ? [] : [`lock: ${shown(lock)}`]),
      ...(repeat ? [`repeat: ${mask(describeRepeat(repeat, known))}`] : []),
      ...(load ? ["load:", ...indent(describeLoad(load, known).map(mask))] : []),
      ...renderSteps(steps, mask),
    ]),
  ];
}

/** The steps of a job, and those of its `finally` below that word. */
function renderSteps(steps: readonly StepPreview[], mask: Mask): string[] {
  const lines = steps.map((step, index) => renderStep(index, step, mask));
  const first = steps.findIndex(({ step }) => step.isCleanup);
  if (first < 0) return lines.flat();
  return [...lines.slice(0, first).flat(), "finally:", ...indent(lines.slice(first).flat())];
}

function renderStep(index: number, preview: StepPreview, mask: Mask): string[] {
  const { step, known, runs } = preview;
  const { id, name, action, skipif, wait, timeout, maxTime, snapshot, retry, test, echo, outputs } =
    step;
  const about = [action.name, ...(id === undefined ? [] : [`id ${id}`])].join(", ");
  const label = name ? shown(mask(textOf(name, known))) : action.name;
  const isDefault = timeout.kind === "constant" && timeout.milliseconds === STEP_TIMEOUT;
  const below = [
    ...renderCondition("skipif", skipif, known, mask),
    ...renderCondition("allow_failure", step.allowFailure, known, mask),
    ...(wait ? [`wait: ${mask(durationOf(wait, known))}`] : []),
    ...(isDefault ? [] : [`timeout: ${mask(durationOf(timeout, known))}`]),
    ...(maxTime ? [`max_time: ${mask(durationOf(maxTime, known))}`] : []),
    ...(retry ? [`retry: ${mask(describeRetry(retry, known))}`] : []),
    ...(step.iteration ? [`iteration: ${mask(describeIteration(step.iteration, known))}`] : []),
    ...renderFields("vars", preview.vars, mask),
    ...runs.flatMap((run, entry) => {
      const lines = [
        ...renderFields("vars", run.vars, mask),
        ...renderFields("with", run.with, mask),
        ...renderInside(run.inside ?? [], mask),
      ];
      return step.iteration?.kind === "list" ? [`entry ${entry + 1}:`, ...indent(lines)] : lines;
    }),
    ...renderTest(test, known, mask),
    ...(snapshot ? [`snapshot: ${shown(snapshot.of?.source ?? "res.body")}`] : []),
    ...(echo ? renderPreview("echo", previewTemplate(echo, known, { display: true }), mask) : []),
    ...(outputs.length === 0 ? [] : [
      "outputs:",
      ...indent(
        outputs.map(({ name, value }) =>
          `${shown(mask(name))}: ${shown(mask(value.source.trim()))}`
        ),
      ),
    ]),
  ];
  return [`${index + 1}. ${label} (${about})`, ...indent(below, 3)];
}

/** The steps of an embedded job. */
function renderInside(steps: readonly StepPreview[], mask: Mask): string[] {
  if (steps.length === 0) return [];
  return ["steps:", ...indent(renderSteps(steps, mask))];
}

/** A mapping under its name, unless there is nothing in it. */
function renderFields(name: string, preview: Preview | undefined, mask: Mask): string[] {
  return preview && fieldsOf(preview).length > 0 ? renderPreview(name, preview, mask) : [];
}

/** A test, or the items of a list of them. */
function renderTest(
  test: readonly Assertion[] | undefined,
  known: Knowledge,
  mask: Mask,
): string[] {
  return (test ?? []).flatMap(({ expression, index }) => {
    const key = index === undefined ? "test" : `test ${index + 1}`;
    return renderCondition(key, expression, known, mask);
  });
}

/** A condition as it is written, and its result if that is known. */
function renderCondition(
  key: string,
  condition: Expression | undefined,
  known: Knowledge,
  mask: Mask,
): string[] {
  if (!condition) return [];
  const result = previewExpression(condition, known);
  const remark = result === undefined
    ? ""
    : result.fault !== undefined
    ? `  # fails: ${shown(mask(result.fault))}`
    : typeof result.value === "boolean"
    ? `  # ${result.value}`
    : "";
  return [`${key}: ${shown(mask(condition.source.trim()))}${remark}`];
}

function describeIteration(iteration: Iteration, known: Knowledge): string {
  switch (iteration.kind) {
    case "list":
      return countOf(iteration.entries.length, "entry", "entries") + atOnce(iteration.parallel);
    case "template":
      return shown(iteration.list.source) + atOnce(iteration.parallel);
    case "matrix":
      return `combinations of ${(iteration.names ?? ["its lists"]).map(shown).join(", ")}` +
        atOnce(iteration.parallel);
    case "file": {
      const { file, where, limit, parallel } = iteration;
      return `rows of ${shown(textOf(file, known))}` +
        (where ? `, where ${shown(where.source)}` : "") +
        (limit === undefined ? "" : `, at most ${limit}`) + atOnce(parallel);
    }
    case "loop": {
      const pause = durationOf(iteration.interval, known);
      return `until ${shown(iteration.until.source)}, at most ${
        countOf(iteration.max, "pass", "passes")
      }` +
        (pause === "0s" ? "" : `, ${pause} between`);
    }
    default:
      return assertNever(iteration);
  }
}

function atOnce(parallel: number): string {
  return parallel === 1 ? "" : `, ${parallel} at once`;
}

function describeRepeat(
  { count: rounds, interval, async }: Repeat,
  known: Knowledge,
): string {
  const pause = durationOf(interval, known);
  return countOf(rounds, "round") + (pause === "0s" ? "" : `, ${pause} between`) +
    (async ? ", side by side" : "");
}

/** The stages of a load job, and what decides whether it passes. */
function describeLoad(load: Load, known: Knowledge): string[] {
  const { stages, count, warmUp, thinkTime, maxInFlight, data, expect, stopIf } = load;
  const levelOf = ({ rate, users = 0 }: LoadStage) =>
    rate === undefined ? countOf(users, "user") : `${Number(rate.toFixed(3))}/s`;
  const pause = durationOf(thinkTime, known);
  return [
    ...(warmUp ? [`${durationOf(warmUp, known)} at ${levelOf(stages[0]!)} to warm up`] : []),
    ...stages.map((stage, index) => {
      const time = stage.duration && durationOf(stage.duration, known);
      const length = [time, count && countOf(count, "round")].filter(Boolean).join(", at most ");
      const before = stages[index - 1] ?? { ...stage, rate: stage.rate && 0, users: 0 };
      const level = stage.ramp ? `from ${levelOf(before)} to ${levelOf(stage)}` : levelOf(stage);
      return `${length || "each row once"}${stage.ramp ? " " : " at "}${level}`;
    }),
    ...(pause === "0s" ? [] : [`${pause} between two rounds of a user`]),
    ...(maxInFlight === Infinity ? [] : [`at most ${countOf(maxInFlight, "round")} under way`]),
    ...(data?.kind === "file" ? [`data: ${shown(data.file.source)}`] : []),
    ...(expect ?? []).map(({ expression }) => `expect ${shown(expression.source.trim())}`),
    ...(stopIf ? [`stop if ${shown(stopIf.source.trim())}`] : []),
  ];
}

function describeRetry(retry: Retry, known: Knowledge): string {
  const { maxAttempts, time, interval, initialDelay, backoff, until, stop } = retry;
  const limits = [
    ...maxAttempts === undefined ? [] : [`up to ${countOf(maxAttempts, "attempt")}`],
    ...time === undefined ? [] : [`for ${durationOf(time, known)}`],
  ];
  const pause = durationOf(interval, known);
  const delay = durationOf(initialDelay, known);
  return limits.join(", ") + (pause === "0s" ? "" : `, ${pause} between`) +
    (retry.respectsRetryAfter ? " or what Retry-After says" : "") +
    (delay === "0s" ? "" : `, ${delay} before the first`) +
    (backoff === 1 ? "" : `, backoff ${backoff}`) +
    (until ? `, until ${shown(until.source)}` : "") +
    (stop ? `, stop ${shown(stop.source)}` : "");
}

function durationOf(duration: Duration, known: Knowledge): string {
  if (duration.kind === "constant") return formatDuration(duration.milliseconds);
  const preview = previewTemplate(duration.template, known);
  const value = preview.kind === "value" ? parseDuration(preview.value) : undefined;
  return value === undefined ? textOf(duration.template, known) : formatDuration(value);
}

function textOf(template: Template, known: Knowledge): string {
  const preview = previewTemplate(template, known, { display: true });
  if (preview.kind === "text") return preview.parts.map(({ text }) => text).join("");
  return isKnown(preview) ? String(knownValue(preview)) : template.source;
}

function countJobs({ workflow, jobs }: Plan): string {
  const all = workflow.jobs.length;
  return jobs.length === all ? countOf(all, "job") : `${jobs.length} of ${countOf(all, "job")}`;
}

/** A text on one line, with visible control characters. */
function shown(text: string): string {
  return printable(oneLine(text));
}
