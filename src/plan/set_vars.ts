import type { DataTemplate } from "../expr/expression.ts";
import { type Fields, fieldsOf } from "../expr/template.ts";
import { didYouMean, firstNames } from "../base/text/suggest.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";

/** A value for a var of a workflow, or for a part of one. */
interface VarSetting {
  readonly path: readonly string[];
  readonly value: Value;
}

/** Why a path cannot be set. */
export interface VarProblem {
  readonly path: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

/**
 * The vars with some set to other values. Templates in their
 * places are not evaluated, so they may use variables that are not set.
 */
export function setVars(vars: DataTemplate, settings: readonly VarSetting[]): DataTemplate {
  return settings.reduce((set, { path, value }) => setIn(set, path, value), vars);
}

function setIn(
  template: DataTemplate | undefined,
  path: readonly string[],
  value: Value,
): DataTemplate {
  const [key, ...rest] = path;
  if (key === undefined) return { kind: "constant", value };
  const fields = new Map(template && fieldsOf(template));
  fields.set(key, setIn(fields.get(key), rest, value));
  return { kind: "map", entries: [...fields] };
}

/** The path to what a dotted name means among the vars: `db.host`, or a key that has dots in it. */
export function findVar(vars: DataTemplate, name: string): readonly string[] | VarProblem {
  const path: string[] = [];
  let template = vars;
  for (let rest = name;;) {
    const fields = fieldsOf(template);
    if (!fields) return notAMapping(path, template);
    const key = longestKey(fields, rest);
    if (key === undefined) {
      const names = rest.split(".");
      return isOpen(fields, path) ? [...path, ...names] : unknownVar([...path, names[0]!], fields);
    }
    path.push(key);
    if (key === rest) return path;
    template = fields.get(key)!;
    rest = rest.slice(key.length + 1);
  }
}

function longestKey(fields: Fields, name: string): string | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    const key = name.slice(0, end);
    if (fields.has(key)) return key;
  }
  return undefined;
}

/**
 * Merges a map into the vars key by key, as everywhere else. Names that the
 * vars do not have are problems: a misspelt one would silently change nothing.
 */
export function* matchVars(
  vars: DataTemplate,
  map: Dict,
  path: readonly string[] = [],
): Generator<VarSetting | VarProblem> {
  const fields = fieldsOf(vars) ?? new Map();
  for (const [key, value] of Object.entries(map)) {
    const inner = [...path, key];
    const field = fields.get(key);
    if (!field && !isOpen(fields, path)) yield unknownVar(inner, fields);
    else if (field && mergesInto(field, value)) yield* matchVars(field, value as Dict, inner);
    else yield { path: inner, value };
  }
}

function mergesInto(field: DataTemplate, value: Value): boolean {
  return isDict(value) && Object.keys(value).length > 0 && fieldsOf(field) !== undefined;
}

/** A mapping inside of a var that is written empty is there to be filled. */
function isOpen(fields: Fields, path: readonly string[]): boolean {
  return fields.size === 0 && path.length > 0;
}

function unknownVar(path: readonly string[], fields: Fields): VarProblem {
  const inner = path.slice(0, -1);
  const names = [...fields.keys()].map((key) => [...inner, key].join("."));
  const name = path.join(".");
  const what = inner.length === 0 ? "the vars of the workflow are" : "there is";
  const hint = path[0] === "vars" && inner.length === 0
    ? 'leave "vars." out: the name begins below it'
    : didYouMean(name, names) ??
      (names.length === 0 ? "it has no vars" : `${what} ${firstNames(names)}`);
  return { path, message: `unknown variable "${name}"`, hint };
}

function notAMapping(path: readonly string[], template: DataTemplate): VarProblem {
  const name = path.join(".");
  const isList = template.kind === "list" ||
    template.kind === "constant" && Array.isArray(template.value);
  const what = isList ? "a list" : template.kind === "template" ? "a template" : "not a map";
  return {
    path,
    message: `the var "${name}" is ${what}, and nothing inside of it can be set`,
    hint: "give all of it",
  };
}
