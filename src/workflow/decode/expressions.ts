import type { Action } from "../../action/action.ts";
import type { Parameter } from "../../action/parameter.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Dict } from "../../base/value/value.ts";
import { checkExpression, checkTemplate } from "../../expr/check_expression.ts";
import type { DataTemplate, Expression, NameRule, Template } from "../../expr/expression.ts";
import type { FilesOfCalls } from "../../expr/functions/function.ts";
import { callsToPrepare, loadFunctions, mayNameFile } from "../../expr/functions/registry.ts";
import { PlainError } from "../../expr/plain_error.ts";
import type { Node } from "../../expr/parse/ast.ts";
import {
  parseData,
  parseExpression,
  parseTemplate,
  templatesIn,
} from "../../expr/parse_expression.ts";
import { onlyExpression } from "../../expr/parse/tree.ts";
import { type Reference, referencesIn } from "../../expr/references.ts";
import { holdsTemplate, plainTemplate } from "../../expr/template.ts";
import { addError, addWarning, MAX_PROBLEMS, type Problem } from "../problem.ts";

type Tree = Expression | Template;

/** A place of a document that may have expressions. */
interface Place {
  readonly path: Path;
  /** The names that they see. */
  readonly names: NameRule;
  /** The rule of the key that they belong to. */
  readonly form?: Omit<Parameter, "name" | "required">;
}

export interface ExpressionUse extends Place {
  names: NameRule;
  readonly tree: Tree;
}

type FindHint = (hints: typeof import("../../expr/hints.ts")) => string | undefined;

/** The result of checking a tree. */
interface Checked {
  readonly errors: readonly ExpressionError[];
  readonly references: readonly Reference[];
}

/** Parses the expressions and templates of a document; errors in them become problems. */
export class Expressions {
  /** Everything that was parsed; what `with` has from the defaults of a job is at the step too. */
  readonly uses: ExpressionUse[] = [];
  readonly #problems: Problem[];
  readonly #expressions = new Map<string, Expression | ExpressionError>();
  readonly #templates = new Map<string, Template | ExpressionError>();
  /** The hints of problems by their index: what finds them is loaded once there is one. */
  readonly #hints = new Map<number, FindHint>();

  constructor(problems: Problem[]) {
    this.#problems = problems;
  }

  /** The expression of a text; undefined, with a problem reported, if it is invalid. */
  expression(text: string, place: Place): Expression | undefined {
    return this.#use(parseOnce(parseExpression, text, this.#expressions), place);
  }

  /** The template of a text; undefined, with a problem reported, if it is invalid. */
  template(text: string, place: Place): Template | undefined {
    if (!holdsTemplate(text)) return plainTemplate(text);
    return this.#use(parseOnce(parseTemplate, text, this.#templates), place);
  }

  /**
   * Data whose texts may be templates; invalid parts are still checked. `action` is the one whose
   * parameters they are.
   */
  data(value: unknown, { path, names, form }: Place, action?: Action): DataTemplate {
    const { template, errors } = parseData(value);
    for (const error of errors) this.#report(error, path);
    for (const { template: tree, path: inside } of templatesIn(template)) {
      this.#use(tree, { path: [...path, ...inside], names, form });
    }
    return action?.omitsNilIn
      ? markOmittedNil(template, action, action.omitsNilIn(value as Dict))
      : template;
  }

  /**
   * Checks everything that was parsed: functions, patterns, and whether the names exist. `vars`
   * are the variables of the workflow, which are easily written without `vars.` before them;
   * `filesAt` reads the files that the functions of an expression name.
   */
  async check(vars: readonly string[], filesAt: (path: Path) => FilesOfCalls): Promise<void> {
    const nodes = [...new Set(this.uses.map(({ tree }) => tree))].flatMap(nodesOf);
    await loadFunctions(nodes);
    const known = new Map<Tree, Checked>();
    let left = MAX_PROBLEMS;
    for (const { tree, path, names } of this.uses) {
      if (left < 0) break;
      let checked = known.get(tree);
      if (!checked) known.set(tree, checked = await checkTree(tree, filesAt(path)));
      for (const error of checked.errors) this.#report(error, path);
      left -= checked.errors.length;
      for (const reference of checked.references) {
        const isUnknown = checkName(this.#problems, reference, path, names);
        if (!isUnknown) continue;
        const { base } = reference;
        const at = this.#problems.length - 1;
        this.#hints.set(at, ({ nameHint }) => nameHint(base, tree.source, names.known ?? [], vars));
      }
    }
    if (this.#hints.size === 0) return;
    const hints = await import("../../expr/hints.ts");
    for (const [at, find] of this.#hints) {
      this.#problems[at] = { ...this.#problems[at]!, hint: find(hints) };
    }
  }

  #use<T extends Tree>(tree: T | ExpressionError, place: Place): T | undefined {
    if (tree instanceof ExpressionError) return this.#report(tree, place.path);
    const { path, names, form } = place;
    if (nodesOf(tree).length > 0) this.uses.push({ tree, path, names, form });
    return tree;
  }

  #report(error: ExpressionError, path: Path): undefined {
    const { message, start, end, hint, path: inside } = error;
    if (error instanceof PlainError) {
      this.#hints.set(this.#problems.length, ({ explained }) => explained(error).hint);
    }
    const details = { range: { start, end }, hint };
    addError(this.#problems, "expression", [...path, ...inside], message, details);
  }
}

/** The tree or the error of a text. A text that may name a file has a tree for each of its places. */
function parseOnce<T extends Tree>(
  parse: (text: string) => T,
  text: string,
  known: Map<string, T | ExpressionError>,
): T | ExpressionError {
  const before = mayNameFile(text) ? undefined : known.get(text);
  if (before) return before;
  let parsed: T | ExpressionError;
  try {
    parsed = parse(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    parsed = error;
  }
  known.set(text, parsed);
  return parsed;
}

function nodesOf(tree: Tree): readonly Node[] {
  return "node" in tree ? [tree.node] : tree.parts.filter((part) => typeof part !== "string");
}

async function checkTree(tree: Tree, files: FilesOfCalls): Promise<Checked> {
  const inCalls: ExpressionError[] = [];
  for (const [call, prepare] of nodesOf(tree).flatMap(callsToPrepare)) {
    const mistake = await prepare(call, files);
    if (!mistake) continue;
    const { node: { start, end }, message, hint } = mistake;
    inCalls.push(new ExpressionError(message, start, end, hint));
  }
  const errors = "node" in tree ? checkExpression(tree) : checkTemplate(tree);
  return { errors: [...errors, ...inCalls], references: nodesOf(tree).flatMap(referencesIn) };
}

/**
 * Checks that what an expression reads is known at the place of the expression; true for a name
 * whose problem, the last one, has no hint yet.
 */
function checkName(
  problems: Problem[],
  { base: { name, start, end }, keys }: Reference,
  path: Path,
  { where, known, hints = {}, empty = {}, members = {} }: NameRule,
): boolean {
  let owner = name;
  let rule = name;
  for (const key of keys) {
    const fields = Object.hasOwn(members, rule) ? members[rule] : undefined;
    // Beside the classes of status codes, each code counts.
    const isCode = /^[1-5]\d\d$/.test(key.name) && fields?.includes("1xx");
    if (fields && !isCode && !fields.includes(key.name)) {
      addError(problems, "unknown-name", path, `unknown field "${key.name}" of ${owner}`, {
        range: { start: key.start, end: key.end },
        hint: didYouMean(key.name, fields) ?? `${owner} has ${fields.join(", ")}`,
      });
      break;
    }
    owner = `${owner}.${key.name}`;
    rule = Object.hasOwn(members, owner) ? owner : `${rule}.*`;
  }
  if (Object.hasOwn(empty, name)) {
    addWarning(problems, "empty-name", path, `"${name}" is always ${empty[name]} here`, {
      range: { start, end },
      hint: "this is evaluated before the action; what earlier steps published is in outputs",
    });
  }
  const isMistaken = Object.hasOwn(hints, name);
  if (name === WHOLE_SCOPE || (known ? known.includes(name) : !isMistaken)) return false;
  const hint = isMistaken ? hints[name] : undefined;
  const message = `unknown name "${name}" ${where}`;
  addError(problems, "unknown-name", path, message, { range: { start, end }, hint });
  return !isMistaken;
}

/**
 * The parameters of an action that leaves out what is nil, with a guard at each template that
 * could silently leave one out. `open` names those whose fields are left out as well.
 */
function markOmittedNil(
  data: DataTemplate,
  { parameters = [], alternatives = [] }: Action,
  open: readonly string[],
): DataTemplate {
  if (data.kind !== "map") return data;
  // The action itself reports those that it requires.
  const needed = parameters.filter(({ required }) => required).map(({ name }) => name).concat(
    alternatives.filter(({ required }) => required).flatMap(({ names }) => names),
  );
  return mapEntries(data, (name, value) => {
    if (needed.includes(name)) return value;
    const inside = open.includes(name) ? guardFields(name, value) : value;
    return guard(inside, `"${name}"`);
  });
}

function guardFields(parameter: string, data: DataTemplate): DataTemplate {
  if (data.kind !== "map") return data;
  return mapEntries(data, (name, value) => {
    const what = `"${name}" of "${parameter}"`;
    if (value.kind !== "list") return guard(value, what);
    return { kind: "list", items: value.items.map((item) => guard(item, what)) };
  });
}

type MapTemplate = Extract<DataTemplate, { kind: "map" }>;

function mapEntries(
  { entries }: MapTemplate,
  change: (name: string, value: DataTemplate) => DataTemplate,
): MapTemplate {
  return { kind: "map", entries: entries.map(([name, value]) => [name, change(name, value)]) };
}

function guard(data: DataTemplate, nilOmits: string): DataTemplate {
  if (data.kind !== "template") return data;
  // A text with nil in it is an error anyway.
  const only = onlyExpression(data.template);
  return !only || isNilMeant(only) ? data : { ...data, nilOmits };
}

/** Whether an expression says itself that it may give nil: `a ?? nil`, or `a ? b : nil`. */
function isNilMeant(node: Node): boolean {
  switch (node.type) {
    case "Literal":
      return node.value === null;
    case "LogicalExpression":
      return node.operator === "??" && isNilMeant(node.right);
    case "ConditionalExpression":
      return isNilMeant(node.consequent) || isNilMeant(node.alternate);
    case "LetExpression":
      return isNilMeant(node.body);
    case "SequenceExpression":
      return node.expressions.slice(-1).some(isNilMeant);
    default:
      return false;
  }
}

/** The whole scope, by a name that every expression has. */
export const WHOLE_SCOPE = "$env";

const HINTS = {
  env: "unlike in GitHub Actions, environment variables are read in the vars of the workflow: " +
    'NAME: "{{NAME}}"',
  jobs: "what other jobs publish is in outputs",
  matrix: 'a job with the key "matrix" has it',
  round: 'a job with the key "load" has it; in all others, write repeat_index',
  steps: "what other steps publish is in outputs: outputs.<step id>.<name>",
};

/** In the vars of the workflow every name but these is an environment variable. */
export const IN_WORKFLOW_VARS: NameRule = {
  where: "in the vars of the workflow",
  hints: {
    vars: "vars cannot use each other: they see environment variables, by bare name",
    outputs: "vars are evaluated before the first job: there are no outputs yet",
  },
};

/** The name of a workflow of a suite. */
export const IN_SUITE_NAME: NameRule = {
  where: "in the name of a workflow of a suite",
  known: ["vars", "matrix"],
  hints: HINTS,
};

/** The name of a job, which is one for all its rounds and known before any step has run. */
export const IN_JOB_NAME: NameRule = {
  where: "in the name of a job",
  known: ["vars"],
  hints: {
    ...HINTS,
    repeat_index: "a job has one name for all its rounds; the names of its steps see repeat_index",
  },
};

/** The values of a matrix, which are known before any job has run. */
export const IN_MATRIX: NameRule = {
  where: "in a matrix",
  known: ["vars"],
  hints: {
    ...HINTS,
    outputs: "a matrix is evaluated before the first job: there are no outputs yet",
  },
};

/** Evaluated before the steps of a job: skipif and the interval of repeat. */
export const IN_JOB: NameRule = {
  where: "in a job",
  known: ["vars", "outputs", "needs"],
  hints: HINTS,
};

/** Evaluated before a step starts: its vars and the entries of iteration. */
export const IN_STEP_VARS: NameRule = {
  where: "in the vars of a step",
  known: ["vars", "outputs", "needs", "run", "repeat_index", "iteration_index", "trace"],
  hints: HINTS,
};

/** Evaluated before the entries of a step start: their source and which of them run. */
export const IN_ITERATION: NameRule = {
  where: "in an iteration",
  known: ["vars", "outputs", "needs", "run", "repeat_index"],
  hints: HINTS,
};

/** Evaluated once the action of a step has returned. */
export const IN_STEP: NameRule = {
  where: "in a step",
  known: [
    ...["vars", "res", "req", "rt", "status", "outputs", "needs", "run"],
    ...["repeat_index", "iteration_index", "trace"],
  ],
  hints: HINTS,
};

/** Evaluated before that. */
export const BEFORE_ACTION: NameRule = {
  ...IN_STEP,
  empty: { res: "nil", req: "nil", status: "0", rt: "empty" },
};

/** Whether what sees these names is evaluated once the action of the step has returned. */
export function seesResult({ known = [], empty }: NameRule): boolean {
  return known.includes("res") && !empty;
}

/** The rule in a job with a matrix, whose values have these names, if they are known. */
export function seeingMatrix(rule: NameRule, names: readonly string[] | undefined): NameRule {
  const members = { ...rule.members, ...names ? { matrix: names } : {} };
  return { ...seeing(rule, ["matrix"]), members };
}

/** The rule in a step of a job with `load`. */
export function seeingRound(rule: NameRule): NameRule {
  return { ...seeing(rule, ["round"]), members: { ...rule.members, round: ["index", "user"] } };
}

/** A rule that allows more names. */
export function seeing(rule: NameRule, names: readonly string[]): NameRule {
  return rule.known && names.length > 0 ? { ...rule, known: [...rule.known, ...names] } : rule;
}
