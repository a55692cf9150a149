import type { YamlNode, YamlPair, YamlScalar } from "../base/yaml/yaml_tree.ts";
import { ALL } from "../workflow/step_facts.ts";
import {
  contentOf,
  extentOf,
  fieldOf,
  itemsOf,
  pairsOf,
  readLoosely,
  type TextRange,
} from "./loose_yaml.ts";

export interface StepInText {
  readonly node: YamlNode;
  readonly job: JobOutline;
  readonly id?: YamlScalar;
  readonly uses?: string;
  readonly outputs: readonly (YamlPair & { readonly key: YamlScalar })[];
}

export interface JobOutline {
  readonly node: YamlNode | undefined;
  readonly id?: YamlScalar;
  readonly steps: StepInText[];
}

/** The recognizable parts of a file whose text is being typed. */
export interface Outline {
  readonly text: string;
  /** The text with spaces in place of the parts that are not YAML. */
  readonly readable: string;
  readonly root: YamlNode | undefined;
  readonly kind: FileKind;
  readonly jobs: readonly JobOutline[];
  readonly steps: readonly StepInText[];
}

/** The formats of files; each has its own keys. */
export type FileKind = "workflow" | "job file" | "suite";

function kindOf(root: YamlNode | undefined): FileKind {
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
  return { text, readable, root, kind, jobs, steps };
}

function readJob(node: YamlNode | undefined): JobOutline {
  const id = scalarOf(fieldOf(node, "id"));
  const job: JobOutline = { node, id, steps: [] };
  for (const key of ["steps", "finally"]) {
    for (const step of itemsOf(fieldOf(node, key))) job.steps.push(readStep(step, job));
  }
  return job;
}

function readStep(node: YamlNode, job: JobOutline): StepInText {
  const id = scalarOf(fieldOf(node, "id"));
  const uses = scalarOf(fieldOf(node, "uses"))?.text;
  const outputs = pairsOf(fieldOf(node, "outputs"));
  return { node, job, id, uses, outputs };
}

export function outputNames({ node, outputs }: StepInText): readonly string[] {
  const names = outputs.map(({ key }) => key.text);
  return fieldOf(node, "iteration") && !names.includes(ALL) ? [...names, ALL] : names;
}

/** A text that is not empty. */
export function scalarOf(node: YamlNode | undefined): YamlScalar | undefined {
  return node?.kind === "scalar" && node.text !== "" ? node : undefined;
}

/** Whether an offset is between `{{` and `}}`. */
export function isInBraces(text: string, at: number): boolean {
  const open = text.lastIndexOf("{{", at);
  return open >= 0 && text.lastIndexOf("}}", at - 1) < open;
}

/** An entry in the outline view of an editor. */
export interface FileSymbol {
  readonly name: string;
  readonly kind: "job" | "step" | "output";
  readonly range: TextRange;
  /** The part to go to. */
  readonly selection: TextRange;
  readonly children: readonly FileSymbol[];
}

/** The jobs of a file with their steps and outputs. */
export function symbolsOf(outline: Outline): readonly FileSymbol[] {
  const inJobs = outline.jobs.flatMap((job, index): readonly FileSymbol[] =>
    job.node
      ? [{
        ...named(job.node, `job_${index}`),
        kind: "job",
        children: job.steps.map(stepSymbol),
      }]
      : []
  );
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
      range: { start: key.start, end: Math.max(key.end, value.outerEnd) },
      selection: contentOf(key),
      children: [],
    })),
  };
}

function named(node: YamlNode, otherwise: string) {
  const name = scalarOf(fieldOf(node, "name")) ?? scalarOf(fieldOf(node, "id"));
  const range = extentOf(node);
  const selection = name ? contentOf(name) : { start: range.start, end: range.start };
  return { name: name?.text ?? otherwise, range, selection };
}
