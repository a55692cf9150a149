import type { Command, Operand, Option } from "./command.ts";
import { variablesOf } from "./environment.ts";

/** The usage of a command, made from the tables of commands, options and variables. */
export function renderHelp(
  command: Command,
  commands: readonly Command[],
  common: readonly Option[],
): string {
  const words = ["runner", ...(command.name === undefined ? [] : [command.name]), "[options]"];
  const others = command.name === undefined ? commands : [];
  return [
    "runner - run workflow files: test APIs, smoke-test releases, watch services",
    "",
    `Usage: ${[...words, ...command.operands.map(operandWord)].join(" ")}`,
    ...others.map((other) => `       ${usage(other)}`),
    ...section(
      "Arguments",
      command.operands.map((operand) => [operandWord(operand), operand.summary]),
    ),
    ...section("Commands", others.map(({ name = "", summary }) => [name, summary])),
    ...others.length === 0 ? [] : ["", "runner <command> --help prints the options of a command"],
    ...section("Options", [...command.options, ...common].map(optionRow)),
    ...section(
      "Environment",
      variablesOf(command.name).map(({ name, summary }) => [name, summary]),
    ),
    "",
    `Exit code: 0 when ${command.success ?? "all went well"}, 1 otherwise`,
  ].join("\n") + "\n";
}

/** An operand as usage shows it: `<workflow_file>...`, `[<command>]`. */
export function operandWord({ name, repeats, isOptional }: Operand): string {
  const word = `<${name}>${repeats ? "..." : ""}`;
  return isOptional ? `[${word}]` : word;
}

function usage({ name, operands }: Command): string {
  return ["runner", name, "[options]", ...operands.map(operandWord)].join(" ");
}

function optionRow(option: Option): [string, string] {
  const { name, short, value, repeats, isValueOptional, summary } = option;
  const given = value === undefined ? "" : isValueOptional ? `[=${value}]` : ` <${value}>`;
  const long = `--${name}${given}${repeats ? "..." : ""}`;
  return [short === undefined ? `    ${long}` : `-${short}, ${long}`, summary];
}

const WIDTH = 80;

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const column = Math.max(...rows.map(([term]) => term.length)) + 4;
  const lines = rows.flatMap(([term, summary]) =>
    wrap(summary, WIDTH - column).map((line, index) =>
      (index === 0 ? `  ${term}` : "").padEnd(column) + line
    )
  );
  return ["", `${title}:`, ...lines];
}

function wrap(text: string, width: number): string[] {
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
