import type { Permissions } from "../action/permissions/permissions.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import type { RefuseOptions } from "../check/model.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Draws } from "../expr/draws.ts";
import type { Host } from "../host/host.ts";
import type { JobChoice, OnUnknown } from "../plan/select_jobs.ts";
import { makePlan } from "../plan/make_plan.ts";
import type { Plan } from "../plan/plan.ts";
import { inspectValue, planReading } from "../workflow/decode/decode_document.ts";
import { loadDocument, type Loaded, readDocument } from "../workflow/load_workflow.ts";
import type { Workflow } from "../workflow/model.ts";
import { withDefaults } from "../workflow/read_files.ts";
import type { SuiteFile } from "./suite.ts";

/** The inputs of workflows and the choice of their jobs. */
export interface PlanOptions {
  /** The variables that `vars` see. */
  readonly environment: Readonly<Record<string, string>>;
  /** Adds to the environment what vars read and it lacks. */
  readonly addVariables?: (vars: readonly DataTemplate[]) => Promise<void>;
  readonly permissions?: Permissions;
  /** The random values of all workflows. */
  readonly draws?: Draws;
  /** Sets vars of a workflow. `onUnknown` takes names that it does not have, if it is given. */
  readonly setVars?: (workflow: Workflow, onUnknown?: OnUnknown) => Workflow;
  /** Selects jobs; all without it. */
  readonly jobs?: JobChoice;
  /** Whether vars that need the environment of a run may be missing: nothing is going to run. */
  readonly isOutline?: boolean;
  /** Refuses a workflow that must fail according to static analysis. */
  readonly check?: RefuseOptions;
  /** Takes warnings and hints about a file. A LoadError that it throws refuses the workflow. */
  readonly warn?: (found: readonly Diagnostic[], path: string) => Promise<void> | void;
}

/** Loads and plans one workflow. Throws LoadError and UsageError. */
export async function loadPlan(file: SuiteFile, host: Host, options: PlanOptions): Promise<Plan> {
  const { jobs } = options;
  if (!jobs?.only && !jobs?.skip && jobs?.tags === undefined) {
    return await loadPlanOf(file, host, options, (plan) => plan);
  }
  const { chooseJobs } = await import("../plan/select_jobs.ts");
  return await loadPlanOf(file, host, options, (plan) => chooseJobs(plan, jobs));
}

/** The same with another choice of jobs. `onUnknown` takes names of vars that it does not have. */
export async function loadPlanOf(
  { path, line, document, refusal, vars = {}, defaults, tags = [], title }: SuiteFile,
  host: Host,
  options: PlanOptions,
  choose: (plan: Plan) => Plan,
  onUnknown?: () => OnUnknown,
): Promise<Plan> {
  if (refusal) throw refusal;
  const read = withDefaults(document ?? await readDocument(path, host), defaults);
  const { check, permissions } = options;
  const loaded = await loadDocument(read, host, permissions).catch(async (refusal) => {
    if (!check) throw refusal;
    const { refuseBroken } = await import("../check/check_file.ts");
    const given = new Set(Object.keys(vars));
    return await refuseBroken(refusal, read, host, permissions, { ...check, vars: given });
  });
  await options.warn?.([...loaded.warnings, ...loaded.hints], read.name);
  const allTags = [...loaded.workflow.tags ?? [], ...tags];
  const settings = Object.entries(vars).map(([name, value]) => ({ path: [name], value }));
  const workflow = {
    ...loaded.workflow,
    ...allTags.length === 0 ? {} : { tags: allTags },
    ...settings.length === 0
      ? {}
      : { vars: (await import("../plan/set_vars.ts")).setVars(loaded.workflow.vars, settings) },
  };
  const chooseAt = line === undefined ? choose : await choosingAt(line, choose);
  const plan = await planLoaded({ ...loaded, workflow }, host, options, chooseAt, onUnknown);
  if (!title) return plan;
  return { ...plan, workflow: { ...plan.workflow, name: await title(workflow.name, plan.vars) } };
}

async function choosingAt(line: number, choose: (plan: Plan) => Plan) {
  const { chooseJobAt } = await import("../plan/select_jobs.ts");
  return (plan: Plan) => chooseJobAt(choose(plan), line);
}

/** More texts in the values of vars are data, not names of files. */
const MAX_PATHS = 10_000;

/** Plans a workflow that was loaded. Throws LoadError and UsageError. */
export async function planLoaded(
  { workflow, decoded }: Loaded,
  host: Host,
  { environment, draws, isOutline, check, warn, ...options }: PlanOptions,
  choose: (plan: Plan) => Plan,
  onUnknown?: () => OnUnknown,
): Promise<Plan> {
  const set = options.setVars?.(workflow, onUnknown?.()) ?? workflow;
  await options.addVariables?.([set.vars]);
  const evaluate = isOutline
    ? (await import("../plan/evaluate_vars.ts")).evaluateKnownVars
    : undefined;
  const whole = await makePlan(set, environment, evaluate, draws);
  await warn?.(whole.warnings, workflow.document.name);
  planReading(workflow.document, inspectValue(whole.vars).texts.slice(0, MAX_PATHS), host);
  const plan = choose(whole);
  if (check) {
    const { refuseFailing } = await import("../check/check_file.ts");
    await warn?.(await refuseFailing(decoded, plan, host, check), workflow.document.name);
  }
  return plan;
}
