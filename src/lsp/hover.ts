import type { Path } from "../base/source.ts";
import type { Action } from "../action/action.ts";
import type { Parameter } from "../action/parameter.ts";
import { exampleStep, sentence, typeOfKey } from "../workflow/names.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import type { Checked } from "./diagnose.ts";
import { type Catalog, type Keys, keysAt } from "./keys_at.ts";
import type { YamlScalar } from "../base/yaml/yaml_tree.ts";
import { contentOf, isInBraces, type Outline, spotAt, type TextRange } from "./outline.ts";
import {
  chainBefore,
  contextAt,
  describeMember,
  type ExpressionContext,
  membersOf,
  outputOf,
} from "./members.ts";

/** A text in Markdown about a part of a file. */
interface Hover extends TextRange {
  readonly markdown: string;
}

/** The text of the reference about the word at an offset. */
export async function hoverAt(
  outline: Outline,
  offset: number,
  catalog: Catalog,
  check: () => Promise<Checked>,
): Promise<Hover | undefined> {
  const spot = spotAt(outline.root, offset);
  if (!spot) return undefined;
  const { path, scalar } = spot;
  const content = contentOf(scalar);
  if (spot.isKey) {
    const markdown = describeKey(outline, path, catalog) ??
      describeDefinition(contextAt(await check(), path));
    return markdown === undefined ? undefined : { markdown, ...content };
  }
  if (path.at(-1) === "uses") {
    const action = catalog.actions.get(scalar.text);
    const markdown = action
      ? describeAction(action)
      : catalog.plugins.includes(scalar.text)
      ? `The plugin **${scalar.text}**. Its parameters are not known before it runs.`
      : undefined;
    return markdown === undefined ? undefined : { markdown, ...content };
  }
  const written = outline.text.slice(content.start, content.end);
  const context = contextAt(await check(), path);
  return context.isExpression || isInBraces(written, offset - content.start)
    ? await hoverInExpression(outline, scalar, offset, context)
    : undefined;
}

async function hoverInExpression(
  outline: Outline,
  scalar: YamlScalar,
  offset: number,
  context: ExpressionContext,
): Promise<Hover | undefined> {
  const { text } = outline;
  const { start: from } = contentOf(scalar);
  const start = offset - /[\w]*$/.exec(text.slice(from, offset))![0].length;
  const word = /^\w*/.exec(text.slice(start, start + 100))![0];
  const range = { start, end: start + word.length };
  const chain = chainBefore(text.slice(from, start));
  const member = membersOf(chain, context).find(({ name }) => name === word);
  if (member) return { ...range, markdown: describeMember(member, chain?.join(".")) };
  const record = text[start - 1] === "." ? undefined : FUNCTIONS.get(word);
  return record && { ...range, markdown: `\`${record.signature}\`\n\n${await record.summary()}` };
}

function describeKey(
  outline: Outline,
  path: Path,
  catalog: Catalog,
): string | undefined {
  const name = String(path.at(-1));
  const keys = keysAt(outline, path.slice(0, -1), catalog);
  switch (keys?.kind) {
    case "fields": {
      const field = keys.fields.find((one) => one.name === name);
      return field && inParagraphs(
        `**${name}** (${typeOfKey(field)}), of ${keys.what}`,
        summaryOf(field),
        linesOf(keysAt(outline, path, catalog) ?? keysAt(outline, [...path, 0], catalog)),
      );
    }
    case "parameters": {
      const parameter = keys.parameters.find((one) => one.name === name);
      return parameter && describeParameter(parameter, keys.action);
    }
    case "actions": {
      const action = catalog.actions.get(name);
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
  return keys?.kind === "fields" ? parametersIn(keys.fields) : undefined;
}

function parametersIn(parameters: readonly Parameter[] = []): string {
  return parameters.map((one) => `- \`${one.name}\` (${typeOfKey(one)}): ${summaryOf(one)}`).join(
    "\n",
  );
}

/** The purpose of a key or a parameter, and its possible values. */
function summaryOf(
  { summary, default: standard, required }: Parameter,
): string {
  return sentence(summary).replace(/[^.!?]$/, "$&.") +
    (standard === undefined ? "" : ` Default: \`${standard}\`.`) +
    (required ? " Required." : "");
}

export function describeParameter(parameter: Parameter, { name: action }: Action): string {
  const { name, fields, items } = parameter;
  return inParagraphs(
    `**${name}** (${typeOfKey(parameter)}), of ${action}`,
    summaryOf(parameter),
    parametersIn(fields ?? items),
  );
}

export function describeAction(action: Action): string {
  return inParagraphs(
    `**${action.name}**`,
    `${action.summary}.`,
    `\`\`\`yaml\n${exampleStep(action)}\n\`\`\``,
    parametersIn(action.parameters),
  );
}

/** A key that defines a var or an output. */
function describeDefinition(context: ExpressionContext): string | undefined {
  const { path, step } = context;
  const [owner, name] = path.slice(-2).map(String);
  if (owner === "outputs" && step?.draft.id) {
    return describeMember(outputOf(step, name!), `outputs.${step.draft.id}`);
  }
  const found = owner === "vars" || owner === "matrix"
    ? membersOf(["vars"], context).find((one) => one.name === name)
    : undefined;
  return found && describeMember(found, "vars");
}
