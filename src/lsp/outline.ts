import { ALL } from "../workflow/step_facts.ts";
import {
  fieldOf,
  itemsOf,
  type LooseNode,
  type LooseScalar,
  pairsOf,
  readLoosely,
  type TextRange,
} from "./loose_yaml.ts";

/** The kinds of names that a workflow defines and uses. */
type NameKind = "job" | "step" | "output" | "var";

/** A part of the text that defines or uses a name. */
export interface Mention extends TextRange {
  readonly kind: NameKind;
  readonly name: string;
  /** Of an output, the step that publishes it; undefined where it is read by its name alone. */
  readonly step?: string;
  readonly isDefinition: boolean;
}

export interface StepInText {
  readonly node: LooseNode;
  readonly job: JobOutline;
  readonly id?: LooseScalar;
  readonly uses?: string;
  readonly outputs: readonly { readonly key: LooseScalar; readonly value: LooseNode }[];
}

export interface JobOutline {
  readonly node: LooseNode;
  readonly id?: LooseScalar;
  readonly steps: StepInText[];
}

/** The recognizable parts of a workflow or a job file. */
export interface Outline {
  readonly text: string;
  /** The text without what is no YAML, in place. */
  readonly readable: string;
  readonly root: LooseNode;
  readonly kind: FileKind;
  readonly jobs: readonly JobOutline[];
  readonly steps: readonly StepInText[];
  readonly mentions: readonly Mention[];
}

/** The formats of files; each has its own keys. */
export type FileKind = "workflow" | "job file" | "suite";

function kindOf(root: LooseNode): FileKind {
  if (fieldOf(root, "jobs")) return "workflow";
  if (fieldOf(root, "steps")) return "job file";
  return fieldOf(root, "workflows") ? "suite" : "workflow";
}

/** Looks through the text of a file that may be broken. */
export function makeOutline(text: string): Outline {
  const { root, text: readable } = readLoosely(text);
  const kind = kindOf(root);
  const isJobFile = kind === "job file";
  const jobs = (isJobFile ? [root] : itemsOf(fieldOf(root, "jobs"))).map(readJob);
  const cleanup = isJobFile ? [] : readJob(root).steps;
  const steps = [...jobs.flatMap((job) => job.steps), ...cleanup];
  let mentions: readonly Mention[] | undefined;
  return {
    ...{ text, readable, root, kind, jobs, steps },
    /** Found when they are asked for: completion needs none. */
    get mentions() {
      return mentions ??= findMentions(root, jobs, steps);
    },
  };
}

function readJob(node: LooseNode): JobOutline {
  const id = scalarOf(fieldOf(node, "id"));
  const job: JobOutline = { node, id, steps: [] };
  for (const key of ["steps", "finally"]) {
    for (const step of itemsOf(fieldOf(node, key))) job.steps.push(readStep(step, job));
  }
  return job;
}

function readStep(node: LooseNode, job: JobOutline): StepInText {
  const id = scalarOf(fieldOf(node, "id"));
  const uses = scalarOf(fieldOf(node, "uses"))?.text;
  const outputs = pairsOf(fieldOf(node, "outputs"));
  return { node, job, id, uses, outputs };
}

/** The names that may be read of the outputs of a step. */
export function outputNames({ node, outputs }: StepInText): readonly string[] {
  const names = outputs.map(({ key }) => key.text);
  return fieldOf(node, "iteration") && !names.includes(ALL) ? [...names, ALL] : names;
}

/** A text that is not empty. */
export function scalarOf(node: LooseNode | undefined): LooseScalar | undefined {
  return node?.kind === "scalar" && node.text !== "" ? node : undefined;
}

/** Where the text of a scalar is, without its quotes. */
export function textRange({ from, text }: LooseScalar): TextRange {
  return { start: from, end: from + text.length };
}

function findMentions(
  root: LooseNode,
  jobs: readonly JobOutline[],
  steps: readonly StepInText[],
): readonly Mention[] {
  const found: Mention[] = [];
  for (const { node, id } of jobs) {
    if (id) found.push({ kind: "job", name: id.text, ...textRange(id), isDefinition: true });
    for (const need of itemsOf(fieldOf(node, "needs"))) {
      const text = scalarOf(need);
      if (!text) continue;
      found.push({ kind: "job", name: text.text, ...textRange(text), isDefinition: false });
    }
  }
  for (const { id, outputs } of steps) {
    if (!id) continue;
    found.push({ kind: "step", name: id.text, ...textRange(id), isDefinition: true });
    for (const { key } of outputs) {
      const name = { kind: "output", name: key.text, step: id.text } as const;
      found.push({ ...name, ...textRange(key), isDefinition: true });
    }
  }
  // A var defined by a step or an entry replaces the var of that name.
  const varMaps = steps.flatMap(({ node }) => {
    const iteration = fieldOf(node, "iteration");
    const entries = itemsOf(fieldOf(iteration, "list") ?? iteration);
    return [fieldOf(node, "vars"), fieldOf(iteration, "matrix"), ...entries];
  });
  for (const { key } of [fieldOf(root, "vars"), ...varMaps].flatMap(pairsOf)) {
    found.push({ kind: "var", name: key.text, ...textRange(key), isDefinition: true });
  }
  const ids = new Set(steps.flatMap(({ id }) => id?.text ?? []));
  eachScalar(root, (scalar, path) => {
    for (const { root, keys } of readingsIn(scalar, path)) {
      const [first, second] = keys;
      if (!first || root === "res") continue;
      const use = (kind: NameKind, { name, ...range }: Key, step?: string) =>
        found.push({ kind, name, ...range, isDefinition: false, step });
      if (root === "vars") use("var", first);
      else if (root === "needs") use("job", first);
      else if (!ids.has(first.name)) use("output", first);
      else {
        use("step", first);
        if (second) use("output", second, first.name);
      }
    }
  });
  return found.sort((a, b) => a.start - b.start);
}

type Path = readonly (string | number)[];

/** Visits all scalars in a node but for keys, each with its path. */
export function eachScalar(
  node: LooseNode,
  visit: (scalar: LooseScalar, path: Path) => void,
  path: Path = [],
): void {
  if (node.kind === "scalar") visit(node, path);
  for (const [index, item] of itemsOf(node).entries()) eachScalar(item, visit, [...path, index]);
  for (const { key, value } of pairsOf(node)) eachScalar(value, visit, [...path, key.text]);
}

interface Key extends TextRange {
  readonly name: string;
}

interface Reading {
  readonly root: string;
  readonly keys: readonly Key[];
}

/** Keys whose values are expressions without braces. */
const EXPRESSION_KEYS: readonly string[] = [
  ...["test", "skipif", "until", "stop", "where", "expect", "of"],
];

/** Whether the text at a path is an expression as it is, by the keys of the file format. */
export function isExpression(path: Path): boolean {
  const keys = path.filter((part) => typeof part === "string");
  if (keys.includes("vars") || keys.includes("with") || keys.includes("defaults")) {
    // Conditions inside of parameters are recognized by their names.
    return ["until", "where"].includes(String(keys.at(-1))) && keys.includes("with");
  }
  return EXPRESSION_KEYS.includes(String(keys.at(-1))) || keys.at(-2) === "outputs";
}

const CHAIN =
  /(?<![\w.#$])(vars|outputs|needs|res)((?:\s*\??\.\s*[A-Za-z_]\w*|\s*(?:\?\.)?\[\s*\\?["'][^"'\\\]]+\\?["']\s*\])+)/;
const PART = /\.\s*([A-Za-z_]\w*)|\[\s*\\?["']([^"'\\\]]+)\\?["']\s*\]/g;
/** What a name may be in: a template, a line, a string. */
const AROUND = /\{\{|\}\}|\n|\\?["'`]/;
const TOKENS = new RegExp(`${CHAIN.source}|${AROUND.source}`, "g");

/** The vars, outputs, needs and parts of responses that the expressions in a text read. */
export function readingsIn(scalar: LooseScalar, path: Path): readonly Reading[] {
  const isWhole = isExpression(path);
  const readings: Reading[] = [];
  let isInside = isWhole;
  let quote: string | undefined;
  for (const { index, 0: all, 1: root, 2: chain } of scalar.text.matchAll(TOKENS)) {
    if (root !== undefined && chain !== undefined) {
      if (!isInside || quote !== undefined) continue;
      const from = scalar.from + index + all.length - chain.length;
      const keys = [...chain.matchAll(PART)].map((part) => {
        const name = (part[1] ?? part[2])!;
        const start = from + part.index + part[0].indexOf(name);
        return { name, start, end: start + name.length };
      });
      readings.push({ root, keys });
    } else if (all === "\n") quote = undefined;
    else if (/["'`]/.test(all)) {
      const mark = all.at(-1);
      if (quote === undefined) quote = mark;
      else if (quote === mark) quote = undefined;
    } else if (!isWhole) {
      isInside = all === "{{";
      quote = undefined;
    }
  }
  return readings;
}

/** Whether an offset is between `{{` and `}}`. */
export function isInBraces(text: string, at: number): boolean {
  const open = text.lastIndexOf("{{", at);
  return open >= 0 && text.lastIndexOf("}}", at - 1) < open;
}

/** The name at an offset that a workflow defines or uses. */
export function findMention({ mentions }: Outline, offset: number): Mention | undefined {
  return mentions.findLast(({ start, end }) => start <= offset && offset <= end);
}

/** All mentions of the same thing, in the order of the file. */
export function mentionsOf(outline: Outline, of: Mention): readonly Mention[] {
  return outline.mentions.filter((one) => isSame(outline, one, of));
}

/** Whether two mentions are about the same thing of the file with that outline. */
function isSame(outline: Outline, one: Mention, other: Mention): boolean {
  return one.kind === other.kind && one.name === other.name &&
    stepOf(outline, one) === stepOf(outline, other);
}

/** Whose output is meant: that of the first step that publishes it, where it is read by its name. */
function stepOf({ mentions }: Outline, { kind, name, step }: Mention): string | undefined {
  if (kind !== "output" || step !== undefined) return step;
  return mentions.find((one) => one.kind === "output" && one.name === name && one.isDefinition)
    ?.step;
}

/** An entry in the outline view of an editor. */
export interface FileSymbol {
  readonly name: string;
  readonly kind: "job" | "step" | "output" | "var";
  readonly range: TextRange;
  /** The part to go to. */
  readonly selection: TextRange;
  readonly children: readonly FileSymbol[];
}

/** The jobs of a file with their steps and outputs. */
export function symbolsOf(outline: Outline): readonly FileSymbol[] {
  const inJobs = outline.jobs.map((job, index): FileSymbol => ({
    ...named(job.node, `job_${index}`),
    kind: "job",
    children: job.steps.map(stepSymbol),
  }));
  const rest = outline.steps.filter(({ job }) => !outline.jobs.includes(job)).map(stepSymbol);
  return [...inJobs, ...rest];
}

function stepSymbol({ node, uses, outputs }: StepInText): FileSymbol {
  return {
    ...named(node, uses ?? "step"),
    kind: "step",
    children: outputs.map(({ key, value }) => ({
      name: key.text,
      kind: "output",
      range: { start: key.start, end: Math.max(key.end, value.end) },
      selection: textRange(key),
      children: [],
    })),
  };
}

function named(node: LooseNode, otherwise: string) {
  const name = scalarOf(fieldOf(node, "name")) ?? scalarOf(fieldOf(node, "id"));
  const range = { start: node.start, end: node.end };
  const selection = name ? textRange(name) : { start: node.start, end: node.start };
  return { name: name?.text ?? otherwise, range, selection };
}
