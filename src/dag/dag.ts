import { renderText } from "../expr/template.ts";
import { positionsOf } from "../base/yaml/positions.ts";
import { ExpressionError } from "../base/errors.ts";
import type { DataTemplate, Scope, Template } from "../expr/expression.ts";
import { evaluateKnown } from "../plan/evaluate_vars.ts";
import { jobsBefore, type Plan, type PlannedJob } from "../plan/plan.ts";
import { excerptOf, type Path, type Position } from "../base/source.ts";
import { type Dict, dictOf, type Value } from "../base/value/value.ts";
import {
  hasOpenEntries,
  listedEntries,
  markCleanup,
  namesOfMatrix,
} from "../workflow/step_facts.ts";
import type { Duration, Job, Load, Repeat, Step } from "../workflow/model.ts";

/** The graph of a workflow as drawings show it. */
export interface Dag {
  readonly name: string;
  /** In the order of the file. */
  readonly jobs: readonly DagJob[];
}

/** The graphs of several workflows: those of setup come first, those of teardown last. */
export interface SuiteDag {
  /** The name that a suite file gives. */
  readonly name?: string;
  readonly workflows: readonly DagOfMany[];
}

/** The graph of one of several workflows. */
export interface DagOfMany extends Dag {
  readonly file: string;
  /** Its role if it is not one of the workflows. */
  readonly role?: "setup" | "teardown";
}

export interface DagJob {
  readonly id: string;
  /** With its templates rendered as far as possible before a run. */
  readonly name: string;
  /** The id of the job of the file whose matrix it is of. */
  readonly matrix?: string | undefined;
  /** Ids of jobs, each once. */
  readonly needs: readonly string[];
  /** 0 for a job without needs, else one more than the highest level among its needs. */
  readonly level: number;
  /** The tags of the workflow and its own, if there are any. */
  readonly tags?: readonly string[];
  /** When it runs, as a drawing shows it: `when: always`. */
  readonly conditions?: readonly string[];
  readonly steps: readonly DagStep[];
}

export interface DagStep {
  readonly id?: string;
  /** By default the name of its action. */
  readonly name: string;
  readonly uses: string;
  /** The steps of the job that it embeds. */
  readonly steps?: readonly DagStep[];
}

export interface DagOptions {
  /** Masks secrets in a name, including those of the vars it was rendered with. */
  readonly mask?: (name: string, vars: Dict) => string;
  /** Takes what expressions say is secret. */
  readonly addSecret?: (value: Value) => void;
}

/** The graph of a plan, with names as far as they are known before a run. */
export function makeDag(
  plan: Plan,
  { mask = (name) => name, addSecret = () => {} }: DagOptions = {},
): Dag {
  const scopeOf = (vars: Dict, names: Scope["names"] = {}) => (
    { names: { vars, ...names }, strict: true, addSecret }
  );
  const { workflow, vars } = plan;
  const levels = makeLevels(plan.jobs);
  const nameOf = (template: Template, vars: Dict, names: Scope["names"]) =>
    mask(renderKnown(template, scopeOf(vars, names)), vars);
  const stepsOf = (job: Job, outer: Dict): DagStep[] =>
    job.steps.map((step) => {
      const names = namesOfMatrix(job);
      const seen = varsOf(step, outer, scopeOf(outer, names));
      const inside = step.embedded?.job;
      const name = step.name ? nameOf(step.name, seen, names) : step.action.name;
      return {
        id: step.id,
        name: markCleanup(job, step, name),
        uses: step.action.name,
        steps: inside && stepsOf(inside, passedVars(step, scopeOf(seen, names))),
      };
    });
  return {
    name: mask(workflow.name, vars),
    jobs: plan.jobs.map((planned) => ({
      id: planned.job.id,
      name: nameOf(planned.job.name, vars, namesOfMatrix(planned.job)),
      matrix: planned.job.combination?.of.id,
      needs: planned.needs.map(({ job }) => job.id),
      level: levels.get(planned)!,
      tags: tagsOf(workflow.tags, planned.job.tags),
      conditions: conditionsOf(planned.job).map((text) => mask(text, vars)),
      steps: stepsOf(planned.job, vars),
    })),
  };
}

function conditionsOf({ when, skipif, load }: Job): string[] {
  const levels = load?.stages.map(({ rate, users }) => users ?? `${Number(rate!.toFixed(3))}/s`);
  return [
    ...when === undefined ? [] : [`when: ${when}`],
    ...skipif ? [`skipif: ${skipif.source.trim()}`] : [],
    ...load ? [`load: ${levels!.join(" → ")}${load.stages[0]!.users ? " users" : ""}`] : [],
  ];
}

function tagsOf(ofWorkflow: readonly string[] = [], ofJob: readonly string[] = []) {
  const tags = [...new Set([...ofWorkflow, ...ofJob])];
  return tags.length === 0 ? undefined : tags;
}

/** The vars of a step that are known before a run. */
function varsOf(step: Step, outer: Dict, scope: Scope): Dict {
  if (hasOpenEntries(step)) return {};
  const seen: Record<string, Value> = Object.assign(Object.create(null), outer);
  if (step.vars) {
    for (const name of namesIn(step.vars)) delete seen[name];
    Object.assign(seen, evaluateKnown(step.vars, scope));
  }
  for (const name of listedEntries(step).flatMap(namesIn)) delete seen[name];
  return seen;
}

/** The vars that a step passes to its embedded job, as far as they are known. */
function passedVars({ with: params }: Step, scope: Scope): Dict {
  const { vars } = evaluateKnown(params, scope) as Dict;
  return dictOf(vars);
}

function namesIn(template: DataTemplate): string[] {
  if (template.kind === "map") return template.entries.map(([name]) => name);
  return template.kind === "constant" ? Object.keys(template.value as Dict) : [];
}

/**
 * A template as text before anything has run: an expression that cannot be evaluated yet, or that
 * gives nil, stays as it is written.
 */
function renderKnown({ source, parts }: Template, scope: Scope): string {
  let text = "";
  let from = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      from += part.length;
      continue;
    }
    const end = source.indexOf("}}", part.end) + "}}".length;
    try {
      text += renderText({ source, parts: [part] }, scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      text += source.slice(from, end);
    }
    from = end;
  }
  return text;
}

/** The level of each job: 0 without needs, else one more than the highest among them. */
function makeLevels(jobs: readonly PlannedJob[]): ReadonlyMap<PlannedJob, number> {
  const levels = new Map<PlannedJob, number>();
  for (const job of jobs) {
    // No recursion: a chain of jobs may be longer than the stack is deep.
    const open = [job];
    for (let last = open.at(-1); last; last = open.at(-1)) {
      const unknown = levels.has(last) ? [] : last.needs.filter((need) => !levels.has(need));
      if (unknown.length > 0) {
        for (const need of unknown) open.push(need);
        continue;
      }
      levels.set(last, last.needs.reduce((max, need) => Math.max(max, levels.get(need)! + 1), 0));
      open.pop();
    }
  }
  return levels;
}

/**
 * The graph with all that programs must know to run its jobs, as `runner dag --json` prints it: see
 * docs/dag.schema.json.
 */
export function makeDagJson(dag: Dag, plan: Plan): object {
  const positions = positionsOf(plan.workflow.document);
  const positionOf = (path: Path): Position => {
    const { file, line, column } = excerptOf(positions.locate(path));
    return { file, line, column };
  };
  const stepOf = (drawn: DagStep, step: Step) => ({
    ...drawn,
    skipif: step.skipif?.source.trim(),
    cleanup: step.isCleanup ? true : undefined,
    place: positionOf(step.path),
  });
  const jobOf = (drawn: DagJob, planned: PlannedJob) => {
    const { job } = planned;
    const { jobs: before } = jobsBefore(planned, ({ needs }) => needs);
    const { steps, conditions: _, ...rest } = drawn;
    return {
      ...rest,
      ancestors: plan.jobs.filter((other) => before.has(other)).map(({ job }) => job.id),
      when: job.when,
      skipif: job.skipif?.source.trim(),
      on_failure: job.stopsAtFailure ? "stop" : undefined,
      repeat: job.repeat && repeatOf(job.repeat),
      load: job.load && loadOf(job.load),
      cleanup: job.isCleanup ? true : undefined,
      place: positionOf(job.path),
      steps: steps.map((step, at) => stepOf(step, job.steps[at]!)),
    };
  };
  return { ...dag, jobs: dag.jobs.map((job, at) => jobOf(job, plan.jobs[at]!)) };
}

function loadOf({ stages, count, expect, stopIf }: Load) {
  return {
    stages: stages.map(({ rate, users, ramp, duration }) => ({
      rate,
      users,
      ramp,
      for: duration && secondsOf(duration),
    })),
    count,
    expect: expect?.map(({ expression }) => expression.source),
    stop_if: stopIf?.source,
  };
}

/** Seconds, or a template. */
function secondsOf(duration: Duration): number | string {
  return duration.kind === "constant" ? duration.milliseconds / 1000 : duration.template.source;
}

function repeatOf({ count, async, interval }: Repeat) {
  /** Between the starts of two rounds: seconds, or a template. */
  const between = secondsOf(interval);
  return {
    count,
    async,
    interval: between === 0 ? undefined : between,
  };
}
