import type { Dict, Value } from "../base/value/value.ts";
import { printYaml } from "../base/yaml/print_yaml.ts";

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

/** A template that renders to exactly this text. */
export function literalText(text: string): string {
  return text.replaceAll("{{", "{{ '{{' }}");
}

/** A text as a literal of the expression language. */
export function quoteText(text: string): string {
  const escaped = text.replace(
    // deno-lint-ignore no-control-regex
    /[\\'\0-\x1f\x7f]/g,
    (mark) =>
      mark === "\\" || mark === "'"
        ? `\\${mark}`
        : `\\x${mark.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return `'${escaped}'`;
}

/** Texts and expressions put together as one template. */
export function joinTemplate(parts: readonly TemplatePart[]): string {
  let template = "";
  for (const part of parts) {
    template = typeof part === "string"
      ? template + literalText(part)
      : appendExpression(template, part.expression);
  }
  return template;
}

/** A template and an expression; a brace before it would become part of the expression. */
export function appendExpression(template: string, expression: string): string {
  return `${template.replace(/\{$/, "{{ '{' }}")}{{${expression}}}`;
}

/** Literal text, or an expression that is replaced by its value. */
export type TemplatePart = string | { readonly expression: string };

/** A text as an identifier of expressions; undefined if it has no letters and digits. */
function identifier(text: string): string | undefined {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^A-Za-z0-9]+/g, "_");
  const name = plain.replace(/^_+|_+$/g, "");
  if (name === "") return undefined;
  return /^\d/.test(name) ? `n${name}` : name;
}

/** A name in the form of variables: `petId` becomes `pet_id`. */
export function snakeCase(text: string): string | undefined {
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(
    /([A-Z])([A-Z][a-z])/g,
    "$1_$2",
  );
  return identifier(spaced)?.toLowerCase();
}

/** A name in the form of environment variables: `PET_ID`. */
export function environmentName(text: string): string {
  return (snakeCase(text) ?? "value").toUpperCase();
}

/** Returns each name once; a name that is taken gets a number. */
export class UniqueNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  take(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number++) free = `${name}_${number}`;
    this.#taken.add(free);
    return free;
  }
}

/** A template that we made. Any other text is data of the input, whatever is written in it. */
export class Template {
  constructor(readonly text: string) {}
}

export type Text = string | Template;

/** Values of a step that is being made. */
export type Data<T extends Text = Text> =
  | null
  | boolean
  | number
  | bigint
  | T
  | readonly Data<T>[]
  | { readonly [key: string]: Data<T> };

/** A text as a workflow has it: one that is not a template of ours is escaped. */
export function writeText(text: Text): string {
  return text instanceof Template ? text.text : literalText(text);
}

/** A value with each of its texts changed. The names of fields are never templates. */
export function mapTexts<T extends Text, R extends Text>(
  value: Data<T>,
  change: (text: T) => R,
): Data<R> {
  if (typeof value === "string" || value instanceof Template) return change(value as T);
  if (Array.isArray(value)) return value.map((one: Data<T>) => mapTexts(one, change));
  if (typeof value !== "object" || value === null) return value as Data<never>;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, mapTexts(field, change)]),
  );
}
