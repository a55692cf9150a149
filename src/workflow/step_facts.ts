import type { Action } from "../action/action.ts";
import type { Path } from "../base/source.ts";
import type { DataTemplate, Expression, Template } from "../expr/expression.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import type { Assertion, Job, Step } from "./model.ts";

/** The milliseconds that an attempt may take where the step sets no `timeout`, or one of 0. */
export const STEP_TIMEOUT = 5 * 60_000;

/** In the outputs of a step with `iteration`: the list of the outputs of all its entries. */
export const ALL = "all";

/** Whether a step has that list, which an output named `all` replaces. */
export function hasAll({ iteration, outputs }: Pick<Step, "iteration" | "outputs">): boolean {
  return iteration !== undefined && outputs.length > 0 &&
    !outputs.some(({ name }) => name === ALL);
}

/** The word of `allow_failure` that says that what fails now and then may also pass. */
export const FLAKY = "flaky";

/** Whether what has this `allow_failure` may also pass. */
export function mayPass({ source }: Expression): boolean {
  return source.trim() === FLAKY;
}

/** The id that a job has in the file, which its `needs` refer to. */
export function writtenId({ id, combination }: Pick<Job, "id" | "combination">): string {
  return combination?.of.id ?? id;
}

/** What messages call a job: its id, or its name where the id only says its place in the file. */
export function titleOf(id: string, name: string): string {
  return isGeneratedId(id) ? name : id;
}

/** The same of a job whose name is not evaluated yet. */
export function titleOfJob(
  { id, name }: { readonly id: string; readonly name?: Template },
): string {
  return titleOf(id, name?.source ?? id);
}

/** Whether a job, or one of its matrix, got its id from its place in the file. */
export function isGeneratedId(id: string): boolean {
  return /^job_\d+(?:\(|$)/.test(id);
}

/** What expressions in a job see because it is one of a matrix. */
export function namesOfMatrix({ combination }: Pick<Job, "combination">): { matrix?: Dict } {
  return combination ? { matrix: combination.values } : {};
}

/** What the statistics of a load job know its steps by: the id, else the name; each but once. */
export function statsKeys(
  steps: readonly (Pick<Step, "id" | "name"> & { readonly action?: Pick<Action, "name"> })[],
): readonly string[] {
  const taken = new Set<string | undefined>(steps.map(({ id }) => id));
  return steps.map(({ id, name, action }) => {
    if (id !== undefined) return id;
    const title = name?.source.trim() || action?.name || "step";
    let key = title;
    for (let number = 2; taken.has(key); number++) key = `${title} ${number}`;
    taken.add(key);
    return key;
  });
}

/** Where an assertion is: under its key, or below that in a list or a map. */
export function assertionPath(key: Path, { index, isMap }: Omit<Assertion, "expression">): Path {
  return [...key, ...index === undefined ? [] : [index], ...isMap ? ["that"] : []];
}

/**
 * The name of a step as reports and drawings show it: one of the `finally` of a job, or of the
 * `setup` of its load, is marked. The `finally` of a workflow is a job by itself, whose name says so.
 */
export function markCleanup(
  { isCleanup: isMarked }: Pick<Job, "isCleanup">,
  { isCleanup, isSetup }: Pick<Step, "isCleanup" | "isSetup">,
  name: string,
): string {
  if (isSetup) return `setup: ${name}`;
  return isCleanup && !isMarked ? `cleanup: ${name}` : name;
}

/** The names of the vars that a step sets, by `vars` or in an entry of its list. */
export function varNames(step: Pick<Step, "vars" | "iteration">): ReadonlySet<string> {
  return new Set([...step.vars ? [step.vars] : [], ...listedEntries(step)].flatMap(keysOf));
}

/** The entries that a step has in its file. */
export function listedEntries({ iteration }: Pick<Step, "iteration">): readonly DataTemplate[] {
  return iteration?.kind === "list" ? iteration.entries : [];
}

/** Whether the vars of the entries of a step are known only when it runs. */
export function hasOpenEntries({ iteration }: Pick<Step, "iteration">): boolean {
  return iteration?.kind === "template" || iteration?.kind === "file" ||
    iteration?.kind === "matrix" ||
    iteration?.kind === "list" && iteration.entries.some(({ kind }) => kind === "template");
}

/** The keys of data, as far as they are known. */
export function keysOf(data: DataTemplate): readonly string[] {
  if (data.kind === "map") return data.entries.map(([key]) => key);
  return data.kind === "constant" && isDict(data.value) ? Object.keys(data.value) : [];
}
