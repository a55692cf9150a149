import type { Command, CommandOperand, Option } from "../../src/cli/command.ts";
import { groupOptions, operandWord } from "../../src/cli/help/render_help.ts";
import { DEFAULT_COMMAND } from "../../src/cli/default_command.ts";
import { COMMANDS, COMMON_OPTIONS } from "../../src/cli/registry.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** Commands with their arguments and options. */
export function makeCliPage(): Page {
  return makePage("cli.md", "src/cli/registry.ts", [
    "# Commands and options",
    "",
    "[The command line](../concepts/command-line.md) explains how they are used. `runner --help`,",
    "`runner <command> --help` and `runner help machines` print the same, `runner -h` what is used",
    "most.",
    "",
    ...[DEFAULT_COMMAND, ...COMMANDS].flatMap(section),
    "## Every command",
    "",
    ...optionTable(COMMON_OPTIONS),
  ]);
}

function section(command: Command): string[] {
  const { name, summary, operands, options } = command;
  const words = ["runner", ...name === undefined ? [] : [name], "[options]"];
  return [
    `## ${name === undefined ? "runner" : `runner ${name}`}`,
    "",
    `${plain(summary)}.`,
    "",
    "```text",
    [...words, ...operands.map(operandWord)].join(" "),
    "```",
    "",
    ...operands.flatMap((operand) => [`- ${code(operandWord(operand))}: ${about(operand)}`]),
    ...operands.length === 0 ? [] : [""],
    ...options.length === 0 ? [] : groupOptions(options).flatMap(([title, members]) => [
      ...title === "Options" ? [] : [`**${title}**`, ""],
      ...optionTable(members),
      "",
    ]),
  ];
}

function optionTable(options: readonly Option[]): string[] {
  return table(
    ["Option", "What it does"],
    options.map((option) => [optionWord(option), about(option)]),
  );
}

function optionWord({ name, short, value }: Option): string {
  const long = `--${name}${value === undefined ? "" : ` <${value}>`}`;
  return [...short === undefined ? [] : [code(`-${short}`)], code(long)].join(", ");
}

function about(part: Option | CommandOperand): string {
  const { summary, repeats, choices } = part;
  const extra = [
    ...choices === undefined ? [] : [`one of ${choices.map(code).join(", ")}`],
    ...repeats ? ["may be given several times"] : [],
  ];
  return `${plain(summary)}${extra.length === 0 ? "" : ` (${extra.join("; ")})`}.`;
}
