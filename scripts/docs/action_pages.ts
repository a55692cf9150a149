import { fromFileUrl } from "@std/path/from-file-url";
import type { Action, ResponseField } from "../../src/action/action.ts";
import {
  exampleStep,
  listParameters,
  type NamedParameter,
  sentence,
  typeOfField,
} from "../../src/workflow/names.ts";
import { type CommandRule, COMMANDS } from "../../src/actions/browser/commands.ts";
import { ACTIONS } from "../../src/actions/registry.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

const TEXTS = new URL("actions/", import.meta.url);

/** A page for each action: its table of parameters and its text. */
export async function makeActionPages(): Promise<Page[]> {
  return await Promise.all(ACTIONS.map(async ({ name, load }) => {
    const text = await Deno.readTextFile(fromFileUrl(new URL(`${name}.md`, TEXTS)));
    return makeActionPage(await load(), text);
  }));
}

function makeActionPage(action: Action, text: string): Page {
  const source = `its record in src/action and scripts/docs/actions/${action.name}.md`;
  return makePage(`actions/${action.name}.md`, source, [
    `# ${action.name}`,
    "",
    `${plain(action.summary)}.`,
    "",
    ...exampleBlock(action),
    "## Parameters",
    "",
    ...parameters(action),
    "",
    text.trim().replace("<!-- browser actions -->", () => browserActions().join("\n"))
      .replace("<!-- response -->", () => fieldTable("res", action.responseFields).join("\n"))
      .replace("<!-- messages -->", () => fieldTable("message", action.messageFields).join("\n")),
  ]);
}

/** A step, which the tests check in a workflow around it. */
function exampleBlock(action: Action): string[] {
  const missing = action.embeds
    ? "a job file"
    : action.resultNames
    ? "a step that is open"
    : undefined;
  const mark = missing === undefined ? [] : [`<!-- not run: it needs ${missing} -->`, ""];
  return [...mark, "```yaml", exampleStep(action), "```", ""];
}

/** The actions that `browser` can perform in a page. */
function browserActions(): string[] {
  return table(
    ["Action", "Keys", "What it does", "Result"],
    Object.entries<CommandRule>(COMMANDS).map((
      [name, { summary, needs = [], takes = [], result }],
    ) => [
      code(name),
      [...needs.map((key) => `**${code(key)}**`), ...takes.map(code)].join(", "),
      `${plain(summary)}.`,
      result === undefined ? "" : code(`res.${result}`),
    ]),
  );
}

function fieldTable(root: string, fields: readonly ResponseField[] = []): string[] {
  return table(
    ["Field", "Type", "Meaning"],
    fields.map((field) => [
      code(`${root}.${field.name}`),
      typeOfField(field),
      `${plain(sentence(field.summary))}.`,
    ]),
  );
}

function parameters({ parameters, alternatives = [] }: Action): string[] {
  if (!parameters) return ["Anything."];
  return [
    ...table(
      ["Parameter", "Type", "Default", "Meaning"],
      listParameters(parameters).map(parameterRow),
    ),
    ...alternatives.flatMap(({ names, required }) => [
      "",
      `Set ${required ? "exactly" : "at most"} one of ${names.map(code).join(", ")}.`,
    ]),
  ];
}

function parameterRow({ name, parameter }: NamedParameter): string[] {
  const { type, required, default: standard, summary } = parameter;
  return [
    required ? `**${code(name)}**` : code(name),
    [type].flat().join(" or "),
    required ? "required" : plain(standard ?? ""),
    `${plain(sentence(summary))}.`,
  ];
}
