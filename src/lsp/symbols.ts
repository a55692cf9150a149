import { fieldOf, type LooseNode } from "./loose_yaml.ts";
import { type Outline, scalarOf, type StepInText, type TextRange, textRange } from "./outline.ts";

/** A part of a file for the outline of an editor. */
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
