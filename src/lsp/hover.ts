import type { Action, Parameter } from "../action/action.ts";
import { exampleStep } from "../action/example_step.ts";
import { sentence } from "../action/list_parameters.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import type { Field } from "../workflow/decode/field.ts";
import { typeOfKey } from "../workflow/names.ts";
import { type Keys, keysAt, type KnownActions } from "./format.ts";
import { type LooseScalar, spotAt, type TextRange } from "./loose_yaml.ts";
import { chainBefore, describeMember, membersOf, namesAt, outputOf } from "./members.ts";
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

/** The text of the reference about the word at an offset. */
export async function hoverAt(
  outline: Outline,
  offset: number,
  known: KnownActions,
): Promise<Hover | undefined> {
  const spot = spotAt(outline.root, offset);
  if (!spot) return undefined;
  const { path, scalar } = spot;
  const mention = findMention(outline, offset);
  const ofMention = mention && describeMention(outline, mention, path, known);
  if (spot.isKey) {
    const markdown = describeKey(outline, path, known) ?? ofMention;
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
  if (mention && ofMention !== undefined) {
    return { markdown: ofMention, start: mention.start, end: mention.end };
  }
  const inside = offset - scalar.from;
  if (!isExpression(path) && !isInBraces(scalar.text, inside)) return undefined;
  return await hoverInExpression(outline, scalar, offset, path, known);
}

async function hoverInExpression(
  outline: Outline,
  scalar: LooseScalar,
  offset: number,
  path: readonly (string | number)[],
  known: KnownActions,
): Promise<Hover | undefined> {
  const { text } = outline;
  const start = offset - /[\w]*$/.exec(text.slice(scalar.from, offset))![0].length;
  const word = /^\w*/.exec(text.slice(start, start + 100))![0];
  const range = { start, end: start + word.length };
  const chain = chainBefore(text.slice(scalar.from, start));
  const members = chain ? membersOf(chain, outline, path, known) : namesAt(outline, path, known);
  const member = members.find(({ name }) => name === word);
  if (member) return { ...range, markdown: describeMember(member, chain?.join(".")) };
  const record = text[start - 1] === "." ? undefined : FUNCTIONS.get(word);
  return record && { ...range, markdown: `\`${record.signature}\`\n\n${await record.summary()}` };
}

function describeKey(
  outline: Outline,
  path: readonly (string | number)[],
  known: KnownActions,
): string | undefined {
  const name = String(path.at(-1));
  const keys = keysAt(outline, path.slice(0, -1), known);
  switch (keys?.kind) {
    case "fields": {
      const field = Object.hasOwn(keys.table.fields, name) ? keys.table.fields[name] : undefined;
      return field && inParagraphs(
        `**${name}** (${typeOfKey(field)}), of ${keys.table.what}`,
        summaryOf(field),
        linesOf(keysAt(outline, path, known) ?? keysAt(outline, [...path, 0], known)),
      );
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

function inParagraphs(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text).join("\n\n");
}

/** The keys of a map, a line each. */
function linesOf(keys: Keys | undefined): string | undefined {
  if (keys?.kind === "parameters") return parametersIn(keys.parameters);
  if (keys?.kind !== "fields") return undefined;
  return Object.entries<Field>(keys.table.fields)
    .map(([name, field]) => `- \`${name}\` (${typeOfKey(field)}): ${summaryOf(field)}`).join("\n");
}

function parametersIn(parameters: readonly Parameter[] = []): string {
  return parameters.map((one) =>
    `- \`${one.name}\` (${[one.type].flat().join(" or ")}): ${
      summaryOf({
        ...one,
        choices: one.values,
      })
    }`
  ).join("\n");
}

/** What a key or a parameter is for, with what it may be. */
function summaryOf(
  { summary, choices, default: standard, required, unless }: Pick<
    Field,
    "summary" | "choices" | "default" | "required" | "unless"
  >,
): string {
  return sentence(summary).replace(/[^.!?]$/, "$&.") +
    (choices ? ` One of ${listed(choices)}.` : "") +
    (standard === undefined ? "" : ` Default: \`${standard}\`.`) +
    (required && !unless ? " Required." : "");
}

/** A parameter of an action in Markdown. */
export function describeParameter(parameter: Parameter, { name: action }: Action): string {
  const { name, type, fields, items, values: choices } = parameter;
  return inParagraphs(
    `**${name}** (${[type].flat().join(" or ")}), of ${action}`,
    summaryOf({ ...parameter, choices }),
    parametersIn(fields ?? items),
  );
}

/** An action in Markdown. */
export function describeAction(action: Action): string {
  return inParagraphs(
    `**${action.name}**`,
    `${action.summary}.`,
    `\`\`\`yaml\n${exampleStep(action)}\n\`\`\``,
    parametersIn(action.parameters),
  );
}

/** A definition, or where a step or a job is named. */
function describeMention(
  outline: Outline,
  { kind, name, step }: Mention,
  path: readonly (string | number)[],
  known: KnownActions,
): string | undefined {
  switch (kind) {
    case "var": {
      const found = membersOf(["vars"], outline, path, known).find((one) => one.name === name);
      return found && describeMember(found, "vars");
    }
    case "output": {
      const owner = outline.steps.find(({ id, outputs }) =>
        id && (step === undefined || id.text === step) &&
        outputs.some(({ key }) => key.text === name)
      );
      return owner &&
        describeMember(outputOf(owner, name, outline, known), `outputs.${owner.id!.text}`);
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

function listed(names: readonly string[]): string {
  return names.map((word) => `\`${word}\``).join(", ");
}
