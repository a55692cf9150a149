import type { NameRead } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { type Dict, isDict, stepText } from "../../base/value/value.ts";
import type { DataTemplate, Template } from "../../expr/expression.ts";
import { onlyExpression } from "../../expr/parse/tree.ts";
import { type Reference, valueReferences } from "../../expr/references.ts";
import type { Plan } from "../../plan/plan.ts";
import { titleOfJob, varNames } from "../../workflow/step_facts.ts";
import type { Job, Step } from "../../workflow/model.ts";
import type { FailureOwner, Round, StepExecution, UpstreamFailure } from "../run_state.ts";

type NilRead = Pick<NameRead, "root" | "keys">;

/** A step or job that reads, and the key in which it does. */
interface Reader {
  readonly owner: FailureOwner;
  readonly field: Path;
}

/**
 * Says why what was read is nil, if the cause is outside the expression: a step before it
 * failed, a job was not selected, a variable is not set, or a step published nil. `all` is
 * everything that the expression reads; with `isNil` the key is known to be there, as nil.
 */
export function explainNil(
  { owner, field }: Reader,
  reads: readonly NilRead[],
  { all = reads, isNil = false }: { all?: readonly NilRead[]; isNil?: boolean } = {},
): string | undefined {
  const { run, run: { plan } } = owner;
  const step = "model" in owner ? owner.model : undefined;
  const upstream = "model" in owner ? failedUpstream(owner.round, reads) : undefined;
  // To an embedded job, the jobs of the plan are nothing.
  if (upstream !== undefined || run.isEmbedded) return upstream;
  // Thousands of steps may fail for the same reason.
  const publishers = run.resources.resource("steps that publish", () => publishersOf(plan));
  const job = "model" in owner ? owner.round.job : owner.job;
  return notSelected(plan, publishers, all) ??
    unsetVariable(plan, step && field[0] !== "vars" ? varNames(step) : undefined, reads) ??
    (isNil ? publishedAsNil(publishers, { job, step }, reads) : undefined);
}

/** A hint about parts of a result that the action failed to get, after what it got instead. */
export function withTrouble(
  owner: FailureOwner,
  reads: readonly NilRead[],
  hint: string | undefined,
): string | undefined {
  const trouble = "model" in owner ? owner.trouble : undefined;
  if (trouble === undefined || reads.every(({ root }) => root !== "res")) return hint;
  return hint === undefined ? trouble : `${trouble}; ${hint}`;
}

type OutputRead = readonly [first: string, second: string | undefined];

/** The outputs that are read: by the id of a step, or by a flat name without a second key. */
function outputsOf(reads: readonly NilRead[]): readonly OutputRead[] {
  return reads.flatMap(({ root, keys: [first, second] }) =>
    root === "outputs" && first ? [[first.name, second?.name] as const] : []
  );
}

function failedUpstream(round: Round, reads: readonly NilRead[]): string | undefined {
  if (round.failures.upstream.length === 0) return undefined;
  for (const [first, second] of outputsOf(reads)) {
    const found = round.failures.upstream.find(({ step }) => lacks(step, round, first, second));
    if (found) return upstreamReason(found);
  }
  return undefined;
}

/** Why the outputs of a step are missing. */
export function upstreamReason({ name, state }: UpstreamFailure): string {
  return `the step "${name}", which publishes it, ${state === "failed" ? "failed" : "was skipped"}`;
}

/** Whether a step declares an output, by its id or flat, that is missing. */
function lacks(step: Step, { outputs: { view } }: Round, first: string, second?: string): boolean {
  if (first !== step.id) return declares(step, first) && (view[first] ?? null) === null;
  const published = view[first];
  if (!isDict(published)) return true;
  return second !== undefined && declares(step, second) && (published[second] ?? null) === null;
}

function declares({ outputs }: Step, name: string): boolean {
  return outputs.some((output) => output.name === name);
}

function notSelected(
  { workflow, jobs }: Plan,
  publishers: Publishers,
  reads: readonly NilRead[],
): string | undefined {
  const planned = new Map(jobs.map((planned) => [planned.job, planned]));
  for (const job of workflow.jobs) {
    const choice = planned.get(job);
    if (choice && choice.skip === undefined) continue;
    const read = outputsOf(reads).find(([name]) =>
      publishers.get(name)?.some((p) => p.job === job)
    );
    if (!read) continue;
    const why = choice ? `was skipped because of ${choice.skip}` : "was not selected to run";
    return `outputs.${read[0]} comes from the job "${titleOfJob(job)}", which ${why}`;
  }
  return undefined;
}

/** A value of workflow `vars` that is one variable of the environment, as it is. */
export const VARIABLE = /^\s*\{\{\s*(?!(?:nil|true|false)\b)(\w+)\s*\}\}\s*$/;

function unsetVariable(
  { workflow, vars }: Plan,
  stepVars: ReadonlySet<string> | undefined,
  reads: readonly NilRead[],
): string | undefined {
  for (const { root, keys } of reads) {
    if (root !== "vars" || keys[0] && stepVars?.has(keys[0].name)) continue;
    let written = fieldOf(workflow.document.value, "vars");
    let value: unknown = vars;
    let read = "vars";
    for (const { name } of keys) {
      [written, value] = [fieldOf(written, name), fieldOf(value, name)];
      read += stepText(name);
      const [, variable] = typeof written === "string" ? VARIABLE.exec(written) ?? [] : [];
      if (variable === undefined || value !== null) continue;
      return `${read} reads the environment variable ${variable}, which is not set`;
    }
  }
  return undefined;
}

/** Names the step that published a value as nil; of several, any may have been the last. */
function publishedAsNil(
  publishers: Publishers,
  { job, step }: { readonly job: Job; readonly step: Step | undefined },
  reads: readonly NilRead[],
): string | undefined {
  for (const [first, second] of outputsOf(reads)) {
    const before = publishers.get(first)?.filter((one) =>
      one.job !== job || step !== undefined && one.step.index < step.index
    ) ?? [];
    const [one, ...others] = before.filter(({ step }) =>
      declares(step, second ?? first)
    );
    if (one && others.length === 0) return `${nameOf(one.step)} published it as nil`;
  }
  return undefined;
}

function nameOf({ id, name }: Step): string {
  return `the step "${name?.source ?? id}"`;
}

/** The steps that publish, by their ids, or, without ids, by flat names. */
type Publishers = ReadonlyMap<string, readonly { readonly job: Job; readonly step: Step }[]>;

function publishersOf({ workflow: { jobs } }: Plan): Publishers {
  const all = jobs.flatMap((job) => job.steps.map((step) => ({ job, step })))
    .filter(({ step }) => step.id !== undefined && step.outputs.length > 0);
  const flat = Map.groupBy(
    all.flatMap(({ job, step }) => step.outputs.map(({ name }) => ({ name, job, step }))),
    ({ name }) => name,
  );
  return new Map([...flat, ...Map.groupBy(all, ({ step }) => step.id!)]);
}

/** More than this would not help to find the cause. */
const MAX_PARTS = 3;

/**
 * Says which parts of `with` came out nil, and why: such a part is left out or sent as null, and
 * may be the cause of what failed after it.
 */
export function nilPartsHint(owner: FailureOwner): string | undefined {
  if (!("model" in owner)) return undefined;
  const reasons = nilReasons(owner).take(MAX_PARTS)
    .map(([path, why]) => `${["with", ...path].join(".")} is nil: ${why}`).toArray();
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

/** Says why a parameter or a part of it is nil, where one is and the reason is known. */
export function nilParameterHint(owner: FailureOwner, parameter: string): string | undefined {
  if (!("model" in owner)) return undefined;
  const [path, why] = nilReasons(owner).find(([path]) => path[0] === parameter) ?? [];
  return path === undefined || path.length === 1 ? why : `${path.join(".")} is nil: ${why}`;
}

/** The parts of the rendered `with` that are nil for a known reason, with this reason. */
function* nilReasons(step: StepExecution): Generator<readonly [Path, string]> {
  if (!step.params) return;
  for (const [path, template] of nilParts(step.model.with, step.params, [])) {
    let only = onlyExpression(template);
    while (only?.type === "LogicalExpression" && only.operator === "??") only = only.right;
    const reads = only ? valueReferences(only) : [];
    const [first] = reads;
    if (!first) continue;
    const { isNil, absent } = follow(step.names, first);
    const why = explainNil({ owner: step, field: ["with"] }, reads, { isNil }) ?? absent;
    if (why !== undefined) yield [path, why];
  }
}

/** The templates that gave nil. */
function* nilParts(
  part: DataTemplate,
  value: unknown,
  path: Path,
): Generator<readonly [Path, Template]> {
  switch (part.kind) {
    case "constant":
      return;
    case "template":
      if (value === null) yield [path, part.template];
      return;
    case "list":
      for (const [index, item] of part.items.entries()) {
        yield* nilParts(item, (value as readonly unknown[])[index], [...path, index]);
      }
      return;
    case "map":
      for (const [key, field] of part.entries) {
        yield* nilParts(field, (value as Dict)[key], [...path, key]);
      }
  }
}

/** Where `vars.db.host` leads: to nil, or no further than a key that is not there. */
function follow(
  names: Readonly<Record<string, unknown>>,
  { root, keys, isOpen }: Reference,
): { readonly isNil: boolean; readonly absent?: string } {
  let value = fieldOf(names, root);
  let owner = root;
  for (const { name } of keys) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { isNil: false };
    }
    if (!Object.hasOwn(value, name)) {
      const near = didYouMean(name, Object.keys(value));
      const what = `${owner} has no "${name}"`;
      return { isNil: false, absent: near === undefined ? what : `${what}; ${near}` };
    }
    value = fieldOf(value, name);
    owner += stepText(name);
  }
  return { isNil: value === null && !isOpen };
}

/** The value under a key, if the value is a map. */
function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
