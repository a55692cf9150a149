import type { RunTls } from "../../action/action.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import type { Draws } from "../../expr/draws.ts";
import { evaluateKnownVars } from "../../plan/evaluate_vars.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunOptions } from "../../run/run_options.ts";
import { makeMasker } from "../../secrets/add_secrets.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { UsageError } from "../../base/errors.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { Workflow } from "../../workflow/model.ts";
import { checkChoiceOfJobs, chooseJobs } from "../args/choose_jobs.ts";
import type { Invocation, Program } from "../command.ts";
import { snapshotMode } from "../args/snapshot_options.ts";
import { applyInputs, readInputs } from "./read_inputs.ts";

/** A run that differs from that of the workflow as written. */
export interface Preparation {
  readonly warnings: readonly Diagnostic[];
  readonly options: Pick<
    RunOptions,
    | "failFast"
    | "strict"
    | "jobs"
    | "secrets"
    | "permissions"
    | "tls"
    | "openapi"
    | "cleanupTimeout"
    | "snapshots"
  >;
  plan(workflow: Workflow, draws: Draws): Promise<Prepared>;
}

interface Prepared {
  readonly plan: Plan;
  /** The text to print instead of running the plan, if an option asks for that. */
  readonly text?: string;
}

/** Reads the options that choose what runs and with what. Throws LoadError and UsageError. */
export async function prepareRun(
  invocation: Invocation,
  program: Program,
): Promise<Preparation> {
  const { switches, values } = invocation;
  if (switches.has("list") && switches.has("dry-run")) {
    throw new UsageError("options --list and --dry-run cannot be combined", "leave one out");
  }
  checkChoiceOfJobs(invocation);
  const jobs = readCount(values.get("jobs"));
  const cleanupTimeout = readCleanupTimeout(values.get("cleanup-timeout"));
  const snapshots = snapshotMode(invocation);
  const permissions = await permissionsOf(invocation, program);
  const tls = await tlsOptionsOf(invocation, program);
  const openapi = await openapiOf(invocation, program, permissions);
  const inputs = await readInputs(invocation, program);
  const secrets = makeMasker([program.host.env.all(), ...program.secrets]);
  const { environment, warnings } = inputs;
  return {
    warnings,
    options: {
      secrets,
      ...(jobs === undefined ? {} : { jobs }),
      ...(cleanupTimeout === undefined ? {} : { cleanupTimeout }),
      ...(switches.has("fail-fast") ? { failFast: true } : {}),
      ...(switches.has("strict") ? { strict: true } : {}),
      ...(snapshots ? { snapshots } : {}),
      ...(permissions ? { permissions } : {}),
      ...(tls ? { tls } : {}),
      ...(openapi === undefined ? {} : { openapi }),
    },
    async plan(loaded, draws) {
      const workflow = await applyInputs(loaded, inputs);
      const isList = switches.has("list");
      // A list shows names as far as they are known, also where the environment of a run is missing.
      const evaluate = isList ? evaluateKnownVars : undefined;
      const whole = await makePlan(workflow, environment, evaluate, draws);
      const plan = await chooseJobs(whole, invocation);
      if (isList) return { plan, text: await renderAsList(plan, secrets) };
      if (!switches.has("dry-run")) return { plan };
      const { renderDryRun } = await import("../preview/dry_run.ts");
      return { plan, text: renderDryRun({ plan, vars: workflow.vars, environment, secrets }) };
    },
  };
}

/** Options that narrow what actions may reach. */
const NARROWING: readonly string[] = ["allow-net", "allow-run", "allow-read", "allow-write"];

/** The permissions that the options leave; undefined if they restrict nothing. */
export async function permissionsOf(
  invocation: Invocation,
  { host }: Program,
): Promise<Permissions | undefined> {
  const { lists, switches } = invocation;
  if (!switches.has("no-shell") && !NARROWING.some((name) => lists.has(name))) return undefined;
  return await (await import("../args/permission_options.ts")).readPermissionOptions(
    invocation,
    host,
  );
}

/** The TLS options. */
export async function tlsOptionsOf(
  invocation: Invocation,
  { host }: Program,
): Promise<RunTls | undefined> {
  const { switches, values } = invocation;
  const isGiven = ["cacert", "cert", "key"].some((name) => values.has(name));
  if (!isGiven && !switches.has("insecure")) return undefined;
  const { readRunTls } = await import("../../action/tls/read_run_tls.ts");
  const [ca, cert, key] = ["cacert", "cert", "key"].map((name) => values.get(name));
  const given = { ca, cert, key, insecure: switches.has("insecure") };
  return await readRunTls(given, host, (option) => `--${option === "ca" ? "cacert" : option}`);
}

/** The description that `--openapi` names, which is read to find mistakes in it. Throws LoadError. */
export async function openapiOf(
  { values }: Invocation,
  { host }: Program,
  permissions: Permissions | undefined,
): Promise<string | undefined> {
  const path = values.get("openapi");
  if (path === undefined) return undefined;
  const { checkDescription } = await import("../../workflow/decode/check_descriptions.ts");
  await checkDescription(path, permissions ? { permissions } : {}, host);
  return path;
}

/** The jobs and steps of a plan, with their ids. */
export async function renderAsList(plan: Plan, secrets: Masker): Promise<string> {
  const { makeDag } = await import("../../dag/make_dag.ts");
  const { renderList } = await import("../preview/list_jobs.ts");
  const { makeNameMask } = await import("../messages/name_mask.ts");
  return renderList(makeDag(plan, makeNameMask(plan, secrets)), plan);
}

/** The milliseconds that `--cleanup-timeout` gives. Throws UsageError. */
export function readCleanupTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  const problem = milliseconds === 0
    ? `must be greater than 0, not "${text}"`
    : durationProblem(text);
  throw new UsageError(`option --cleanup-timeout ${problem}`, "write --cleanup-timeout 30s");
}

/** The number that an option gives. Throws UsageError. */
export function readCount(
  text: string | undefined,
  option = "jobs",
  hint = "without it all jobs run that can",
): number | undefined {
  if (text === undefined) return undefined;
  if (/^0*[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`option --${option} must be a whole number from 1, not "${text}"`, hint);
}
