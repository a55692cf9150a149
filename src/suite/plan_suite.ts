import { type Dict, isDict } from "../base/value/value.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { RefuseOptions } from "../check/model.ts";
import { refuseFailing } from "../check/refuse_run.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import type { Plan } from "../plan/plan.ts";
import { setVars } from "../plan/set_vars.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import { loadDocument, readDocument } from "../workflow/load_workflow.ts";
import type { Workflow } from "../workflow/model.ts";
import type { SuiteFile, SuiteMember } from "./suite.ts";

/** The options for making plans of the workflows of a suite. */
export interface PlanOptions {
  readonly permissions?: Permissions | undefined;
  /** The host that reads the files of one; by default that of all. */
  readonly hostOf?: (path: string) => Host;
  /** Whether to refuse those of which static analysis proves that they must fail, and how. */
  readonly check?: RefuseOptions | undefined;
  /** Makes the plan of one. What it throws as LoadError makes that one a failed workflow. */
  readonly plan: (workflow: Workflow, warnings: readonly Diagnostic[]) => Promise<Plan>;
}

/** Loads and plans workflows. One that cannot be loaded keeps the others from nothing. */
export async function planMembers(
  files: readonly SuiteFile[],
  host: Host,
  options: PlanOptions,
): Promise<readonly SuiteMember[]> {
  const members: SuiteMember[] = [];
  const entries = new Map<string, number>();
  for (const [index, file] of files.entries()) {
    const { path } = file;
    const entry = (entries.get(path) ?? 0) + 1;
    entries.set(path, entry);
    const member = { path, index, key: entry === 1 ? path : `${path}#${entry}` };
    try {
      const { plan, warnings } = await planMember(file, options.hostOf?.(path) ?? host, options);
      members.push({ ...member, kind: "planned", plan, warnings });
    } catch (refusal) {
      if (!(refusal instanceof LoadError)) throw refusal;
      members.push({ ...member, kind: "refused", refusal });
    }
  }
  return members;
}

async function planMember(file: SuiteFile, host: Host, { permissions, plan, check }: PlanOptions) {
  if (file.refusal) throw file.refusal;
  const document = file.document ?? await readDocument(file.path, host);
  const loaded = await loadDocument(document, host, permissions);
  const { workflow, warnings } = loaded;
  const tags = [...workflow.tags ?? [], ...file.tags ?? []];
  const changed = {
    ...workflow,
    vars: withVars(workflow.vars, file.vars ?? {}),
    ...tags.length === 0 ? {} : { tags },
  };
  const planned = await plan(changed, warnings);
  if (check) await refuseFailing(loaded, planned, host, check);
  return { plan: planned, warnings: [...warnings, ...planned.warnings] };
}

/** Vars of a suite file are added, or replace those of the workflow as a whole. */
function withVars(vars: DataTemplate, given: NonNullable<SuiteFile["vars"]>): DataTemplate {
  const settings = Object.entries(given).map(([name, value]) => ({ path: [name], value }));
  return settings.length === 0 ? vars : setVars(vars, settings);
}

/** The names under which all workflows of a suite see what its setup publishes. */
export async function outputsOfSetup(
  setup: readonly SuiteFile[],
  host: Host,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const { path, document } of setup) {
    const read = document ?? await readDocument(path, host).catch(() => undefined);
    for (const step of read ? stepsIn(read.value) : []) {
      if (typeof step.id !== "string" || !isDict(step.outputs)) continue;
      for (const name of [step.id, ...Object.keys(step.outputs)]) names.add(name);
    }
  }
  return names;
}

function stepsIn(root: unknown): readonly Dict[] {
  const jobs = isDict(root) && Array.isArray(root.jobs) ? root.jobs.filter(isDict) : [];
  return jobs.flatMap(({ steps }) => Array.isArray(steps) ? steps.filter(isDict) : []);
}
