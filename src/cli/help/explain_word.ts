import {
  hintForAction,
  hintForCommand,
  hintForFunction,
  hintForKey,
  hintForOption,
} from "../../base/other_tools.ts";
import { FUNCTIONS } from "../../expr/functions/registry.ts";
import type { Command, CommandTable } from "../command.ts";
import { VARIABLES } from "../environment.ts";
import { SUITE } from "../../suite/decode_suite.ts";
import { WORKFLOW } from "../../workflow/decode/decode_workflow.ts";
import { tablesOf, typeOfKey } from "../../workflow/names.ts";
import type { Rows } from "./layout.ts";
import { lineOf, optionRows } from "./render_help.ts";

/** The entry for a word in one of the tables of the program. */
export interface Explanation {
  readonly title: string;
  readonly rows: Rows;
  /** The page that has all of them. */
  readonly page?: string;
}

/** All tables of keys. */
function keyTables() {
  return [WORKFLOW, SUITE].flatMap(({ form }) => tablesOf(form)).map((
    { fields = [], key: { what = "", title = "" } = {} },
  ) => ({ what, title, fields }));
}

/** All meanings of a word: option, variable, function, key, or a word of another tool. */
export async function explainWord(
  word: string,
  table: CommandTable,
): Promise<readonly Explanation[]> {
  const all: Explanation[] = [
    ...explainOption(word, table),
    { title: "Environment variable", rows: variableRows(word), page: "reference/environment" },
    { title: "Function", rows: await functionRows(word), page: "functions" },
    { title: "Key", rows: keyRows(word), page: "keys" },
    { title: "In other tools", rows: hintRows(word) },
  ];
  return all.filter(({ rows }) => rows.length > 0);
}

/** The words that are explained. */
export function explainedWords({ fallback, commands }: CommandTable): readonly string[] {
  return [
    ...[fallback, ...commands].flatMap(({ options }) => options.map(({ name }) => name)),
    ...keyTables().flatMap(({ fields }) => fields.map(({ name }) => name)),
    ...FUNCTIONS.keys(),
    ...VARIABLES.map(({ name }) => name),
  ];
}

function explainOption(word: string, { fallback, commands, common }: CommandTable) {
  const [, dashes = "", name = ""] = /^(-*)([^=]*)/.exec(word) ?? [];
  const isMeant = (option: Command["options"][number]) =>
    option.name === name || dashes === "-" && option.short === name;
  const all: Command[] = [
    ...[fallback, ...commands],
    { ...fallback, summary: "", options: common },
  ];
  // A command that has an option of another one means the same by it.
  const commandsByRow = new Map<string, string[]>();
  for (const command of all) {
    for (const [term, summary] of optionRows(command.options.filter(isMeant), command)) {
      const row = `${term}\n${summary}`;
      commandsByRow.set(row, [
        ...commandsByRow.get(row) ?? [],
        command.summary === "" ? "every command" : lineOf(command),
      ]);
    }
  }
  return [...commandsByRow].map(([row, lines]): Explanation => {
    const [term = "", summary = ""] = row.split("\n");
    return { title: `Option of ${lines.join(", ")}`, rows: [[term.trim(), summary]], page: "cli" };
  });
}

function variableRows(word: string): Rows {
  return VARIABLES.filter(({ name }) => name === word.toUpperCase())
    .map(({ name, summary }) => [name, summary]);
}

async function functionRows(word: string): Promise<Rows> {
  const name = word.replace(/\(.*$/, "").toLowerCase();
  const meant = [...FUNCTIONS.values()].filter((one) => one.name.toLowerCase() === name);
  return await Promise.all(
    meant.map(async (one) => [one.signature, (await one.summary()).replaceAll("`", "")] as const),
  );
}

function keyRows(word: string): Rows {
  const [, parent, key = ""] = /^(?:(.*)\.)?([^.]*)$/.exec(word) ?? [];
  return keyTables().flatMap(({ title, what, fields }) => {
    const field = fields.find(({ name }) => name === key);
    if (parent !== undefined && title !== parent || !field) return [];
    const standard = field.default === undefined ? "" : `; default: ${field.default}`;
    const meaning = `of ${nameOf(what)}: ${field.summary} (${typeOfKey(field)}${standard})`;
    return [[key, meaning.replaceAll("`", "")] as const];
  });
}

/** `a step`, and for the keys of another key its name. */
function nameOf(what: string): string {
  return /^(?:an?|the) /.test(what) ? what : `"${what}"`;
}

/** What to write instead of a word of another tool. */
function hintRows(word: string): Rows {
  const kinds = ["the workflow", "a job", "a step", ...keyTables().map(({ what }) => what)];
  const hints = [
    ...kinds.map((what) => [`as a key of ${nameOf(what)}`, hintForKey(what, word)] as const),
    ["as an action", hintForAction(word)],
    ["as a function", hintForFunction(word)],
    ["as an option", hintForOption(word.replace(/^-+/, ""))],
    ["as a command", hintForCommand(word)],
  ] as const;
  // Several places may have the same hint, which the first one says.
  const distinct = new Map(hints.toReversed().map(([where, hint]) => [hint, where]));
  return [...distinct].reverse().flatMap(([hint, where]) =>
    hint === undefined ? [] : [[where, hint]]
  );
}
