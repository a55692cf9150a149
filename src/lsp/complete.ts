import { FUNCTIONS } from "../expr/functions/registry.ts";
import type { Field } from "../workflow/decode/field.ts";
import { MATRIX } from "../workflow/decode/fields.ts";
import type { NameRule } from "../workflow/model.ts";
import {
  actionAt,
  type Keys,
  keysAt,
  type KnownActions,
  nodeAt,
  stepAt,
  varsAt,
} from "./format.ts";
import { describeAction, describeParameter, NAMES } from "./hover.ts";
import { fieldOf, itemsOf, pairsOf, type Spot, spotAt, type TextRange } from "./loose_yaml.ts";
import {
  isExpression,
  isInBraces,
  type JobOutline,
  makeOutline,
  type Outline,
  outputNames,
} from "./outline.ts";
import { seeingMatrix } from "../workflow/decode/expressions.ts";
import { ALL } from "../workflow/step_facts.ts";
import { join } from "@std/path/join";
import { findOpening } from "../base/yaml/find_opening.ts";
import type { Host } from "../host/host.ts";
import type { Parameter } from "../action/action.ts";
import { isAbsolute, jobFileOf, type LoadFile, type WorkspaceFile } from "./job_files.ts";

/** Something that may be written at the cursor. */
interface Completion {
  readonly label: string;
  readonly kind: "key" | "action" | "value" | "function" | "name" | "output" | "file" | "directory";
  readonly detail?: string;
  readonly documentation?: string;
  readonly insert: string;
  /** Whether `insert` has slots to fill in: `$1`. */
  readonly isSnippet?: true;
}

/** The possible completions, and the part of the text that they replace. */
interface Completions extends TextRange {
  readonly items: readonly Completion[];
}

/** A word that no file has; it replaces what is being typed. */
const MARK = "zzcursorzz";
const NOTHING = { items: [], start: 0, end: 0 };

/** The possible completions at an offset of a text, which may be invalid. */
export function completionsAt(text: string, offset: number, known: KnownActions): Completions {
  const start = offset - /[\w$-]*$/.exec(text.slice(0, offset))![0].length;
  const end = offset + /^[\w-]*/.exec(text.slice(offset))![0].length;
  const marked = insertMark(text, start, end);
  if (!marked) return NOTHING;
  const { outline, spot } = marked;
  const at = (items: readonly Completion[]) => ({ items, start, end });
  const { path, scalar } = spot;
  const before = outline.text.slice(scalar.start, start);
  if (!spot.isKey && (isExpression(path) || isInBraces(before + MARK, before.length))) {
    return at(inExpression(before, outline, spot, known));
  }
  if (scalar.text !== MARK) return NOTHING;
  if (spot.isKey) return at(keyItems(outline, path.slice(0, -1), text.slice(end), known));
  const hasDash = typeof path.at(-1) === "number";
  const isBelow = /^[^\S\n]*(?:- +)?$/.test(lineBefore(text, start));
  const keys = isBelow || /[{,]\s*$/.test(before)
    ? keyItems(outline, path, text.slice(end), known)
    : [];
  return at([...keys, ...valueItems(outline, hasDash ? path.slice(0, -1) : path, known)]);
}

/**
 * The outline of a text with the mark in place of a part of it, and its spot. The mark is a value, a
 * key whose colon is not typed yet, or the last part of something in quotes or brackets without an
 * end.
 */
function insertMark(text: string, start: number, end: number) {
  const before = text.slice(0, start);
  for (const mark of [MARK, `${MARK}:`, MARK + closingOf(before)]) {
    const outline = makeOutline(before + mark + text.slice(end));
    const spot = spotAt(outline.root, start + MARK.length);
    if (spot?.scalar.text.includes(MARK)) return { outline, spot };
  }
  return undefined;
}

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}" };

/** The quotes and brackets that are open at the end of a text, closed. */
function closingOf(text: string): string {
  const at = findOpening(text, text.length);
  if (at === undefined) return "";
  const opening = text[at]!;
  return (CLOSING[opening] ?? opening) + closingOf(text.slice(0, at));
}

function lineBefore(text: string, offset: number): string {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
}

function keyItems(
  outline: Outline,
  path: readonly (string | number)[],
  after: string,
  known: KnownActions,
): readonly Completion[] {
  const there = new Set(pairsOf(nodeAt(outline.root, path)).map(({ key }) => key.text));
  const keys = keysAt(outline, path, known);
  const hasColon = /^\s*:/.test(after);
  return namesOf(keys, known)
    .filter(({ name }) => !there.has(name))
    .map(({ name, detail, documentation, follows }) => ({
      label: name,
      kind: "key",
      detail,
      documentation,
      insert: hasColon ? name : `${name}:${follows}`,
      ...!hasColon && follows.includes("$") ? { isSnippet: true } : {},
    }));
}

interface KeyName {
  readonly name: string;
  readonly detail: string;
  readonly documentation: string;
  /** The text after the colon. */
  readonly follows: string;
}

const BELOW: Readonly<Record<string, string>> = {
  jobs: "\n  - name: $1\n    steps:\n      - uses: $2",
  steps: "\n  - uses: $1",
  finally: "\n  - uses: $1",
  needs: " [$1]",
};

function namesOf(keys: Keys | undefined, { actions }: KnownActions): readonly KeyName[] {
  switch (keys?.kind) {
    case "fields":
      return Object.entries<Field>(keys.table.fields).map(([name, field]) => ({
        name,
        detail: field.type,
        documentation: field.summary,
        follows: BELOW[name] ??
          (["map", "data", "outputs"].includes(field.type) ? "\n  $1" : " "),
      }));
    case "parameters":
      return keys.parameters.map((one) => ({
        name: one.name,
        detail: typeof one.type === "string" ? one.type : one.type.join(" or "),
        documentation: describeParameter(one, keys.action),
        follows: one.type === "map" ? "\n  $1" : " ",
      }));
    case "actions":
      return [...actions.values()].map((action) => ({
        name: action.name,
        detail: action.summary,
        documentation: describeAction(action),
        follows: "\n  $1",
      }));
    default:
      return [];
  }
}

function valueItems(
  outline: Outline,
  path: readonly (string | number)[],
  known: KnownActions,
): readonly Completion[] {
  const key = String(path.at(-1));
  const around = path.slice(0, -1);
  const keys = keysAt(outline, around, known);
  if (keys?.kind === "parameters") {
    const parameter = keys.parameters.find(({ name }) => name === key);
    const types = [parameter?.type ?? []].flat();
    return texts([...parameter?.values ?? [], ...types.includes("boolean") ? BOOLEANS : []]);
  }
  if (keys?.kind !== "fields" || !Object.hasOwn(keys.table.fields, key)) return [];
  const field = keys.table.fields[key]!;
  if (key === "uses") {
    return [
      ...[...known.actions.values()].map((one): Completion => ({
        label: one.name,
        kind: "action",
        detail: one.summary,
        documentation: describeAction(one),
        insert: one.name,
      })),
      ...texts(known.plugins, "a plugin"),
    ];
  }
  if (key === "needs") {
    const job = nodeAt(outline.root, around);
    const there = itemsOf(fieldOf(job, "needs")).flatMap((one) =>
      one.kind === "scalar" ? one.text : []
    );
    const others = outline.jobs.flatMap(({ id, node }) => id && node !== job ? id.text : []);
    return texts(others.filter((id) => !there.includes(id)), "a job");
  }
  return texts([...field.choices ?? [], ...field.type === "boolean" ? BOOLEANS : []]);
}

const BOOLEANS = ["true", "false"];

function texts(values: readonly string[], detail?: string): readonly Completion[] {
  return values.map((label) => ({
    label,
    kind: "value",
    insert: label,
    detail,
  }));
}

function inExpression(
  before: string,
  outline: Outline,
  { path }: Spot,
  known: KnownActions,
): readonly Completion[] {
  const [, root, step] =
    /([A-Za-z_$][\w$]*)((?:\s*\??\.\s*[A-Za-z_]\w*|\[\s*\\?["'][^"'\\\]]+\\?["']\s*\])*)\s*\??\.\s*$/
      .exec(before) ?? [];
  const names = (labels: Iterable<string>, detail: string): Completion[] =>
    [...labels].filter((label) => /^[A-Za-z_]\w*$/.test(label))
      .map((label) => ({ label, kind: "output", detail, insert: label }));
  if (root === undefined) {
    const rule = nameRuleAt(outline, path, known);
    return [
      ...(rule?.known ?? []).map((label): Completion => ({
        label,
        kind: "name",
        insert: label,
        ...NAMES[label] === undefined ? {} : { documentation: NAMES[label] },
      })),
      ...[...FUNCTIONS.values()].map((one): Completion => ({
        label: one.name,
        kind: "function",
        detail: one.signature,
        documentation: one.summary,
        insert: one.name,
      })),
    ];
  }
  const key = /([A-Za-z_]\w*|(?<=["'])[^"'\\]+)\\?["']?\s*\]?$/.exec(step ?? "")?.[1];
  switch (root) {
    case "vars":
      return key === undefined ? names(varsAt(outline, path).keys(), "a var") : [];
    case "outputs": {
      const published = outline.steps.filter(({ id, outputs }) => id && outputs.length > 0);
      if (key !== undefined) {
        const owner = published.find(({ id }) => id!.text === key);
        const isOfAll = owner && owner.job !== jobAt(outline, path) && hasMatrix(owner.job);
        return names(isOfAll ? [ALL] : owner ? outputNames(owner) : [], `an output of ${key}`);
      }
      const flat = new Set(published.flatMap(({ outputs }) => outputs.map((one) => one.key.text)));
      return [
        ...names(published.map(({ id }) => id!.text), "a step"),
        ...names(flat, "an output"),
      ];
    }
    case "needs": {
      if (key !== undefined) {
        const isMatrix = hasMatrix(outline.jobs.find(({ id }) => id?.text === key));
        return names(isMatrix ? ["state", ALL] : ["state"], "how the job ended");
      }
      const needs = itemsOf(fieldOf(jobAt(outline, path)?.node, "needs"));
      return names(needs.flatMap((one) => one.kind === "scalar" ? one.text : []), "a job");
    }
    case "matrix": {
      const owner = outline.kind === "suite"
        ? nodeAt(outline.root, path.slice(0, 2))
        : jobAt(outline, path)?.node;
      const matrix = fieldOf(owner, "matrix");
      const lists = [matrix, ...itemsOf(fieldOf(matrix, "include"))].flatMap(pairsOf)
        .map((pair) => pair.key.text).filter((name) => !Object.hasOwn(MATRIX.fields, name));
      return key === undefined ? names(new Set(lists), "a value of the matrix") : [];
    }
    case "res": {
      const action = actionAt(outline, path, known);
      return key === undefined
        ? names(action?.responseFields?.map(({ name }) => name) ?? [], `of ${action?.name}`)
        : [];
    }
    default:
      return [];
  }
}

/** The names that the expression at a path sees. */
function nameRuleAt(
  outline: Outline,
  path: readonly (string | number)[],
  actions: KnownActions,
): NameRule | undefined {
  const isMatrix = path[2] !== "matrix" && hasMatrix(jobAt(outline, path));
  for (let length = path.length; length > 0; length--) {
    const keys = keysAt(outline, path.slice(0, length - 1), actions);
    const key = String(path[length - 1]);
    if (keys?.kind !== "fields" || !Object.hasOwn(keys.table.fields, key)) continue;
    const { names } = keys.table.fields[key]!;
    if (names) return isMatrix ? seeingMatrix(names, undefined) : names;
  }
  const known = Object.keys(NAMES).filter((name) => isMatrix || name !== "matrix");
  return stepAt(outline, path) ? { where: "in a step", known } : undefined;
}

function jobAt(outline: Outline, path: readonly (string | number)[]): JobOutline | undefined {
  return path[0] === "jobs" ? outline.jobs[Number(path[1])] : undefined;
}

function hasMatrix(job: JobOutline | undefined): boolean {
  return fieldOf(job?.node, "matrix") !== undefined;
}

/** A path that is being typed, up to its last "/" and the part that a name replaces. */
interface TypedPath extends TextRange {
  readonly directory: string;
  readonly names: NonNullable<Parameter["namesFile"]>;
}

/** The files and directories that may be named at an offset; undefined where no file is named. */
export async function fileCompletionsAt(
  text: string,
  offset: number,
  path: string,
  known: KnownActions,
  host: Host,
): Promise<Completions | undefined> {
  const typed = typedPathAt(text, offset, known);
  if (!typed) return undefined;
  const { directory, names, start, end } = typed;
  const from = isAbsolute(directory) ? directory : join(path, "..", directory);
  const entries = (await host.files.entries(from) ?? []).filter(({ name, kind }) =>
    !name.startsWith(".") && name !== "node_modules" && join(from, name) !== path &&
    (kind === "directory" || (names === "any" || /\.ya?ml$/i.test(name)))
  );
  const items = entries.map(({ name, kind }) => {
    const label = kind === "directory" ? `${name}/` : name;
    return { label, kind: kind === "directory" ? "directory" : "file", insert: label } as const;
  });
  return { items, start, end };
}

function typedPathAt(text: string, offset: number, known: KnownActions): TypedPath | undefined {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const key = /([\w-]+)["']?\s*:\s+["']?[^"'{},]*$/.exec(line)?.[1];
  // Most keys name no file: then the text need not be read.
  const isFile = [...known.actions.values()].some(({ parameters }) => namesFile(parameters, key));
  if (!isFile) return undefined;
  const marked = insertMark(text, offset, offset);
  if (!marked || marked.spot.isKey) return undefined;
  const { outline, spot: { path, scalar } } = marked;
  const keys = keysAt(outline, path.slice(0, -1), known);
  if (keys?.kind !== "parameters") return undefined;
  const names = keys.parameters.find(({ name }) => name === path.at(-1))?.namesFile;
  const [before = "", after = ""] = scalar.text.split(MARK);
  if (!names || scalar.text.includes("{{") || scalar.text.includes("\n")) return undefined;
  const directory = before.slice(0, before.lastIndexOf("/") + 1);
  const start = offset - (before.length - directory.length);
  return { directory, names, start, end: offset + after.length };
}

function namesFile(parameters: readonly Parameter[] | undefined, key: string | undefined): boolean {
  return key !== undefined &&
    (parameters ?? []).some((one) =>
      one.name === key && one.namesFile !== undefined || namesFile(one.fields, key) ||
      namesFile(one.items, key)
    );
}

/** The outputs of a job file that may be written at an offset: `res.outputs.`. */
export async function outputCompletionsAt(
  file: WorkspaceFile,
  offset: number,
  load: LoadFile,
): Promise<Completions | undefined> {
  const { text, steps } = file.outline;
  const [, id, word] = /\bres\??\.outputs\??\.(?:([A-Za-z_]\w*)\??\.)?(\w*)$/
    .exec(text.slice(Math.max(0, offset - 200), offset)) ?? [];
  if (word === undefined) return undefined;
  const step = steps.find(({ node }) => node.start <= offset && offset <= node.end);
  const path = step && jobFileOf(step, file.path)?.path;
  const jobFile = path === undefined ? undefined : await load(path);
  if (!jobFile) return undefined;
  const published = jobFile.outline.steps.filter(({ id, outputs }) => id && outputs.length > 0);
  const labels = id === undefined
    ? published.flatMap(({ id, outputs }) => [id!.text, ...outputs.map(({ key }) => key.text)])
    : published.filter((one) => one.id!.text === id).flatMap(outputNames);
  const items = [...new Set(labels)].filter((label) => /^[A-Za-z_]\w*$/.test(label))
    .map((label) => ({ label, kind: "output", insert: label } as const));
  return { items, start: offset - word.length, end: offset };
}
