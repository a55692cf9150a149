import type { Path } from "../base/source.ts";
import type { Action } from "../action/action.ts";
import type { Parameter } from "../action/parameter.ts";
import { findOpening } from "../base/yaml/find_opening.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import { exampleStep, typeOfKey } from "../workflow/names.ts";
import { type Catalog, type Keys, keysAt, nodeAt } from "./keys_at.ts";
import { describeAction, describeParameter } from "./hover.ts";
import {
  fieldOf,
  isInBraces,
  itemsOf,
  makeOutline,
  type Outline,
  pairsOf,
  scalarOf,
  type Spot,
  spotAt,
  type TextRange,
} from "./outline.ts";
import {
  chainBefore,
  contextAt,
  describeMember,
  type ExpressionContext,
  membersOf,
} from "./members.ts";
import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import { checkText } from "./diagnose.ts";
import { namesFile } from "./definition.ts";
import { isAbsolute } from "../workflow/read_files.ts";

/** Something that may be written at the cursor. */
interface Completion {
  readonly label: string;
  readonly kind:
    | ("key" | "action" | "value" | "function" | "name" | "output")
    | ("file" | "directory" | "snippet");
  readonly detail?: string;
  readonly documentation?: string;
  readonly insert: string;
  /** Whether `insert` has slots to fill in: `$1`. */
  readonly isSnippet?: boolean;
}

/** The possible completions, and the part of the text that they replace. */
interface Completions extends TextRange {
  readonly items: readonly Completion[];
}

/** Stands for the word that is being typed; no file contains it. */
const MARK = "zzcursorzz";
const NOTHING = { items: [], start: 0, end: 0 };

/** The possible completions at an offset of the text of a file, which may be invalid. */
export async function completionsAt(
  text: string,
  offset: number,
  file: string,
  catalog: Catalog,
  host: Host,
): Promise<Completions> {
  const start = offset - /[\w$-]*$/.exec(lineBefore(text, offset))![0].length;
  const end = offset + /^[\w-]*/.exec(text.slice(offset))![0].length;
  const marked = insertMark(text, start, end);
  if (!marked) return NOTHING;
  const { outline, spot } = marked;
  const at = (items: readonly Completion[]) => ({ items, start, end });
  const { path, scalar } = spot;
  if (spot.isKey) {
    if (scalar.text !== MARK) return NOTHING;
    return at(keyItems(outline, path.slice(0, -1), text.slice(end), catalog));
  }
  const names = typeof path.at(-1) === "string" ? namesFile(outline, path, catalog) : undefined;
  if (names && !/\{\{|\n/.test(scalar.text)) {
    const [before = "", after = ""] = scalar.text.split(MARK);
    const typed = {
      before: before + text.slice(start, offset),
      after: text.slice(offset, end) + after,
    };
    return await fileItems(typed, offset, names, file, host);
  }
  const before = outline.text.slice(scalar.start, start);
  const isTemplate = isInBraces(before + MARK, before.length);
  const context = contextAt(await checkText(withMark(outline, spot, isTemplate), file, host), path);
  if (isTemplate || context.isExpression) return at(await inExpression(before, context));
  if (scalar.text !== MARK) return NOTHING;
  const hasDash = typeof path.at(-1) === "number";
  const isBelow = /^[^\S\n]*(?:- +)?$/.test(lineBefore(text, start));
  const keys = isBelow || /[{,]\s*$/.test(before)
    ? keyItems(outline, path, text.slice(end), catalog)
    : [];
  const isFirst = /^\s*-/.test(lineBefore(text, start));
  return at([
    ...keys,
    ...valueItems(outline, hasDash ? path.slice(0, -1) : path, isFirst, catalog),
  ]);
}

/** The text of a file with the mark as the expression or the template at a place. */
function withMark({ readable }: Outline, { scalar }: Spot, isTemplate: boolean): string {
  const mark = (isTemplate ? `"{{${MARK}}}"` : MARK) + (scalar.style === "block" ? "\n" : "");
  return readable.slice(0, scalar.start) + mark + readable.slice(scalar.end);
}

/**
 * The outline of a text with the mark in place of a part of it, and its spot. The mark is a value, a
 * key whose colon is not typed yet, or the last part of something in quotes or brackets without an
 * end.
 */
function insertMark(text: string, start: number, end: number) {
  const before = text.slice(0, start);
  const after = text.slice(end);
  const attempts = [
    () => MARK + after,
    () => `${MARK}:${after}`,
    () => MARK + closingOf(before) + after,
    () => MARK + closingOf(before) + (/\n[^]*/.exec(after)?.[0] ?? ""),
  ];
  for (const rest of attempts) {
    const outline = makeOutline(before + rest());
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
  path: Path,
  after: string,
  catalog: Catalog,
): readonly Completion[] {
  const there = new Set(pairsOf(nodeAt(outline.root, path)).map(({ key }) => key.text));
  const keys = keysAt(outline, path, catalog);
  const hasColon = /^\s*:/.test(after);
  const isNew = [...there].every((name) => name.startsWith(MARK)) &&
    typeof path.at(-1) === "number";
  const items = namesOf(keys, catalog)
    .filter(({ name }) => !there.has(name))
    .map(({ name, detail, documentation, follows }): Completion => ({
      label: name,
      kind: "key",
      detail,
      documentation,
      insert: hasColon ? name : `${name}:${follows}`,
      isSnippet: !hasColon && follows.includes("$"),
    }));
  if (!isNew || keys?.kind !== "fields") return items;
  if (keys.what === "a step") return [...items, ...stepSnippets(catalog)];
  return keys.what === "a job" ? [...items, ...jobSnippets(catalog)] : items;
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

function namesOf(keys: Keys | undefined, { actions }: Catalog): readonly KeyName[] {
  switch (keys?.kind) {
    case "fields":
      return keys.fields.map((field) => ({
        ...keyName(field, field.summary),
        ...Object.hasOwn(BELOW, field.name) && { follows: BELOW[field.name]! },
      }));
    case "parameters":
      return keys.parameters.map((one) => keyName(one, describeParameter(one, keys.action)));
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

function keyName(key: Parameter, documentation: string): KeyName {
  const follows = key.type === "map" ? "\n  $1" : " ";
  return { name: key.name, detail: typeOfKey(key), documentation, follows };
}

function valueItems(
  outline: Outline,
  path: Path,
  isFirst: boolean,
  catalog: Catalog,
): readonly Completion[] {
  const key = String(path.at(-1));
  const around = path.slice(0, -1);
  const keys = keysAt(outline, around, catalog);
  if (!keys || keys.kind === "actions") return [];
  const fields = keys.kind === "fields" ? keys.fields : keys.parameters;
  const field = fields.find(({ name }) => name === key);
  if (!field) return [];
  if (keys.kind === "fields" && key === "uses") {
    const there = pairsOf(nodeAt(outline.root, around)).map((pair) => pair.key.text);
    const isAlone = !there.some((name) => name === "with" || name === "test");
    return [
      ...[...catalog.actions.values()].map((one): Completion => ({
        label: one.name,
        kind: "action",
        detail: one.summary,
        documentation: describeAction(one),
        ...isAlone ? snippetOf(one, isFirst) : { insert: one.name },
      })),
      ...texts(catalog.plugins, "a plugin"),
    ];
  }
  if (keys.kind === "fields" && key === "needs") {
    const job = nodeAt(outline.root, around);
    const there = itemsOf(fieldOf(job, "needs")).flatMap((one) =>
      one.kind === "scalar" ? one.text : []
    );
    const others = itemsOf(fieldOf(outline.root, "jobs")).flatMap((other) =>
      other === job ? [] : scalarOf(fieldOf(other, "id"))?.text ?? []
    );
    return texts(others.filter((id) => !there.includes(id)), "a job");
  }
  const isSwitch = [field.type].flat().includes("boolean");
  return texts([...field.values ?? [], ...isSwitch ? BOOLEANS : []]);
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

async function inExpression(
  before: string,
  context: ExpressionContext,
): Promise<readonly Completion[]> {
  const chain = chainBefore(before);
  const members = membersOf(chain, context).filter(({ name }) => /^[A-Za-z_]\w*$/.test(name))
    .map((member): Completion => ({
      label: member.name,
      kind: chain ? "output" : "name",
      detail: member.type,
      documentation: describeMember(member, chain?.join(".")),
      insert: member.name,
    }));
  if (chain) return members;
  return [
    ...members,
    ...await Promise.all([...FUNCTIONS.values()].map(async (one): Promise<Completion> => ({
      label: one.name,
      kind: "function",
      detail: one.signature,
      documentation: await one.summary(),
      insert: one.name,
    }))),
  ];
}

/** The name of an action, followed by the other lines of the step. */
function snippetOf(
  action: Action,
  isFirst: boolean,
): Pick<Completion, "insert" | "isSnippet"> {
  const [, ...lines] = stepLines(action);
  const indent = isFirst ? "\n  " : "\n";
  return { insert: [action.name, ...lines].join(indent), isSnippet: true };
}

function stepSnippets(catalog: Catalog): readonly Completion[] {
  return [...catalog.actions.values()].map((action) => ({
    label: `uses: ${action.name}`,
    kind: "snippet",
    detail: action.summary,
    documentation: describeAction(action),
    insert: stepLines(action).join("\n  "),
    isSnippet: true,
  }));
}

function jobSnippets(catalog: Catalog): readonly Completion[] {
  const [action] = catalog.actions.values();
  if (!action) return [];
  const [first, ...rest] = stepLines(action, 2);
  const lines = ["name: $1", "steps:", `  - ${first}`, ...rest.map((line) => `    ${line}`)];
  return [{
    label: "job",
    kind: "snippet",
    detail: "a job with a step",
    insert: lines.join("\n  "),
    isSnippet: true,
  }];
}

/** The lines of a step: its action, the parameters of its example, and a test. */
function stepLines(action: Action, from = 1): readonly string[] {
  let slot = from;
  const [first, ...lines] = exampleStep(action).slice("- ".length).split("\n");
  return [first!, ...lines.map((line) => withSlot(line.slice("  ".length), () => slot++))];
}

/** A line whose value is a slot that keeps its text until it is filled in. */
function withSlot(line: string, next: () => number): string {
  const [, key = "", value] = /^(\s*[\w-]+: )([^{|>[].*)$/.exec(line) ?? [];
  const escaped = (value ?? line).replace(/[$}\\]/g, "\\$&");
  return value === undefined ? escaped : `${key}\${${next()}:${escaped}}`;
}

/** The files and directories whose names may replace the last part of a path. */
async function fileItems(
  { before, after }: { readonly before: string; readonly after: string },
  offset: number,
  names: NonNullable<Parameter["namesFile"]>,
  file: string,
  host: Host,
): Promise<Completions> {
  const directory = before.slice(0, before.lastIndexOf("/") + 1);
  const from = isAbsolute(directory) ? directory : join(file, "..", directory);
  const entries = (await host.files.entries(from) ?? []).filter(({ name, kind }) =>
    !name.startsWith(".") && name !== "node_modules" && join(from, name) !== file &&
    (kind === "directory" || (names === "any" || /\.ya?ml$/i.test(name)))
  );
  const items = entries.map(({ name, kind }) => {
    const label = kind === "directory" ? `${name}/` : name;
    return { label, kind: kind === "directory" ? "directory" : "file", insert: label } as const;
  });
  return {
    items,
    start: offset - (before.length - directory.length),
    end: offset + after.length,
  };
}
