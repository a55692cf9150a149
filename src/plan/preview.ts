import type { Node } from "../expr/parse/ast.ts";
import type {
  DataTemplate,
  Expression,
  RenderOptions,
  Scope,
  Template,
} from "../expr/expression.ts";
import { ExpressionError } from "../base/errors.ts";
import { isChanging } from "../expr/functions/registry.ts";
import { childrenOf } from "../expr/parse/tree.ts";
import { renderText } from "../expr/template/render.ts";
import { type Dict, isDict, merge, type Value } from "../base/value/value.ts";
import type { Step } from "../workflow/model.ts";

/** The values known before anything has run. */
export interface Knowledge {
  readonly scope: Scope;
  /** Vars whose values are known only during the run. */
  readonly openVars: ReadonlySet<string>;
}

/** Data with known values filled in; the rest stays as written. */
export type Preview =
  | { readonly kind: "value"; readonly value: Value }
  | PreviewText
  | { readonly kind: "list"; readonly items: readonly Preview[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [string, Preview])[] };

/** A partly unknown text. */
export interface PreviewText {
  readonly kind: "text";
  readonly parts: readonly PreviewPart[];
  /** The error of an expression that is known to fail. */
  readonly fault?: string;
}

interface PreviewPart {
  readonly text: string;
  /** Text of the file, a template as it is written, or what one gives. */
  readonly from: "text" | "template" | "value";
}

/** Data as far as it is known. */
export function previewData(template: DataTemplate, known: Knowledge): Preview {
  switch (template.kind) {
    case "constant":
      return { kind: "value", value: template.value as Value };
    case "template":
      return previewTemplate(template.template, known, template);
    case "list":
      return { kind: "list", items: template.items.map((item) => previewData(item, known)) };
    case "map": {
      const entries = template.entries.map(([key, field]) =>
        [key, previewData(field, known)] as const
      );
      return { kind: "map", entries };
    }
  }
}

/** A template with known parts filled in; its value, of any type, if all of it is known. */
export function previewTemplate(
  template: Template,
  known: Knowledge,
  options?: RenderOptions,
): Preview {
  const isWhole = template.parts.every((part) =>
    typeof part === "string" || !isOpen(part, known, [])
  );
  try {
    if (isWhole) return { kind: "value", value: template.render(known.scope, options) as Value };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
  }
  return previewParts(template, known, options);
}

/** The value of an expression, if it is known. */
export function previewExpression({ node, evaluate }: Expression, known: Knowledge) {
  if (isOpen(node, known, [])) return undefined;
  try {
    return { value: evaluate(known.scope) };
  } catch (error) {
    if (error instanceof ExpressionError) return { fault: error.message };
    throw error;
  }
}

function previewParts(
  { source, parts }: Template,
  known: Knowledge,
  options?: RenderOptions,
): PreviewText {
  let at = 0;
  let fault: string | undefined;
  const shown = parts.map((part): PreviewPart => {
    const start = at;
    if (typeof part === "string") {
      at += part.length;
      return { text: part, from: "text" };
    }
    at = source.indexOf("}}", part.end) + "}}".length;
    try {
      if (!isOpen(part, known, [])) {
        return { text: renderText({ source, parts: [part] }, known.scope, options), from: "value" };
      }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      fault ??= error.message;
    }
    return { text: source.slice(start, at), from: "template" };
  });
  return { kind: "text", parts: shown, fault };
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

/** Whether all of it is known. */
export function isKnown(preview: Preview): boolean {
  return knownValue(preview) !== undefined;
}

/** The value of fully known data; undefined where a part of it is not known. */
export function knownValue(preview: Preview): Value | undefined {
  switch (preview.kind) {
    case "value":
      return preview.value;
    case "text":
      return undefined;
    case "list": {
      const items = preview.items.map(knownValue);
      return items.every((item) => item !== undefined) ? items : undefined;
    }
    case "map": {
      const map: Record<string, Value> = Object.create(null);
      for (const [key, field] of preview.entries) {
        const value = knownValue(field);
        if (value === undefined) return undefined;
        map[key] = value;
      }
      return map;
    }
  }
}

/** The entries of a mapping; none for any other value. */
export function fieldsOf(preview: Preview): readonly (readonly [string, Preview])[] {
  if (preview.kind === "map") return preview.entries;
  if (preview.kind !== "value" || !isDict(preview.value)) return [];
  return Object.entries(preview.value).map(([key, value]) => [key, { kind: "value", value }]);
}

/** A step before it runs, with one run for each entry of its iteration. */
export interface StepPreview {
  readonly step: Step;
  /** The values known in all of its runs. */
  readonly known: Knowledge;
  /** The vars that it adds to those of the workflow. */
  readonly vars?: Preview;
  readonly runs: readonly RunPreview[];
}

interface RunPreview {
  /** The vars that its entry adds to those of the step. */
  readonly vars?: Preview;
  readonly with: Preview;
  /** The steps of the job that it embeds. */
  readonly inside?: readonly StepPreview[];
}

/** A step as far as it is known. */
export function previewStep(step: Step, before: Knowledge): StepPreview {
  const vars = step.vars && previewData(step.vars, before);
  const known = vars ? learnVars(before, vars) : before;
  const preview = { step, vars };
  const { iteration } = step;
  if (!iteration || iteration.kind === "loop") {
    return { ...preview, known, runs: [previewRun(step, known)] };
  }
  if (iteration.kind !== "list") {
    const open = withoutVars(known);
    return { ...preview, known: open, runs: [previewRun(step, open)] };
  }
  const entries = iteration.entries.map((entry) => previewData(entry, known));
  const runs = entries.map((entry) => ({
    vars: entry,
    ...previewRun(step, learnVars(known, entry)),
  }));
  return { ...preview, known: forgetVars(known, entries.flatMap(keysOf)), runs };
}

function previewRun({ with: template, embedded }: Step, known: Knowledge): RunPreview {
  const params = previewData(template, known);
  if (!embedded) return { with: params };
  const vars = fieldsOf(params).find(([name]) => name === "vars")?.[1] ?? NO_VARS;
  // If even the names of the vars are unknown, nothing can be evaluated.
  const names = { repeat_index: 0, ...(vars.kind === "text" ? {} : { vars: {} }) };
  const nothing = { scope: { names, strict: true }, openVars: new Set<string>() };
  const within = learnVars(nothing, vars);
  return { with: params, inside: embedded.job.steps.map((step) => previewStep(step, within)) };
}

const NO_VARS: Preview = { kind: "value", value: {} };

/** The known values after vars have been added; vars whose values are still open are not known. */
export function learnVars(known: Knowledge, added: Preview): Knowledge {
  if (!Object.hasOwn(known.scope.names, "vars")) return known;
  const vars: Record<string, Value> = Object.assign(Object.create(null), known.scope.names.vars);
  const openVars = new Set(known.openVars);
  for (const [key, field] of fieldsOf(added)) {
    const value = knownValue(field);
    if (value === undefined || isDict(value) && openVars.has(key)) {
      delete vars[key];
      openVars.add(key);
    } else {
      vars[key] = merge(vars[key] ?? null, value);
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
export function withoutVars({ scope, openVars }: Knowledge): Knowledge {
  const { vars: _, ...names } = scope.names;
  return { scope: { ...scope, names }, openVars };
}

function withVars(known: Knowledge, vars: Dict, openVars: ReadonlySet<string>): Knowledge {
  const { scope } = known;
  return { scope: { ...scope, names: { ...scope.names, vars } }, openVars };
}

function keysOf(preview: Preview): string[] {
  return fieldsOf(preview).map(([key]) => key);
}
