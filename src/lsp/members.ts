import type { ResponseField } from "../action/action.ts";
import { NAMES, nameText, sentence, typeOfField } from "../workflow/names.ts";
import { IN_STEP, seeing, seeingMatrix, seeingRound } from "../workflow/decode/expressions.ts";
import { JOB_MATRIX } from "../workflow/decode/decode_matrix.ts";
import type { NameRule } from "../expr/expression.ts";
import { ALL } from "../workflow/step_facts.ts";
import { actionAt, type Catalog, keysAt, nodeAt, stepAt, varsAt } from "./format.ts";
import type { YamlNode } from "../base/yaml/yaml_tree.ts";
import {
  extentOf,
  fieldOf,
  itemsOf,
  type JobOutline,
  type Outline,
  outputNames,
  pairsOf,
  type StepInText,
} from "./outline.ts";

type Path = readonly (string | number)[];

/** A name, or a part of a value, that an expression can read. */
export interface Member {
  readonly name: string;
  /** Its type, if known. */
  readonly type?: string;
  /** A description in Markdown. */
  readonly text?: string;
  /** Its value as it is written in the file. */
  readonly written?: string;
}

/** A member in Markdown; `owner` is the expression that it is a part of. */
export function describeMember({ name, type, text, written }: Member, owner = ""): string {
  const whole = owner === "" ? name : `${owner}.${name}`;
  return [
    `\`${whole}\`${type === undefined ? "" : `: ${type}`}`,
    text,
    written === undefined ? undefined : `\`\`\`yaml\n${written}\n\`\`\``,
  ].filter((part) => part).join("\n\n");
}

const CHAIN_BEFORE =
  /(?<![\w.$])([A-Za-z_$][\w$]*)((?:\s*\??\.\s*[A-Za-z_]\w*|\[\s*\\?["'][^"'\\\]]+\\?["']\s*\])*)\s*\??\.\s*$/;
const LONGEST_CHAIN = 1000;
const KEY = /\.\s*([A-Za-z_]\w*)|\[\s*\\?["']([^"'\\\]]+)/g;

/** The names that a text ends with, up to its last dot: `res`, `body` of `1 + res.body.`. */
export function chainBefore(text: string): readonly string[] | undefined {
  const [, root, rest = ""] = CHAIN_BEFORE.exec(text.slice(-LONGEST_CHAIN)) ?? [];
  if (root === undefined) return undefined;
  return [root, ...[...rest.matchAll(KEY)].map(([, name, key]) => (name ?? key)!)];
}

/** The names that the expression at a path sees. */
export function namesAt(outline: Outline, path: Path, catalog: Catalog): readonly Member[] {
  return (nameRuleAt(outline, path, catalog)?.known ?? []).map((name) => memberOf([name]));
}

/** The parts of the value of `chain` that an expression at a path can read. */
export function membersOf(
  chain: readonly string[],
  outline: Outline,
  path: Path,
  catalog: Catalog,
): readonly Member[] {
  const [root, first, ...rest] = chain;
  const { text } = outline;
  switch (root) {
    case "vars": {
      const values = varsAt(outline, path);
      if (first === undefined) return [...values].map(([name, node]) => written(name, node, text));
      return partsOf([first, ...rest].reduce(valueOf, values), text);
    }
    case "outputs":
      return rest.length > 0 ? [] : outputsOf(first, outline, catalog, jobAt(outline, path));
    case "needs": {
      if (rest.length > 0) return [];
      if (first !== undefined) {
        const isMatrix = hasMatrix(outline.jobs.find(({ id }) => id?.text === first));
        return (isMatrix ? ["state", ALL] : ["state"]).map((name) =>
          memberOf(["needs", first, name])
        );
      }
      return itemsOf(fieldOf(jobAt(outline, path)?.node, "needs")).flatMap((one) =>
        one.kind === "scalar" ? { name: one.text, type: "map", text: "A job." } : []
      );
    }
    case "matrix":
      return first === undefined ? matrixAt(outline, path) : [];
    case "res": {
      const action = actionAt(outline, path, catalog);
      return first === undefined ? listFields(action?.responseFields) : [];
    }
    case "message":
      return first === undefined ? fieldsOfMessage(outline, path, catalog) : [];
    default: {
      const places = nameRuleAt(outline, path, catalog)?.members ?? {};
      const at = chain.join(".");
      if (root === "stats" && first === "steps" && rest.length === 0) {
        const steps = jobAt(outline, path)?.steps ?? [];
        return steps.flatMap(({ id }) => id ? memberOf([...chain, id.text]) : []);
      }
      const names = places[at] ?? places[at.replace(/^(stats\.steps)\.[^.]+$/, "$1.*")] ??
        Object.keys(NAMES).filter((name) => name.startsWith(`${root}.`) && !name.includes("*"))
          .map((name) => name.slice(`${root}.`.length));
      return first === undefined || at in places || first === "steps"
        ? names.map((name) => memberOf([...chain, name]))
        : [];
    }
  }
}

function memberOf(path: readonly string[]): Member {
  const found = nameText(path);
  const name = path.at(-1)!;
  return found ? { name, type: found.type, text: `${sentence(found.summary)}.` } : { name };
}

/** The fields of a message: of the steps that receive names, or of the step itself. */
function fieldsOfMessage(outline: Outline, path: Path, catalog: Catalog): readonly Member[] {
  const action = actionAt(outline, path, catalog);
  if (!action?.resultNames) return listFields(action?.messageFields);
  const from = fieldOf(fieldOf(stepAt(outline, path)?.node, "with"), "from");
  const ids = [from, ...itemsOf(from)].map((node) => node?.kind === "scalar" ? node.text : "");
  const sources = outline.steps.filter(({ id }) => id && ids.includes(id.text));
  const fields = sources.flatMap(({ uses = "" }) => catalog.actions.get(uses)?.messageFields ?? []);
  return [...new Map(listFields(fields).map((one) => [one.name, one])).values()];
}

function listFields(fields: readonly ResponseField[] = []): readonly Member[] {
  return fields.map((field) => ({
    name: field.name,
    type: typeOfField(field),
    text: `${sentence(field.summary)}.`,
  }));
}

/** The outputs of a step, or those of a file by their names and steps, as `reader` sees them. */
export function outputsOf(
  id: string | undefined,
  outline: Outline,
  catalog: Catalog,
  reader = outline.jobs[0],
): readonly Member[] {
  const published = outline.steps.filter(({ id, outputs }) => id && outputs.length > 0);
  if (id !== undefined) {
    const owner = published.find((step) => step.id!.text === id);
    if (!owner) return [];
    const isOfAll = owner.job !== reader && hasMatrix(owner.job);
    return (isOfAll ? [ALL] : outputNames(owner)).map((name) =>
      outputOf(owner, name, outline, catalog)
    );
  }
  const steps = published.map(({ id, uses }) => ({
    name: id!.text,
    type: "map",
    text: `The outputs of this step${uses === undefined ? "" : `, which uses ${uses}`}.`,
  }));
  const flat = published.flatMap((owner) =>
    owner.outputs.map(({ key }) => outputOf(owner, key.text, outline, catalog))
  );
  return [...steps, ...new Map(flat.toReversed().map((one) => [one.name, one])).values()];
}

/** An output; one that is a field of `res` has its type. */
export function outputOf(
  { id, uses, outputs }: StepInText,
  name: string,
  { text }: Outline,
  { actions }: Catalog,
): Member {
  const value = outputs.find(({ key }) => key.text === name)?.value;
  if (!value) return memberOf(["outputs", id!.text, name]);
  const written = textOf(value, text);
  const [, read] = /^res\.(\w+)$/.exec(value.kind === "scalar" ? value.text.trim() : "") ?? [];
  const field = listFields(actions.get(uses ?? "")?.responseFields).find((one) =>
    one.name === read
  );
  const what = `An output of the step \`${id!.text}\`.`;
  return {
    name,
    type: field?.type === "any" ? undefined : field?.type,
    text: field ? `${what} ${field.text}` : what,
    written,
  };
}

function matrixAt(outline: Outline, path: Path): readonly Member[] {
  const owner = outline.kind === "suite"
    ? nodeAt(outline.root, path.slice(0, 2))
    : jobAt(outline, path)?.node;
  const matrix = fieldOf(owner, "matrix");
  const pairs = [matrix, ...itemsOf(fieldOf(matrix, "include"))].flatMap(pairsOf)
    .filter(({ key }) => !Object.hasOwn(JOB_MATRIX, key.text));
  const first = new Map(
    pairs.toReversed().map(({ key, value }) => {
      const written = textOf(value, outline.text);
      return [key.text, { name: key.text, text: "A value of the matrix.", written }] as const;
    }),
  );
  return [...first.values()].toReversed();
}

function valueOf(
  values: ReadonlyMap<string, YamlNode>,
  name: string,
): ReadonlyMap<string, YamlNode> {
  return new Map(pairsOf(values.get(name)).map(({ key, value }) => [key.text, value]));
}

function partsOf(values: ReadonlyMap<string, YamlNode>, text: string): readonly Member[] {
  return [...values].map(([name, node]) => written(name, node, text));
}

/** A var, with the type of its value unless a template gives it. */
function written(name: string, node: YamlNode, text: string): Member {
  return { name, type: typeOf(node, text), written: textOf(node, text) };
}

function textOf(node: YamlNode, text: string): string {
  const { start, end } = extentOf(node);
  return text.slice(start, end);
}

function typeOf(node: YamlNode, text: string): string | undefined {
  if (node.kind === "list" || node.kind === "map") return node.kind;
  if (node.kind === "scalar" && node.text.includes("{{")) return undefined;
  const plain = textOf(node, text);
  if (/^(?:true|false)$/i.test(plain)) return "boolean";
  if (/^[-+]?\d+$/.test(plain)) return "integer";
  if (/^[-+]?(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(plain)) return "number";
  return /^(?:null|~|[&*].*)?$/i.test(plain) ? undefined : "string";
}

/** The names that the expression at a path sees. */
function nameRuleAt(outline: Outline, path: Path, actions: Catalog): NameRule | undefined {
  const step = stepAt(outline, path);
  const job = jobAt(outline, path);
  let rule = ruleOfKeys(outline, path, actions) ?? (step && IN_STEP);
  if (!rule) return undefined;
  if (path[2] !== "matrix" && hasMatrix(job)) rule = seeingMatrix(rule, undefined);
  if (!step) return rule;
  if (fieldOf(job?.node, "load")) rule = seeingRound(rule);
  rule = seeing(rule, actionAt(outline, path, actions)?.resultNames ?? []);
  if (!path.includes("finally")) return rule;
  return seeing(
    rule,
    path[0] === "finally" && outline.kind === "workflow" ? ["run"] : ["run", "job"],
  );
}

function ruleOfKeys(outline: Outline, path: Path, actions: Catalog): NameRule | undefined {
  for (let length = path.length; length > 0; length--) {
    const keys = keysAt(outline, path.slice(0, length - 1), actions);
    const key = String(path[length - 1]);
    if (keys?.kind !== "fields") continue;
    const names = keys.fields.find(({ name }) => name === key)?.key?.names;
    if (names) return names;
  }
  return undefined;
}

function jobAt(outline: Outline, path: Path): JobOutline | undefined {
  return path[0] === "jobs" ? outline.jobs[Number(path[1])] : undefined;
}

function hasMatrix(job: JobOutline | undefined): boolean {
  return fieldOf(job?.node, "matrix") !== undefined;
}
