import { UsageError } from "../../base/errors.ts";
import { hintForOption } from "../../base/other_tools.ts";
import type { Command, Invocation, Option } from "../command.ts";
import type { Flags } from "./parse_flags.ts";

/** The commands of the program, and the options that all of them have. */
export interface CommandTable {
  /** The command that runs if the first operand does not name one. */
  readonly fallback: Command;
  readonly commands: readonly Command[];
  readonly common: readonly Option[];
}

/** A command and what it is to do. */
interface CommandLine {
  readonly command: Command;
  readonly invocation: Invocation;
}

/**
 * Finds the command that the words of a command line ask for. Throws `UsageError`.
 *
 * Which word is the first operand is known only once all options are: it may follow one that
 * takes a value. So the options of all commands are read, and then compared with the command.
 */
export async function readCommandLine(
  args: readonly string[],
  table: CommandTable,
): Promise<CommandLine> {
  const { fallback, commands, common } = table;
  const all = [...common, ...[fallback, ...commands].flatMap(({ options }) => options)];
  const code = args.some((word) => word.startsWith("-")) ? await flagsCode() : undefined;
  const parsed: Flags = code ? code.parseFlags(args, distinct(all)) : noFlags(args);
  const named = commands.find(({ name }) => name === parsed.operands[0]);
  const command = named ?? fallback;
  const own = [...common, ...command.options];
  for (const name of [...parsed.switches, ...parsed.values.keys()]) {
    if (!own.some((option) => option.name === name)) throw foreignOption(name, command);
  }
  const { operands, switches } = parsed;
  return {
    command,
    invocation: {
      operands: named ? operands.slice(1) : operands,
      switches,
      ...code?.sortValues(parsed, own) ?? { values: new Map(), lists: new Map() },
    },
  };
}

/** Brings what reads options: most lines are a file and nothing else, and wait for no parser. */
function flagsCode(): Promise<typeof import("./parse_flags.ts")> {
  return import("./parse_flags.ts");
}

function noFlags(operands: readonly string[]): Flags {
  return { operands, switches: new Set(), values: new Map() };
}

/** Several commands may have an option of the same name, and then all with a value or none. */
function distinct(options: readonly Option[]): readonly Option[] {
  return [...new Map(options.map((option) => [option.name, option])).values()];
}

function foreignOption(option: string, { name }: Command): UsageError {
  const words = name === undefined ? "runner" : `runner ${name}`;
  const hint = name === undefined ? hintForOption(option) : undefined;
  return new UsageError(`${words} has no option --${option}`, hint ?? `try ${words} --help`);
}
