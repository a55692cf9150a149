import type { Dict, Value } from "../base/value/value.ts";
import { printYaml } from "../base/yaml/print_yaml.ts";
import { literalText } from "./templates.ts";

/** A workflow that is being made from something else. Its texts are templates. */
export interface Draft {
  readonly name: string;
  readonly vars: Dict;
  readonly jobs: readonly DraftJob[];
  /** Whether each job waits for the one before it. */
  readonly isSequence?: true;
  /** The parts of the whole file that could not be translated, with reasons. */
  readonly notes: readonly string[];
}

export interface DraftJob {
  /** A plain text. */
  readonly name: string;
  readonly steps: readonly DraftStep[];
  readonly keys?: Dict;
  readonly notes?: readonly string[];
  /** Its steps are `finally` of the workflow. Such a job is the last one. */
  readonly isFinally?: true;
}

export interface DraftStep {
  readonly data: Readonly<Record<string, Value>>;
  /** The parts of this step that could not be translated, with reasons. */
  readonly notes: readonly string[];
}

/** The keys whose maps are not empty. */
export function filled<T extends object>(
  keys: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(keys).filter(([, map]) => Object.keys(map).length > 0),
  );
}

/** The text of a workflow file. `head` are the lines of its first comment. */
export function renderDraft(
  { name, vars, jobs, notes, isSequence }: Draft,
  head: readonly string[],
): string {
  const parts = [
    comment(head) + notTranslated(notes) + printYaml({ name }),
    ...Object.keys(vars).length === 0 ? [] : [printYaml({ vars })],
    "jobs:\n" + jobs.filter(({ isFinally }) => !isFinally).map((job, index) => {
      const keys = isSequence && jobs.length > 1 ? sequenceKeys(index) : {};
      return indent(renderJob({ ...job, keys: { ...keys, ...job.keys } }), 2);
    }).join("\n"),
    ...jobs.filter(({ isFinally }) => isFinally)
      .map(({ steps, notes = [] }) => notTranslated(notes) + "finally:\n" + renderSteps(steps, 2)),
  ];
  return parts.join("\n");
}

/** The text of a job, as a list of one. */
function renderJob({ name, keys, steps, notes = [] }: DraftJob): string {
  return notTranslated(notes) + printYaml([{ name: literalText(name), ...keys }]) + "  steps:\n" +
    renderSteps(steps, 4);
}

function renderSteps(steps: readonly DraftStep[], columns: number): string {
  return steps.map(({ data, notes }) => indent(notTranslated(notes) + printYaml([data]), columns))
    .join("\n");
}

/** The keys that make a job wait for the previous one, however that ends. */
function sequenceKeys(index: number): Dict {
  const after: Dict = index === 0 ? {} : { needs: [`part_${index}`], when: "always" };
  return { id: `part_${index + 1}`, ...after };
}

/** The number of parts that could not be translated. */
export function countNotes({ notes, jobs }: Draft): number {
  const all = jobs.flatMap(({ notes = [], steps }) => [notes, ...steps.map(({ notes }) => notes)]);
  return [notes, ...all].flat().length;
}

function notTranslated(notes: readonly string[]): string {
  return comment(notes.map((note) => `Not translated: ${note}`));
}

/** A control character in a comment would make the file unreadable. */
function comment(lines: readonly string[]): string {
  return lines.map((line) => `# ${line.replace(/\p{C}+/gu, " ")}\n`).join("");
}

/** Indents a text further; empty lines stay empty. */
function indent(text: string, columns: number): string {
  return text.replace(/^(?=[^\n])/gm, " ".repeat(columns));
}
