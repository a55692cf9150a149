import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine, printable } from "../../base/text/printable.ts";
import { type Dict, isDict, merge, type Value, valueAt } from "../../base/value/value.ts";
import { type Dag, type DagOptions, type DagStep, makeDag } from "../../dag/dag.ts";
import type { Plan, PlannedJob } from "../../plan/plan.ts";
import { addSecretsOf, addSecretValue, findExchangedSecrets } from "../../secrets/find_secrets.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";
import type { PlanOptions } from "../../suite/load_plan.ts";
import type { Action } from "../../action/action.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { countOf } from "../../base/text/count_of.ts";
import { isEqual } from "../../base/value/compare.ts";
import { printYaml } from "../../base/yaml/print_yaml.ts";
import type {
  DataTemplate,
  Expression,
  RenderOptions,
  Scope,
  Template,
} from "../../expr/expression.ts";
import { isChanging } from "../../expr/functions/registry.ts";
import type { Node } from "../../expr/parse/ast.ts";
import { childrenOf } from "../../expr/parse/tree.ts";
import { isTemplate, renderText } from "../../expr/template.ts";
import type { Document, Duration, Step } from "../../workflow/model.ts";
import { namesOfMatrix, writtenId } from "../../workflow/step_facts.ts";

/** The text of `--list` for a plan that is an outline, of `--dry-run` for any other. */
export function renderPlan(
  plan: Plan,
  { isOutline, environment }: PlanOptions,
  secrets: Masker,
): string {
  if (isOutline) return renderList(makeDag(plan, makeNameMask(plan, secrets)), plan);
  return renderDryRun(plan, environment, secrets);
}

/**
 * Masks secrets in the names of jobs and steps, also those in the `vars` around them and those that
 * expressions name. The masker learns them.
 */
export function makeNameMask({ secrets }: Plan, masker: Masker): Required<DagOptions> {
  const addSecret: DagOptions["addSecret"] = (value) => addSecretValue(value, masker);
  for (const value of secrets) addSecret(value);
  const known = new Set<Dict>();
  return {
    addSecret,
    mask(name, vars) {
      if (!known.has(vars)) addSecretsOf(vars, masker);
      known.add(vars);
      return masker.mask(name);
    },
  };
}

/** One line for each job and each step: its name, its id, and what a job needs. */
function renderList({ jobs }: Dag, plan: Plan): string {
  const planned = new Map(plan.jobs.map((one) => [one.job.id, one]));
  const rows = jobs.flatMap(({ id, name, steps, tags }): readonly Row[] => {
    const { skip, needs: needed } = planned.get(id)!;
    const needs = idsOfNeeds(needed);
    const remarks = [
      ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
      ...(tags ? [`tags ${tags.join(", ")}`] : []),
      ...(skip === undefined ? [] : [`skipped: ${skip}`]),
    ];
    return [[shown(name), shown(id), shown(remarks.join("; "))], ...stepRows(steps, "  ")];
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => widthOf(row[column]!))));
  return rows.map((row) =>
    row.map((text, column) =>
      text + " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)))
    ).join("  ").trimEnd() + "\n"
  ).join("");
}

type Row = readonly [name: string, id: string, remarks: string];

function stepRows(steps: readonly DagStep[], indent: string): readonly Row[] {
  return steps.flatMap(({ id = "", name, steps: inner = [] }): readonly Row[] => [
    [indent + shown(name), shown(id), ""],
    ...stepRows(inner, `${indent}  `),
  ]);
}

/** A longer text widens no column. */
const WIDEST = 50;

function widthOf(text: string): number {
  const width = displayWidth(text);
  return width <= WIDEST ? width : 0;
}

/** A text on one line, with visible control characters. */
export function shown(text: string): string {
  return printable(oneLine(text));
}

/**
 * The workflow that a run would carry out, as YAML with all values filled in that are known
 * beforehand. The masker learns the secrets that come up.
 */
function renderDryRun(
  { workflow, jobs, secrets }: Plan,
  environment: Readonly<Record<string, string>>,
  masker: Masker,
): string {
  const addSecret = (value: Value) => addSecretValue(value, masker);
  secrets.forEach(addSecret);
  const vars = fillIn(workflow.vars, {
    scope: { names: environment, strict: false, addSecret },
    openVars: new Set(),
  });
  const names = { vars: {} };
  const nothing = { scope: { names, strict: true, addSecret }, openVars: new Set<string>() };
  const known = learnVars(nothing, vars);
  addSecretsOf(environment, masker);
  addSecretsIn({ vars }, masker);
  const { name, description } = workflow;
  const shown = {
    name,
    description: description?.trim(),
    vars: hasFields(vars) ? vars : undefined,
    jobs: jobs.map((job) => fillInJob(job, known, workflow.document, masker)),
  };
  const all = countOf(workflow.jobs.length, "job");
  const count = jobs.length === workflow.jobs.length ? all : `${jobs.length} of ${all}`;
  // Nothing is printed before all secrets are known.
  const masked = mapLeaves(withoutGaps(shown), (leaf) => maskLeaf(leaf, masker));
  return printable(`# dry run: ${count}, nothing was run\n${printYaml(masked)}`);
}

/** A text of which a part is known only in the run. */
class OpenText {
  /** With the unknown parts as they are in the file. */
  readonly written: string;
  /** With a space for each of them. */
  readonly known: string;

  constructor(written: string, known: string) {
    this.written = written;
    this.known = known;
  }
}

/** Data with all values filled in that are known. */
type Filled = Value | OpenText | readonly Filled[] | FilledMap;

interface FilledMap {
  readonly [key: string]: Filled;
}

type Leaf = Exclude<Value, object> | null | OpenText;

function isMap(data: Filled | undefined): data is FilledMap {
  return isDict(data) && !(data instanceof OpenText);
}

function hasFields(data: Filled | undefined): boolean {
  return !isMap(data) || Object.keys(data).length > 0;
}

/** Plain data, made of these leaves; the keys of maps are leaves, too. */
function mapLeaves(data: Filled, map: (leaf: Leaf) => Value): Value {
  if (Array.isArray(data)) return data.map((item) => mapLeaves(item, map));
  if (!isMap(data)) return map(data as Leaf);
  return Object.fromEntries(
    Object.entries(data).map(([key, field]) => [String(map(key)), mapLeaves(field, map)]),
  );
}

function maskLeaf(leaf: Leaf, masker: Masker): Value {
  if (leaf === null) return leaf;
  const text = leaf instanceof OpenText ? leaf.written : String(leaf);
  const masked = masker.mask(text);
  return masked === text && !(leaf instanceof OpenText) ? leaf : masked;
}

function isKnown(data: Filled): data is Value {
  if (data instanceof OpenText) return false;
  return typeof data !== "object" || data === null || Object.values(data).every(isKnown);
}

/** The known part of data. */
function knownPart(data: Filled): Value {
  return mapLeaves(data, (leaf) => leaf instanceof OpenText ? leaf.known : leaf);
}

/** Known values may be secret by their names, and occur elsewhere too. */
function addSecretsIn(data: FilledMap, masker: Masker): void {
  const known = mapLeaves(data, (leaf) => {
    return leaf instanceof OpenText || isTemplate(leaf) ? null : leaf;
  });
  addSecretsOf(known as Dict, masker);
}

/** The values known before anything has run. */
interface Knowledge {
  readonly scope: Scope;
  /** Vars whose values are known only during the run. */
  readonly openVars: ReadonlySet<string>;
}

function fillInJob(
  { job, needs, skip }: PlannedJob,
  vars: Knowledge,
  document: Document,
  masker: Masker,
): FilledMap {
  const { id, name, path, load, repeat, skipif } = job;
  const names = { ...vars.scope.names, ...namesOfMatrix(job) };
  const known = { ...vars, scope: { ...vars.scope, names } };
  const rounds = { ...names, ...load || repeat ? {} : { repeat_index: 0 } };
  const inRounds = { ...vars, scope: { ...vars.scope, names: rounds } };
  // Each round has other rows.
  const inSteps = load?.data ? withoutVars(inRounds) : inRounds;
  const written = mapAt(document, path);
  const { id: _id, name: _name, defaults: _defaults, matrix: _matrix, ...keys } = written;
  addSecretsIn({ load: written.load ?? null }, masker);
  const stepsOf = (kind?: "isCleanup" | "isSetup") => {
    const steps = job.steps.filter((step) => kind ? step[kind] : !step.isCleanup && !step.isSetup);
    return steps.length === 0
      ? undefined
      : steps.map((step) => fillInStep(step, inSteps, document, masker));
  };
  return withoutGaps({
    id: written.id === undefined ? undefined : id,
    name: fillInText(name, known, { display: true }),
    skipped: skip ?? skippedBy(skipif, known),
    ...keys,
    load: isMap(keys.load) ? withoutGaps({ ...keys.load, setup: stepsOf("isSetup") }) : keys.load,
    needs: needs.length === 0 ? undefined : idsOfNeeds(needs),
    steps: stepsOf(),
    finally: stepsOf("isCleanup"),
  });
}

/** Why something is skipped for certain. */
function skippedBy(skipif: Expression | undefined, known: Knowledge): string | undefined {
  if (!skipif || isOpen(skipif.node, known, [])) return undefined;
  const isTrue = unlessItFails(() => skipif.evaluate(known.scope) === true);
  return isTrue ? `skipif is true: ${skipif.source.trim()}` : undefined;
}

function fillInStep(
  step: Step,
  before: Knowledge,
  document: Document,
  masker: Masker,
): FilledMap {
  const written = mapAt(document, step.path);
  const { iteration, embedded } = step;
  const vars = step.vars && fillIn(step.vars, before);
  const inStep = vars ? learnVars(before, vars) : before;
  const entries = iteration?.kind === "list"
    ? iteration.entries.map((entry) => fillIn(entry, inStep))
    : undefined;
  const known = entries
    ? forgetVars(inStep, entries.flatMap(keysOf))
    : iteration && iteration.kind !== "loop"
    ? withoutVars(inStep)
    : inStep;
  const params = fillIn(step.with, known);
  const textOf = (duration: Duration | undefined) =>
    duration?.kind === "template" ? fillInText(duration.template, known) : undefined;
  const filled = withoutGaps({
    name: step.name && fillInText(step.name, known, { display: true }),
    vars,
    wait: textOf(step.wait),
    timeout: textOf(step.timeout),
    max_time: textOf(step.maxTime),
    iteration: entries &&
      (isMap(written.iteration) ? { ...written.iteration, list: entries } : entries),
    with: hasFields(params) ? hideSecrets(params, step.action, masker) : undefined,
    echo: step.echo && fillInText(step.echo, known, { display: true }),
  });
  // Commands and embedded jobs receive variables by parameters.
  const { env = null, vars: passed = null } = isMap(params) ? params : {};
  addSecretsIn({ vars: vars ?? null, env, passed }, masker);
  addSecretsIn({ iteration: filled.iteration ?? written.iteration ?? null }, masker);
  return withoutGaps({
    skipped: skippedBy(step.skipif, known),
    ...written,
    ...filled,
    steps: embedded?.job.steps.map((inner) =>
      fillInStep(inner, knownInside(passed), embedded.document, masker)
    ),
  });
}

/** The values known in an embedded job that gets these vars. */
function knownInside(vars: Filled): Knowledge {
  // If even the names of the vars are unknown, nothing can be evaluated.
  const names = { repeat_index: 0, ...vars instanceof OpenText ? {} : { vars: {} } };
  return learnVars({ scope: { names, strict: true }, openVars: new Set() }, vars);
}

/** The keys of a map as the file has them. */
function mapAt({ value }: Document, path: Path): FilledMap {
  const written = valueAt(value, path);
  return isDict(written) ? written : {};
}

/** The fields of a map that have values. */
function withoutGaps(map: Readonly<Record<string, Filled | undefined>>): FilledMap {
  return Object.fromEntries(
    Object.entries(map).filter(([, field]) => field !== undefined),
  ) as FilledMap;
}

/** Data with known values filled in. */
function fillIn(template: DataTemplate, known: Knowledge): Filled {
  switch (template.kind) {
    case "constant":
      return template.value as Value;
    case "template":
      return fillInText(template.template, known, template);
    case "list":
      return template.items.map((item) => fillIn(item, known));
    case "map":
      return Object.fromEntries(
        template.entries.map(([key, field]) => [key, fillIn(field, known)]),
      );
  }
}

/** A template with known parts filled in; its value, of any type, if all of it is known. */
function fillInText(template: Template, known: Knowledge, options?: RenderOptions): Filled {
  const { source, parts } = template;
  const isClosed = (part: string | Node) => typeof part === "string" || !isOpen(part, known, []);
  const value = parts.every(isClosed)
    ? unlessItFails(() => template.render(known.scope, options) as Value)
    : undefined;
  if (value !== undefined) return value;
  let at = 0;
  const texts = parts.map((part) => {
    const start = at;
    if (typeof part === "string") {
      at += part.length;
      return { written: part, known: part };
    }
    at = source.indexOf("}}", part.end) + "}}".length;
    const text = isClosed(part)
      ? unlessItFails(() => renderText({ source, parts: [part] }, known.scope, options))
      : undefined;
    return { written: text ?? source.slice(start, at), known: text ?? " " };
  });
  const join = (key: "written" | "known") => texts.map((text) => text[key]).join("");
  return new OpenText(join("written"), join("known"));
}

/** What fails stays as it is written: the run says why. */
function unlessItFails<T>(evaluate: () => T): T | undefined {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return undefined;
  }
}

/** Whether the value of a node depends on the run, or changes each time. */
function isOpen(node: Node, known: Knowledge, locals: readonly string[]): boolean {
  const { scope: { names, strict }, openVars } = known;
  const isOpenHere = (child: Node) => isOpen(child, known, locals);
  switch (node.type) {
    case "Identifier":
      if (locals.includes(node.name)) return false;
      if (node.name === "vars" && openVars.size > 0) return true;
      return strict && !Object.hasOwn(names, node.name);
    case "LetExpression":
      return isOpenHere(node.init) || isOpen(node.body, known, [...locals, node.id.name]);
    case "CallExpression":
      if (node.callee.type === "Identifier" && isChanging(node.callee.name)) return true;
      break;
    case "MemberExpression": {
      const { object, property, computed } = node;
      const isVar = object.type === "Identifier" && object.name === "vars";
      const key = property.type === "Literal" || !computed ? keyOf(property) : undefined;
      const areKnown = Object.hasOwn(names, "vars");
      if (isVar && areKnown && key !== undefined) return openVars.has(key);
    }
  }
  return childrenOf(node).some(isOpenHere);
}

function keyOf(property: Node): string | undefined {
  if (property.type === "Identifier") return property.name;
  return property.type === "Literal" ? String(property.value) : undefined;
}

function keysOf(data: Filled): string[] {
  return isMap(data) ? Object.keys(data) : [];
}

/** The known values after vars have been added; vars whose values are still open are not known. */
function learnVars(known: Knowledge, added: Filled): Knowledge {
  if (!Object.hasOwn(known.scope.names, "vars") || !isMap(added)) return known;
  const vars: Record<string, Value> = Object.assign(Object.create(null), known.scope.names.vars);
  const openVars = new Set(known.openVars);
  for (const [key, field] of Object.entries(added)) {
    if (!isKnown(field) || isDict(field) && openVars.has(key)) {
      delete vars[key];
      openVars.add(key);
    } else {
      vars[key] = merge(vars[key] ?? null, field);
      openVars.delete(key);
    }
  }
  return withVars(known, vars, openVars);
}

/** The values known in all runs, where some vars differ in each. */
function forgetVars(known: Knowledge, names: readonly string[]): Knowledge {
  const vars = Object.assign(Object.create(null), known.scope.names.vars);
  for (const name of names) delete vars[name];
  return withVars(known, vars, new Set([...known.openVars, ...names]));
}

/** The values known where any var may be replaced. */
function withoutVars({ scope, openVars }: Knowledge): Knowledge {
  const { vars: _, ...names } = scope.names;
  return { scope: { ...scope, names }, openVars };
}

function withVars(
  { scope }: Knowledge,
  vars: Dict,
  openVars: ReadonlySet<string>,
): Knowledge {
  return { scope: { ...scope, names: { ...scope.names, vars } }, openVars };
}

/**
 * Parameters of an action without what is secret by its name, as the values of secret headers. The
 * masker learns the secrets in what is known.
 */
function hideSecrets(params: Filled, { parameters = [] }: Action, masker: Masker): Filled {
  const known = knownPart(params);
  findExchangedSecrets({ known }, (text, shortest) => masker.add(text, shortest));
  if (!isMap(params)) return params;
  const hidden = parameters.flatMap(({ name, hide }) => {
    const field = params[name];
    if (!hide || field === undefined) return [];
    const hideField = (key: string, part: Filled) =>
      hiddenPart(part, (value) => (hide({ [key]: value }, MASK) as Dict)[key] ?? null);
    const shown = isMap(field)
      ? Object.fromEntries(Object.entries(field).map(([key, part]) => [key, hideField(key, part)]))
      : hiddenPart(field, (value) => hide(value, MASK));
    return [[name, shown] as const];
  });
  return { ...params, ...Object.fromEntries(hidden) };
}

/** What is shown of a part that may be secret: as it is written, or what `hide` leaves of it. */
function hiddenPart(part: Filled, hide: (value: Value) => Value): Filled {
  const known = knownPart(part);
  const hidden = hide(known);
  const isNothing = typeof known === "string" && known.trim() === "";
  return isNothing || isEqual(hidden, known) ? part : hidden;
}

/** The ids of jobs in the file: those of a matrix have one. */
function idsOfNeeds(needs: readonly PlannedJob[]): readonly string[] {
  return [...new Set(needs.map(({ job }) => writtenId(job)))];
}
