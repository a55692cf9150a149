import { fromFileUrl } from "@std/path/from-file-url";
import { positionsOf } from "../base/yaml/positions.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import { readPermissions, type WrittenPermissions } from "../action/permissions/rules.ts";
import { readRunTls } from "../action/tls/pem.ts";
import { LoadError, UsageError } from "../base/errors.ts";
import { renderMasked } from "../base/diagnostic.ts";
import { formatDuration } from "../base/value/duration.ts";
import type { Dict } from "../base/value/value.ts";
import { makeSecretMask } from "../check/mask_secrets.ts";
import { VERSION } from "../cli/version.ts";
import { Draws } from "../expr/draws.ts";
import { denoHost } from "../host/deno_host.ts";
import { chooseJobs } from "../plan/select_jobs.ts";
import type { Plan as PlanModel } from "../plan/plan.ts";
import { matchVars, setVars } from "../plan/set_vars.ts";
import { Cancellation } from "../run/cancellation.ts";
import type { Emit } from "../run/event.ts";
import { outlinePlan } from "../run/outline_plan.ts";
import { run } from "../run/run.ts";
import { addSecretsOf, addSecretValue, makeMasker } from "../secrets/find_secrets.ts";
import type { Masker } from "../secrets/masker.ts";
import { readEnvFile } from "../suite/env_file.ts";
import { planLoaded } from "../suite/load_plan.ts";
import { loadSuite } from "../suite/load_suite.ts";
import { openOperands, suiteOfOperands } from "../suite/open_suite.ts";
import { runSuite } from "../suite/run_suite.ts";
import { checkDescription } from "../workflow/decode/check_files.ts";
import { loadWorkflow } from "../workflow/load_workflow.ts";
import type { Workflow as WorkflowModel } from "../workflow/model.ts";
import { plans, suites, workflows } from "./handles.ts";
import type {
  LoadOptions,
  PieceOptions,
  Plan,
  PlanOptions,
  PrepareOptions,
  RunOptions,
  Suite,
  SuiteOptions,
  SuiteRunOptions,
  Workflow,
} from "./types.ts";

/** Values that may hold secrets. */
type Secrets = readonly Readonly<Record<string, unknown>>[];

export async function openWorkflow(path: string | URL, options: LoadOptions): Promise<Workflow> {
  const permissions = await permissionsOf(options.permissions);
  const loaded = await explaining([], () => loadWorkflow(pathOf(path), denoHost(), permissions));
  const { workflow: { name, description, document }, warnings } = loaded;
  const about = description === undefined ? {} : { description };
  return workflows.add({ name, ...about, file: document.name, warnings }, { loaded, permissions });
}

export async function planWorkflow(workflow: Workflow, options: PlanOptions): Promise<Plan> {
  const { loaded, permissions } = workflows.get(workflow);
  const { only, noNeeds = false, skip } = options;
  if (only?.length === 0) throw new UsageError("only names no job", "leave it out to run all");
  if (noNeeds && !only) throw new UsageError("noNeeds goes with only", "name the jobs to run");
  const host = denoHost();
  const environment = options.environment ?? host.env.all();
  // Later changes to them do not affect the plan.
  const vars = structuredClone(options.vars ?? {});
  const secrets = [environment, vars];
  const choice = { only, noNeeds, skip, maySkipAll: true, nameOption: (name: string) => name };
  const model = await explaining(secrets, () =>
    planLoaded(
      loaded,
      host,
      {
        environment,
        setVars: (workflow) => withVars(workflow, vars),
        check: options.check === false ? undefined : {},
      },
      (plan) => chooseJobs(plan, choice),
    ));
  const jobs = outlinePlan(model, positionsOf(model.workflow.document));
  const seen = { workflow, vars: model.vars, jobs, warnings: model.warnings };
  return plans.add(seen, { model, permissions, secrets });
}

function withVars(workflow: WorkflowModel, vars: Dict): WorkflowModel {
  const found = [...matchVars(workflow.vars, vars)];
  const problems = found.filter((each) => "message" in each);
  if (problems.length > 0) {
    const diagnostics = problems.map(({ message, hint }) =>
      ({ severity: "error", code: "vars", message, hint }) as const
    );
    throw new LoadError("cannot set the vars of the workflow", diagnostics);
  }
  return { ...workflow, vars: setVars(workflow.vars, found.filter((each) => "value" in each)) };
}

export async function planSuite(
  paths: string | URL | readonly (string | URL)[],
  options: SuiteOptions,
): Promise<Suite> {
  const host = denoHost();
  const operands = [paths].flat().map(pathOf);
  const vars = structuredClone(options.vars ?? {});
  const ofProgram = options.environment ?? host.env.all();
  const secrets: Readonly<Record<string, unknown>>[] = [ofProgram, vars];
  const permissions = await permissionsOf(options.permissions);
  return await explaining(secrets, async () => {
    const opened = await openOperands(operands, host);
    const open = "suite" in opened ? opened.suite : suiteOfOperands(operands, host);
    const environment: Record<string, string> = {};
    for (const path of open.envFiles) {
      Object.assign(environment, await readEnvFile(path, { host, secrets }));
    }
    Object.assign(environment, ofProgram);
    const { suite: model } = await loadSuite(open, host, {
      environment,
      permissions,
      jobs: { tags: options.tags, nameOption: (name) => name },
      check: options.check === false ? undefined : {},
      shard: options.shard,
      // Only some of the workflows may have a var.
      setVars(workflow) {
        const known = [...matchVars(workflow.vars, vars)].filter((each) => "value" in each);
        return { ...workflow, vars: setVars(workflow.vars, known) };
      },
    });
    const seen = model.workflows.map(({ path, plan }) => ({
      file: path,
      name: plan.workflow.name,
    }));
    const named = model.name === undefined ? {} : { name: model.name };
    const held = { model, permissions, workers: open.workers, secrets };
    return suites.add({ ...named, workflows: seen }, held);
  });
}

/** Runs a plan, or a piece of it, until `signal` interrupts it. */
export async function runPlan(
  plan: Plan,
  options: RunOptions,
  emit: Emit,
  signal: AbortSignal,
): Promise<boolean> {
  const { model, permissions, secrets } = plans.get(plan);
  const masker = makeMasker(secrets);
  const runOptions = await commonOptions(options, permissions, signal);
  if (!options.piece) return await run(model, denoHost(), emit, { ...runOptions, secrets: masker });
  const piece = await openRequestedPiece(model, options.piece, masker);
  const passed = await piece.run(emit, runOptions);
  const outputs = await piece.renderOutputs();
  if (outputs !== undefined) options.piece.onOutputs?.(outputs);
  return passed;
}

/** Runs a suite until `signal` interrupts it. */
export async function runWorkflows(
  suite: Suite,
  options: SuiteRunOptions,
  emit: Emit,
  signal: AbortSignal,
): Promise<boolean> {
  const { model, permissions, workers, secrets } = suites.get(suite);
  return await runSuite(model, denoHost(), emit, {
    ...await commonOptions(options, permissions, signal),
    workers: options.workers ?? workers,
    makeSecrets: () => makeMasker(secrets),
  });
}

async function commonOptions(
  options: RunOptions,
  permissions: Permissions | undefined,
  signal: AbortSignal,
) {
  const { failFast = false, jobs, cleanupTimeout, load, snapshots, openapi, timeout } = options;
  const { detailed = false, debug = false } = options;
  const host = denoHost();
  const cancellation = new Cancellation();
  const interrupt = () => cancellation.cancel(String(signal.reason));
  if (signal.aborted) interrupt();
  else signal.addEventListener("abort", interrupt);
  if (openapi !== undefined) {
    await explaining([], () => checkDescription(openapi, { permissions }, host));
  }
  const all = detailed || debug;
  return {
    ...{ failFast, jobs, cleanupTimeout, load, snapshots, openapi, permissions, cancellation },
    tls: options.tls && await readRunTls(options.tls, host, (option) => `"tls.${option}"`),
    detail: { all, places: all, debug, ...debug ? { limit: Infinity } : {} },
    timeout: timeout === undefined ? undefined : {
      milliseconds: timeout,
      reason: `the run timed out after ${formatDuration(timeout)}`,
    },
  };
}

async function openRequestedPiece({ workflow }: PlanModel, options: PieceOptions, secrets: Masker) {
  const { runFile: text, only = [], rounds, inputs = [], startAt } = options;
  const stage = options.finally ? "finally" : undefined;
  if (only.length === 0 && !stage) {
    throw new UsageError("piece.only names no job", "name the jobs that this process runs");
  }
  const { openPiece } = await import("../spread/open_piece.ts");
  const { readRunFile } = await import("../spread/run_file.ts");
  const seal = await sealOf(options.key);
  return await openPiece(workflow, {
    host: denoHost(),
    runFile: await readRunFile({ file: "the run file", text }, { seal, secrets }),
    inputs: inputs.map((text, at) => ({ file: `input ${at + 1}`, text })),
    choice: { only, stage, rounds },
    draws: new Draws(undefined),
    startAt,
    seal,
    secrets,
  });
}

export async function prepareRun(plan: Plan, options: PrepareOptions): Promise<string> {
  const { model, secrets } = plans.get(plan);
  const { id = crypto.randomUUID(), key } = options;
  const masker = makeMasker(secrets);
  addSecretsOf(model.vars, masker);
  for (const value of model.secrets) addSecretValue(value, masker);
  const { renderRunFile } = await import("../spread/run_file.ts");
  return await renderRunFile({
    ...{ id, version: VERSION, created: Date.now(), secrets: masker },
    seal: await sealOf(key),
    workflows: [{ plan: model }],
  });
}

async function sealOf(key: string | undefined) {
  return key === undefined ? undefined : await (await import("../spread/seal.ts")).makeSeal(key);
}

async function permissionsOf(permissions: WrittenPermissions | undefined) {
  return permissions &&
    await readPermissions(permissions, denoHost(), (kind) => `permissions.${kind}`);
}

/** The path of a file that is named by path or URL. */
function pathOf(path: string | URL): string {
  return typeof path === "string" ? path : fromFileUrl(path);
}

/**
 * Writes the diagnostics of a LoadError into its message, each with its line of the file, so that a
 * program that only prints errors shows everything. The message holds no secret of the environment,
 * of `secrets`, or of these lines.
 */
async function explaining<T>(secrets: Secrets, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof LoadError) || error.diagnostics.length === 0) throw error;
    const { diagnostics, hint } = error;
    const mask = makeSecretMask(makeMasker([denoHost().env.all(), ...secrets]), diagnostics);
    const lines = diagnostics.map((each) => renderMasked(each, mask));
    throw new LoadError([mask(error.message), ...lines].join("\n"), diagnostics, hint);
  }
}
