import { cutLine, wrapWords } from "../../base/text/display_width.ts";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Command, CommandTable, Invocation, Program, RunCommand } from "../command.ts";
import { inLocale } from "../output_mode.ts";
import { loadDocuments } from "./documents.ts";
import { columnOf, type Layout, layoutOf, section, termLines, type TermRows } from "./layout.ts";
import { findPages, type HelpPage, type Hit, listPages, searchPages, SECTIONS } from "./pages.ts";
import { lineOf, optionRows, renderHelp, renderMachinesHelp } from "./render_help.ts";
import { plainText, renderPage } from "./render_page.ts";
import {
  hintForAction,
  hintForCommand,
  hintForFunction,
  hintForKey,
  hintForOption,
} from "../../base/other_tools.ts";
import { ACTIONS } from "../../actions/registry.ts";
import { FUNCTIONS } from "../../expr/functions/registry.ts";
import { VARIABLES } from "../environment.ts";
import { SUITE } from "../../suite/decode_suite.ts";
import { WORKFLOW } from "../../workflow/decode/key_tree.ts";
import { listParameters, tablesOf, typeOfKey } from "../../workflow/names.ts";

/** Explains a command, a page, an option or another word, or lists the pages that mention it. */
export function helpCommand(table: CommandTable): RunCommand {
  return async ({ operands, switches }: Invocation, { host }: Program) => {
    const layout = await layoutOf(host, switches.has("no-color"));
    const loadPages = async () => listPages(await loadDocuments(host.files));
    // A key may be copied with its colon.
    const word = operands.filter((one) => one !== "--").join(" ").trim().replace(/:$/, "");
    const lines = word === ""
      ? listTopics(await loadPages(), layout)
      : await explain(word, table, layout, loadPages);
    inLocale(host).stdout.write(lines.join("\n").trimEnd() + "\n");
    return 0;
  };
}

/** The lines about a word. Throws UsageError. */
async function explain(
  word: string,
  table: CommandTable,
  layout: Layout,
  loadPages: () => Promise<readonly HelpPage[]>,
): Promise<readonly string[]> {
  const command = table.commands.find(({ name }) => name === word);
  if (command) return [renderHelp(command, table, layout)];
  if (word === "machines") return [renderMachinesHelp(table, layout)];
  const explanations = await explainWord(word, table);
  const pages = await loadPages().catch((error) => {
    // The tables are enough.
    if (error instanceof RunnerError && explanations.length > 0) return [];
    throw error;
  });
  const { named, meant } = findPages(pages, word);
  const [page, ...others] = explanations.length === 0 || named.length > 0
    ? [...named, ...meant]
    : [undefined, ...meant];
  if (page || explanations.length > 0) {
    const also = [
      ...others.flatMap((one) => one?.name ?? []),
      ...explanations.flatMap(({ page }) => page ?? []),
    ];
    return [
      ...page ? [renderPage(page.text, layout)] : [],
      ...explanations.flatMap(({ title, rows }, index) => [
        ...index === 0 && !page ? [] : [""],
        layout.bold(`${title}:`),
        ...termLines(rows, layout.width),
      ]),
      ...also.length === 0 ? [] : ["", ...wrapWords(seeAlso(also), layout.width)],
    ];
  }
  if (SECTIONS.includes(word)) return listSection(word, pages, layout).slice(1);
  const hits = searchPages(pages, word);
  if (hits.length > 0) return listHits(word, hits, layout);
  const names = [
    ...pages.map(({ name }) => name),
    ...table.commands.flatMap(({ name }) => name ?? []),
    ...explainedWords(table),
  ];
  throw new UsageError(
    `nothing is named "${word}", and no page mentions it`,
    didYouMean(word, names) ?? "runner help lists the pages",
  );
}

function seeAlso(names: readonly string[]): string {
  return `See also: ${[...new Set(names)].map((name) => `runner help ${name}`).join(", ")}`;
}

/** Everything that `runner help` explains by name. */
function listTopics(pages: readonly HelpPage[], layout: Layout): string[] {
  return [
    `${layout.bold("Usage:")} runner help <word>...`,
    "",
    ...wrapWords(
      "Explains a command, option, action, function, key, variable or page by its name, and for " +
        "any other word lists the pages that mention it: runner help rate limit",
      layout.width,
    ),
    ...SECTIONS.flatMap((title) => listSection(title, pages, layout)),
    ...section("Commands", [
      ["runner -h", "Print what is used most"],
      ["runner --help", "Print all options, commands and variables"],
      ["runner help machines", "Print those for runs on several machines"],
      ["runner actions", "List what steps can do"],
    ], layout),
  ];
}

function listSection(title: string, pages: readonly HelpPage[], layout: Layout): string[] {
  const rows = pages.filter(({ path }) => path.startsWith(`${title}/`))
    .map((page) => [page.name, firstSentence(page)] as const);
  const column = columnOf(rows);
  return [
    "",
    layout.bold(`Pages of ${title}:`),
    ...rows.map(([name, line]) => cutLine(`  ${name}`.padEnd(column) + line, layout.width)),
  ];
}

function listHits(word: string, hits: readonly Hit[], layout: Layout): string[] {
  return [
    `Nothing is named "${word}". These pages mention it:`,
    ...hits.flatMap(({ page, line }) => [
      "",
      `  ${layout.bold(`runner help ${page.name}`)}  ${page.title}`,
      ...line === "" ? [] : [`      ${cutLine(line, layout.width - 6)}`],
    ]),
  ];
}

/** The entry for a word in one of the tables of the program. */
interface Explanation {
  readonly title: string;
  readonly rows: TermRows;
  readonly page?: string;
}

function keyTables() {
  return [WORKFLOW, SUITE].flatMap(({ form }) => tablesOf(form)).map((
    { fields = [], key: { what = "", title = "" } = {} },
  ) => ({ what, title, fields }));
}

/** All meanings of a word, first those that most people look up. */
async function explainWord(
  word: string,
  table: CommandTable,
): Promise<readonly Explanation[]> {
  const all: Explanation[] = [
    { title: "Key", rows: keyRows(word), page: "keys" },
    { title: "Parameter", rows: await parameterRows(word) },
    ...explainOption(word, [table.fallback]),
    { title: "Function", rows: await functionRows(word), page: "functions" },
    { title: "Environment variable", rows: variableRows(word), page: "reference/environment" },
    ...explainOption(word, [...table.commands, {
      ...table.fallback,
      summary: "",
      options: table.common,
    }]),
    { title: "In other tools", rows: hintRows(word) },
  ];
  return all.filter(({ rows }) => rows.length > 0);
}

function explainedWords({ fallback, commands }: CommandTable): readonly string[] {
  return [
    ...[fallback, ...commands].flatMap(({ options }) => options.map(({ name }) => name)),
    ...keyTables().flatMap(({ fields }) => fields.map(({ name }) => name)),
    ...FUNCTIONS.keys(),
    ...VARIABLES.map(({ name }) => name),
  ];
}

function explainOption(word: string, commands: readonly Command[]) {
  const [, dashes = "", name = ""] = /^(-*)([^=]*)/.exec(word) ?? [];
  const isMeant = (option: Command["options"][number]) =>
    option.name === name || dashes === "-" && option.short === name;
  // A command that has an option of another one means the same by it.
  const commandsByRow = new Map<string, string[]>();
  for (const command of commands) {
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

function variableRows(word: string): TermRows {
  return VARIABLES.filter(({ name }) => name === word.toUpperCase())
    .map(({ name, summary }) => [name, summary]);
}

async function functionRows(word: string): Promise<TermRows> {
  const name = word.replace(/\(.*$/, "").toLowerCase();
  const meant = [...FUNCTIONS.values()].filter((one) => one.name.toLowerCase() === name);
  return await Promise.all(
    meant.map(async (one) => [one.signature, (await one.summary()).replaceAll("`", "")] as const),
  );
}

function keyRows(word: string): TermRows {
  const [, parent, key = ""] = /^(?:(.*)\.)?([^.]*)$/.exec(word) ?? [];
  return keyTables().flatMap(({ title, what, fields }) => {
    const field = fields.find(({ name }) => name === key);
    if (parent !== undefined && title !== parent || !field) return [];
    const standard = field.default === undefined ? "" : `; default: ${field.default}`;
    const meaning = `of ${nameOf(what)}: ${field.summary} (${typeOfKey(field)}${standard})`;
    return [[key, meaning.replaceAll("`", "")] as const];
  });
}

/** The parameters of that name, each with the actions that mean the same by it. */
async function parameterRows(word: string): Promise<TermRows> {
  const actions = await Promise.all(ACTIONS.map(({ load }) => load()));
  const found = actions.flatMap(({ name: action, parameters = [] }) =>
    listParameters(parameters).filter(({ name }) => name === word)
      .map(({ parameter: { summary, type } }) => ({ action, summary, type }))
  );
  const groups = Map.groupBy(
    found,
    ({ summary, type }) => `${summary} (${[type].flat().join(" or ")})`,
  );
  return [...groups].map(([meaning, those]) => {
    const names = those.map(({ action }) => action).join(", ");
    return [word, `of ${names}: ${meaning}`.replaceAll("`", "")] as const;
  });
}

/** `a step`, and for the keys of another key its name. */
function nameOf(what: string): string {
  return /^(?:an?|the) /.test(what) ? what : `"${what}"`;
}

/** What to write instead of a word of another tool. */
function hintRows(word: string): TermRows {
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

/** What a page says first: the title, where it begins with a list or a table. */
function firstSentence({ text, title }: HelpPage): string {
  const prose = text.replace(/^---\n.*?\n---\n/s, "").replace(/<!--[^]*?-->/g, "");
  const [, paragraph] = /^# .*\n\s*([\p{L}`*"[][^]*?)(?:\n\n|$)/mu.exec(prose) ?? [];
  const [, sentence] =
    /^(.*?[.:])(?: |$)/.exec(plainText(paragraph?.replaceAll("\n", " ") ?? "")) ?? [];
  return sentence?.replace(/:$/, ".") ?? title;
}
