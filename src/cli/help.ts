import { type Command, type CommandOperand, type Option, OPTION_GROUPS } from "./command.ts";
import { variablesOf } from "./environment.ts";

const ABOUT = "runner - run workflow files: test APIs, smoke-test releases, watch services";

const HELP_HINT = [
  "runner <command> --help prints the options of a command, and runner help <topic>",
  "a page of the documents: retry, functions, http, ... (runner help --help)",
];

/** The usage of a command, made from the tables of commands, options and variables. */
export function renderHelp(
  command: Command,
  commands: readonly Command[],
  common: readonly Option[],
): string {
  const others = command.name === undefined ? commands : [];
  const variables = variablesOf(command.name);
  const groups = groupOptions([...command.options, ...common]).map(([title, options]) =>
    [title, options.map((option) => optionRow(option, variables))] as const
  );
  const column = columnOf(groups.flatMap(([, rows]) => rows));
  return [
    ...wrap(aboutOf(command), WIDTH),
    "",
    `Usage: ${usage(command)}`,
    ...others.length === 0 ? [] : ["       runner <command> [options] ..."],
    ...section("Examples", command.examples ?? []),
    ...section(
      "Arguments",
      command.operands.map((operand) => [operandWord(operand), operand.summary]),
    ),
    ...section("Commands", others.map(({ name = "", summary }) => [name, summary])),
    ...others.length === 0 ? [] : ["", ...HELP_HINT],
    ...groups.flatMap(([title, rows]) => section(title, rows, column)),
    ...section("Environment", variables.map(({ name, summary }) => [name, summary])),
    "",
    ...wrap(
      `Exit code: 0 ${command.success ? `when ${command.success}` : "on success"}, 1 otherwise`,
      WIDTH,
    ),
  ].join("\n") + "\n";
}

/** What the program or a command does, in a sentence. */
function aboutOf({ name, summary }: Command): string {
  if (name === undefined) return ABOUT;
  return `runner ${name} - ${summary[0]!.toLowerCase()}${summary.slice(1)}`;
}

/** The usage text that is printed if no arguments are given. */
export function renderShortUsage(command: Command): string {
  return [
    ABOUT,
    "",
    `Usage: ${usage(command)}`,
    "       runner <command> [options] ...",
    ...section("To begin", [
      ["runner new > shop.yml", "Make a workflow to begin with"],
      ["runner shop.yml", "Run it"],
      ["runner check shop.yml", "Find mistakes in it, and run nothing"],
      ["runner --help", "Print all commands and options"],
    ]),
  ].join("\n") + "\n";
}

/** The groups of options that every command has. */
const COMMON = ["Output", "Other"];

/** Options by the titles of help; all under one title if a command has no groups of its own. */
export function groupOptions(options: readonly Option[]): [string, readonly Option[]][] {
  const isGrouped = options.some(({ group }) => group !== undefined && !COMMON.includes(group));
  if (!isGrouped) return [["Options", options]];
  const groups = [undefined, ...OPTION_GROUPS].map((title): [string, readonly Option[]] => [
    title ?? "Options",
    options.filter(({ group }) => group === title),
  ]);
  return groups.filter(([, members]) => members.length > 0);
}

/** An operand as usage shows it: `<workflow_file>...`, `[<command>]`. */
export function operandWord({ name, repeats, isOptional }: CommandOperand): string {
  const word = `<${name}>${repeats ? "..." : ""}`;
  return isOptional ? `[${word}]` : word;
}

function usage({ name, operands }: Command): string {
  const command = name === undefined ? "runner" : `runner ${name}`;
  return [command, "[options]", ...operands.map(operandWord)].join(" ");
}

function optionRow(
  option: Option,
  variables: ReturnType<typeof variablesOf>,
): [string, string] {
  const { name, short, value, repeats, isValueOptional } = option;
  const names = variables.flatMap((one) => one.option === name ? [one.name] : []);
  const summary = option.summary + (names.length === 0 ? "" : ` [env: ${names.join(", ")}]`);
  const valuePart = value === undefined ? "" : isValueOptional ? `[=${value}]` : ` <${value}>`;
  const long = `--${name}${valuePart}${repeats ? "..." : ""}`;
  return [short === undefined ? `    ${long}` : `-${short}, ${long}`, summary];
}

/** Columns of a page of help. */
export const WIDTH = 80;

/** A title, and terms with their meanings beside them. */
export function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  column = columnOf(rows),
): string[] {
  if (rows.length === 0) return [];
  const lines = rows.flatMap(([term, summary]) =>
    wrap(summary, WIDTH - column).map((line, index) =>
      (index === 0 ? `  ${term}` : "").padEnd(column) + line
    )
  );
  return ["", `${title}:`, ...lines];
}

function columnOf(rows: readonly (readonly [string, string])[]): number {
  return Math.max(...rows.map(([term]) => term.length)) + 4;
}

/** The lines of a text that is at most that wide, unless a word is longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
