import { wrapWords } from "../../base/text/display_width.ts";
import {
  type Command,
  type CommandOperand,
  type CommandTable,
  type Option,
  OPTION_GROUPS,
} from "../command.ts";
import { variablesOf } from "../environment.ts";
import { columnOf, type Layout, section, type TermRows } from "./layout.ts";

const ABOUT = "runner - run workflow files: test APIs, smoke-test releases, watch services";

/** The group of options and commands that `runner help machines` lists. */
const MACHINES = "Several machines";

const EXPLAINS = "runner help <word> explains an option, action, function, key or topic";

/** The usage of a command, made from the tables of commands, options and variables. */
export function renderHelp(command: Command, table: CommandTable, layout: Layout): string {
  const others = command.name === undefined ? table.commands : [];
  const options = [...command.options, ...table.common];
  const isShown = ({ group }: Option | Command) => command.name !== undefined || group !== MACHINES;
  const variables = variablesOf(command.name).filter(({ option }) =>
    options.find(({ name }) => name === option)?.group !== MACHINES || command.name !== undefined
  );
  const groups = groupOptions(options.filter(isShown)).map(([title, members]) =>
    [title, optionRows(members, command)] as const
  );
  const column = columnOf(groups.flatMap(([, rows]) => rows));
  return [
    ...wrapWords(aboutOf(command), layout.width),
    "",
    ...usageLines(command, layout),
    ...section("Examples", command.examples ?? [], layout),
    ...section(
      "Arguments",
      command.operands.map((operand) => [operandWord(operand), operand.summary]),
      layout,
    ),
    ...section("Commands", commandRows(others.filter(isShown)), layout),
    ...others.length === 0 ? [] : [
      "",
      ...wrapWords(
        `runner <command> --help prints the options of a command. ${EXPLAINS}. ` +
          `runner help machines lists what runs on ${MACHINES.toLowerCase()}: ` +
          `${others.filter((one) => !isShown(one)).map(({ name }) => name).join(", ")}, --run.`,
        layout.width,
      ),
    ],
    ...groups.flatMap(([title, rows]) => section(title, rows, layout, column)),
    ...section("Environment", variables.map(({ name, summary }) => [name, summary]), layout),
    "",
    ...wrapWords(
      `Exit code: 0 ${command.success ? `when ${command.success}` : "on success"}, 1 otherwise`,
      layout.width,
    ),
  ].join("\n") + "\n";
}

/** The most common options and commands of the program. */
export function renderCommonHelp(table: CommandTable, layout: Layout): string {
  const options = table.fallback.options.flatMap((option) =>
    option.common === undefined ? [] : { ...option, summary: option.common }
  );
  return [
    ABOUT,
    "",
    ...usageLines(table.fallback, layout),
    ...section("Options", options.map(optionRow), layout),
    ...section("Commands", commandRows(table.commands.filter(({ common }) => common)), layout),
    "",
    "runner --help lists all options, commands and variables",
    EXPLAINS,
  ].join("\n") + "\n";
}

/** The commands and options for runs on several machines. */
export function renderMachinesHelp({ fallback, commands }: CommandTable, layout: Layout): string {
  const isMember = ({ group }: Option | Command) => group === MACHINES;
  const options = fallback.options.filter(isMember);
  const variables = variablesOf(undefined).filter((variable) =>
    options.some(({ name }) => name === variable.option)
  );
  return [
    ...wrapWords(
      "Several machines can share one run: runner prepare writes a run file, each process runs " +
        "its part with --run, and runner report merge makes one report of all.",
      layout.width,
    ),
    ...section("Commands", commandRows(commands.filter(isMember)), layout),
    ...section("Options", optionRows(options, fallback), layout),
    ...section("Environment", variables.map(({ name, summary }) => [name, summary]), layout),
    "",
    "runner help beyond-one-machine explains how they work together",
  ].join("\n") + "\n";
}

/** What the program or a command does, in a sentence. */
function aboutOf({ name, summary }: Command): string {
  if (name === undefined) return ABOUT;
  return `runner ${name} - ${summary[0]!.toLowerCase()}${summary.slice(1)}`;
}

/** The usage text that is printed if no arguments are given. */
export function renderShortUsage(command: Command, layout: Layout): string {
  return [
    ABOUT,
    "",
    ...usageLines(command, layout),
    ...section("To begin", [
      ["runner new > shop.yml", "Make a workflow to begin with"],
      ["runner shop.yml", "Run it"],
      ["runner check shop.yml", "Find mistakes in it, and run nothing"],
      ["runner -h", "Print the most common options and commands"],
    ], layout),
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

function usageLines(command: Command, { bold }: Layout): string[] {
  const line = [lineOf(command), "[options]", ...command.operands.map(operandWord)].join(" ");
  return [
    `${bold("Usage:")} ${line}`,
    ...command.name === undefined ? ["       runner <command> [options] ..."] : [],
  ];
}

/** `runner` or `runner check`. */
export function lineOf({ name }: Command): string {
  return name === undefined ? "runner" : `runner ${name}`;
}

function commandRows(commands: readonly Command[]): TermRows {
  return commands.map(({ name = "", summary }) => [name, summary]);
}

/** Options as help shows them, with the variables that a command reads in their place. */
export function optionRows(options: readonly Option[], command: Command): TermRows {
  const variables = variablesOf(command.name);
  return options.map((option) => {
    const names = variables.filter((one) => one.option === option.name).map(({ name }) => name);
    const [term, summary] = optionRow(option);
    return [term, names.length === 0 ? summary : `${summary} [env: ${names.join(", ")}]`];
  });
}

function optionRow({ name, short, value, repeats, isValueOptional, summary }: Option) {
  const valuePart = value === undefined ? "" : isValueOptional ? `[=${value}]` : ` <${value}>`;
  const long = `--${name}${valuePart}${repeats ? "..." : ""}`;
  return [short === undefined ? `    ${long}` : `-${short}, ${long}`, summary] as const;
}
