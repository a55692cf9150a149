import type { Action, Parameter } from "../action/action.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import { actionAt, keysAt, type KnownActions, varsAt } from "./format.ts";
import { spotAt, type TextRange } from "./loose_yaml.ts";
import {
  findMention,
  isExpression,
  isInBraces,
  type Mention,
  type Outline,
  outputNames,
  textRange,
} from "./outline.ts";

/** A text in Markdown about a part of a file. */
interface Hover extends TextRange {
  readonly markdown: string;
}

/** Descriptions of the names that expressions see. */
export const NAMES: Readonly<Record<string, string>> = {
  vars: "The variables of the workflow, with those of the step and of the entry of its iteration.",
  outputs: "What steps have published: `outputs.<step id>.<name>`, or `outputs.<name>`; " +
    "`outputs.<step id>.all` is the list of the outputs of all entries of an `iteration`, or of " +
    "all jobs of a `matrix`.",
  needs: "How the jobs that this job needs have ended: `needs.<job id>.state`; " +
    "`needs.<job id>.all` is the list of the `state` and `matrix` of each job of a `matrix`.",
  matrix: "The values of the `matrix` of the job in the combination that it runs for.",
  res: "The response of the action.",
  req: "The request of the action, as it was sent.",
  rt: "The response time.",
  status: "0 if the action succeeded.",
  repeat_index: "The number of the round of the job, from 0.",
  iteration_index: "The number of the entry of the iteration, from 0.",
};

/** The text of the reference about the word at an offset. */
export function hoverAt(
  outline: Outline,
  offset: number,
  known: KnownActions,
): Hover | undefined {
  const spot = spotAt(outline.root, offset);
  if (!spot) return undefined;
  const { path, scalar } = spot;
  if (spot.isKey) {
    const markdown = describeKey(outline, path, known);
    return markdown === undefined ? undefined : { markdown, ...textRange(scalar) };
  }
  if (path.at(-1) === "uses") {
    const action = known.actions.get(scalar.text);
    const markdown = action
      ? describeAction(action)
      : known.plugins.includes(scalar.text)
      ? `The plugin **${scalar.text}**. Its parameters are not known before it runs.`
      : undefined;
    return markdown === undefined ? undefined : { markdown, ...textRange(scalar) };
  }
  const mention = findMention(outline, offset);
  if (mention) {
    const markdown = describeMention(outline, mention, path);
    if (markdown !== undefined) return { markdown, start: mention.start, end: mention.end };
  }
  const inside = offset - scalar.from;
  if (!isExpression(path) && !isInBraces(scalar.text, inside)) return undefined;
  return hoverInExpression(outline, offset, path, known);
}

function hoverInExpression(
  { text, ...outline }: Outline,
  offset: number,
  path: readonly (string | number)[],
  known: KnownActions,
): Hover | undefined {
  const start = offset - /[\w]*$/.exec(text.slice(0, offset))![0].length;
  const word = /^\w*/.exec(text.slice(start))![0];
  const range = { start, end: start + word.length };
  if (/res\??\.$/.test(text.slice(0, start))) {
    const action = actionAt({ text, ...outline }, path, known);
    const field = action?.responseFields?.find(({ name }) => name === word);
    return field && {
      ...range,
      markdown: `\`res.${word}\`${field.type ? `: ${field.type}` : ""}, of ${action!.name}`,
    };
  }
  if (text[start - 1] === ".") return undefined;
  const record = FUNCTIONS.get(word);
  if (record) {
    return { ...range, markdown: `\`${record.signature}\`\n\n${record.summary}` };
  }
  const name = Object.hasOwn(NAMES, word) ? NAMES[word] : undefined;
  return name === undefined ? undefined : { ...range, markdown: `\`${word}\`\n\n${name}` };
}

function describeKey(
  outline: Outline,
  path: readonly (string | number)[],
  known: KnownActions,
): string | undefined {
  const around = path.slice(0, -1);
  const name = String(path.at(-1));
  const keys = keysAt(outline, around, known);
  switch (keys?.kind) {
    case "fields": {
      const field = Object.hasOwn(keys.table.fields, name) ? keys.table.fields[name] : undefined;
      if (!field) return undefined;
      const standard = field.default === undefined ? "" : ` Default: \`${field.default}\`.`;
      const choices = field.choices ? ` One of ${listed(field.choices)}.` : "";
      const required = field.required && !field.unless ? " Required." : "";
      return `**${name}** (${field.type}), of ${keys.table.what}\n\n` +
        field.summary + choices + standard + required;
    }
    case "parameters": {
      const parameter = keys.parameters.find((one) => one.name === name);
      return parameter && describeParameter(parameter, keys.action);
    }
    case "actions": {
      const action = known.actions.get(name);
      return action && describeAction(action);
    }
    default:
      return undefined;
  }
}

/** A parameter of an action in Markdown. */
export function describeParameter(parameter: Parameter, { name: action }: Action): string {
  const { name, type, summary, default: standard, values, required } = parameter;
  const types = typeof type === "string" ? type : type.join(" or ");
  return `**${name}** (${types}), of ${action}\n\n${sentence(summary)}` +
    (values ? ` One of ${listed(values)}.` : "") +
    (standard === undefined ? "" : ` Default: \`${standard}\`.`) + (required ? " Required." : "");
}

/** An action in Markdown. */
export function describeAction({ name, summary, parameters }: Action): string {
  const lines = (parameters ?? []).map((one) => `- \`${one.name}\`: ${sentence(one.summary)}`);
  return [`**${name}**`, sentence(summary), lines.join("\n")].filter((each) => each).join("\n\n");
}

function describeMention(
  outline: Outline,
  { kind, name, step }: Mention,
  path: readonly (string | number)[],
): string | undefined {
  const written = (node: { readonly start: number; readonly end: number } | undefined) =>
    node ? `\n\n\`\`\`yaml\n${outline.text.slice(node.start, node.end)}\n\`\`\`` : "";
  switch (kind) {
    case "var":
      return `**vars.${name}**${written(varsAt(outline, path).get(name))}`;
    case "output": {
      const owners = outline.steps.filter(({ id, outputs }) =>
        id && (step === undefined || id.text === step) &&
        outputs.some(({ key }) => key.text === name)
      );
      const owner = owners[0];
      if (!owner) return undefined;
      const value = owner.outputs.find(({ key }) => key.text === name)?.value;
      return `**${name}**, an output of the step \`${owner.id!.text}\`${written(value)}`;
    }
    case "step": {
      const owner = outline.steps.find(({ id }) => id?.text === name);
      if (!owner) return undefined;
      const names = owner.outputs.length === 0 ? "" : listed(outputNames(owner));
      const uses = owner.uses ? `, uses ${owner.uses}` : "";
      return `**${name}**, a step${uses}${names === "" ? "" : `\n\nOutputs: ${names}`}`;
    }
    default: {
      const job = outline.jobs.find(({ id }) => id?.text === name);
      return job && `**${name}**, a job of ${job.steps.length} steps`;
    }
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function listed(names: readonly string[]): string {
  return names.map((word) => `\`${word}\``).join(", ");
}
