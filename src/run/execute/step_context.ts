import type { ActionScopes, ResourceScope } from "../../action/action.ts";
import { Resources } from "../../action/resource_scope.ts";
import { renderData } from "../../expr/template/template_data.ts";
import type { DataTemplate, Scope } from "../../expr/expression.ts";
import type { Path } from "../../base/source.ts";
import { type Dict, isDict, mergeDicts, type Value } from "../../base/value/value.ts";
import type { Job, Loop, Step } from "../../workflow/model.ts";
import { inField } from "./evaluate_field.ts";
import type { StepRun } from "../event.ts";
import { addSecretsOf } from "../../secrets/add_secrets.ts";
import type { Outputs } from "./outputs.ts";
import type { Session } from "../session.ts";

/** A job in one of its rounds. */
export interface Round {
  readonly job: Job;
  /** `repeat_index`; undefined where the job has no `repeat`. */
  readonly index?: number;
  /** The run of the step that embeds the job, where one does. */
  readonly within?: StepRun;
  /** Where its steps publish, and what they see as `outputs`. */
  readonly outputs: Outputs;
  /** Resources that its steps share. */
  readonly scope: ResourceScope;
  /** Names that its steps see in addition to those that all steps see. */
  readonly names: Readonly<Record<string, unknown>>;
  /** The number of its steps that have failed so far. */
  readonly count: { failed: number };
  /** The steps before the one under way whose outputs may be missing. */
  readonly upstreamFailures: UpstreamFailure[];
}

/** A step that may not have published what later steps read. */
export interface UpstreamFailure {
  readonly step: Step;
  readonly run: StepRun;
  /** The text shown in reports. */
  readonly name: string;
  readonly state: "failed" | "skipped";
}

/** An entry of a step's `iteration`. */
export interface Entry {
  readonly index: number;
  readonly template: DataTemplate;
  /** Why there is no such entry, although there should be one. */
  readonly fault?: unknown;
  /** The loop that decides whether there is another pass, and its decision. */
  readonly loop?: Loop & { readonly pass: { isOver: boolean; pause: number } };
}

/** A step in one of its runs. */
export interface StepContext {
  readonly round: Round;
  readonly step: Step;
  readonly run: StepRun;
  readonly entry?: Entry;
  /** The names in scope; each attempt adds its response. */
  readonly names: Record<string, unknown>;
  /** The result of the attempt in short, `HTTP 404`, where its action was unsuccessful. */
  trouble?: string | undefined;
  readonly resources: ActionScopes & { readonly step: Resources };
  readonly scope: Scope;
}

/** The response in scope before there is one. */
const NO_ANSWER = { req: null, res: null, rt: { duration: "", sec: 0 }, status: 0 };

/** Begins an attempt: its `with` does not see what the attempt before it was answered. */
export function forgetAnswer(context: StepContext): void {
  Object.assign(context.names, NO_ANSWER);
  context.trouble = undefined;
}

/** The context of a step before its `vars` are evaluated and its action has run. */
export function makeStepContext(
  session: Session,
  round: Round,
  step: Step,
  entry?: Entry,
): StepContext {
  const names = {
    vars: session.vars,
    outputs: round.outputs.view,
    repeat_index: round.index ?? 0,
    iteration_index: entry?.index ?? 0,
    ...round.names,
    ...NO_ANSWER,
  };
  const run = makeStepRun(round, step, entry?.index);
  const resources = { run: session.scope, job: round.scope, step: new Resources() };
  const { addSecretValue: addSecret, document } = session;
  const random = session.draws.at(() => `${document.name} ${JSON.stringify(run)}`);
  const scope = { names, strict: true, addSecret, random };
  const context = { round, step, run, names, resources, scope };
  return entry === undefined ? context : { ...context, entry };
}

/** Closes what was opened in a scope that ends; what cannot be closed is a warning. */
export async function closeScope(session: Session, resources: Resources): Promise<void> {
  if (resources.isEmpty) return;
  const { deadlines, emit, host: { clock } } = session;
  await resources.close(deadlines, (text) => {
    emit({ type: "note", time: clock.now(), level: "warning", text });
  });
}

/** The run of a step: of one round, and of one entry if it has an `iteration`. */
export function makeStepRun({ job, index, within }: Round, step: Step, entry?: number): StepRun {
  return {
    job: within ? within.job : job.id,
    ...(within === undefined ? {} : { within }),
    step: step.index,
    ...(step.isCleanup ? { cleanup: true } : {}),
    ...(step.id === undefined ? {} : { id: step.id }),
    ...(index === undefined ? {} : { round: index }),
    ...(entry === undefined ? {} : { entry }),
  };
}

/** The name of the step; empty where there is nothing in it. */
export function evaluateName({ step: { name }, scope }: StepContext): string {
  return name ? inField(["name"], () => name.renderText(scope, { display: true })).trim() : "";
}

/** The workflow's vars, then those of the step, then the entry: each sees what came before. */
export function evaluateStepVars(session: Session, context: StepContext): Dict {
  const { step, entry, names: { req: _, res: __, rt: ___, status: ____, ...names } } = context;
  let vars = session.vars;
  const merge = (template: DataTemplate, field: Path) => {
    const scope = { ...context.scope, names: { ...names, vars } };
    const value = inField(field, () => renderData(template, scope)) as Value;
    const own = isDict(value) ? value : { item: value };
    addSecretsOf(own, session.secrets);
    vars = mergeDicts(vars, own);
  };
  if (step.vars) merge(step.vars, ["vars"]);
  if (entry) merge(entry.template, ["iteration", entry.index]);
  return vars;
}
