import { fromFileUrl } from "@std/path/from-file-url";
import type { Action, Parameter } from "../../src/action/action.ts";
import { ACTIONS } from "../../src/action/registry.ts";
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
    "## Parameters",
    "",
    ...parameters(action),
    "",
    text.trim(),
  ]);
}

function parameters({ parameters, alternatives = [] }: Action): string[] {
  if (!parameters) return ["Anything."];
  return [
    ...table(
      ["Parameter", "Type", "Default", "Meaning"],
      parameters.flatMap((one) => parameterRows(one)),
    ),
    ...alternatives.flatMap(({ names, required }) => [
      "",
      `A step gives ${required ? "exactly" : "at most"} one of ${names.map(code).join(", ")}.`,
    ]),
  ];
}

/** The row of a parameter, and those of the fields of a map. */
function parameterRows(parameter: Parameter, prefix = ""): string[][] {
  const { type, required, default: standard, summary, fields = [] } = parameter;
  const name = prefix + parameter.name;
  const row = [
    required ? `**${code(name)}**` : code(name),
    [type].flat().join(" or "),
    required ? "required" : plain(standard ?? ""),
    `${plain(summary[0]!.toUpperCase() + summary.slice(1))}.`,
  ];
  return [row, ...fields.flatMap((field) => parameterRows(field, `${name}.`))];
}
