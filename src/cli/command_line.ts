import { UsageError } from "../base/errors.ts";
import { hintForOption, hintForValue } from "../base/other_tools.ts";
import { didYouMean } from "../base/text/suggest.ts";
import type { Command, CommandTable, Invocation, Option, RunSettings } from "./command.ts";

/**
 * Finds the command that the words of a command line ask for. Throws `UsageError`.
 *
 * Which word is the first operand is known only once all options are: it may follow one that
 * takes a value. So the options of all commands are read, and then compared with the command.
 */
export async function readCommandLine(
  args: readonly string[],
  { fallback, commands, common }: CommandTable,
): Promise<{ readonly command: Command; readonly invocation: Invocation }> {
  const all = [...common, ...[fallback, ...commands].flatMap(({ options }) => options)];
  // Several commands may have an option of the same name, and then all with a value or none.
  const distinct = [...new Map(all.map((option) => [option.name, option])).values()];
  const line = args[0] === "help" ? optionsAsWords(args, common) : args;
  const { operands, switches, values } = line.some((word) => word.startsWith("-"))
    ? await parseFlags(line, distinct)
    : { operands: line, switches: new Set<string>(), values: NO_VALUES };
  const named = operands[0] === "run"
    ? fallback
    : commands.find(({ name }) => name === operands[0]);
  const command = named ?? fallback;
  const options = [...common, ...command.options];
  for (const name of [...switches, ...values.keys()]) {
    if (!options.some((option) => option.name === name)) {
      throw foreignOption(distinct.find((option) => option.name === name)!, args, command);
    }
  }
  const onLine = options.filter(({ name }) => switches.has(name) || values.has(name));
  const invocation = {
    args,
    operands: named ? operands.slice(1) : operands,
    switches,
    options: onLine,
    ...sortValues(values, onLine),
  };
  if (!switches.has("help") && !switches.has("version")) checkTogether(onLine);
  return { command, invocation };
}

/** `runner help --only` asks about an option: only those of every command keep their meaning. */
function optionsAsWords(args: readonly string[], common: readonly Option[]): readonly string[] {
  const isOption = (word: string) =>
    common.some(({ name, short }) => word === `--${name}` || word === `-${short}`);
  return [...args.filter(isOption), "--", ...args.filter((word) => !isOption(word))];
}

/** The words of a command line, sorted. */
interface Flags {
  readonly operands: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** Every value of each option that takes one, in the order of the line. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

const NO_VALUES: Flags["values"] = new Map();

async function parseFlags(args: readonly string[], options: readonly Option[]): Promise<Flags> {
  const switches = options.filter(({ value }) => value === undefined).map(({ name }) => name);
  const valued = options.filter(({ value }) => value !== undefined).map(({ name }) => name);
  refuseValues(args, options);
  const unknown: string[] = [];
  const { parseArgs } = await import("@std/cli/parse-args");
  const parsed = parseArgs(withEmptyValues(args, options), {
    boolean: switches,
    string: ["_", ...valued],
    collect: valued,
    alias: Object.fromEntries(options.flatMap(({ short, name }) => short ? [[short, name]] : [])),
    "--": true,
    unknown(word, key) {
      if (key !== undefined) unknown.push(word);
      return true;
    },
  });
  const [first] = unknown;
  if (first !== undefined) throw unknownOption(first, options);
  const values = valued.map((name) => [name, parsed[name] as readonly string[]] as const);
  return {
    operands: [...parsed._, ...(parsed["--"] as readonly string[])].map(String),
    switches: new Set(switches.filter((name) => parsed[name] === true)),
    values: new Map(values.filter(([, list]) => list.length > 0)),
  };
}

/** The line with an empty value for each option that may be without one. */
function withEmptyValues(args: readonly string[], options: readonly Option[]): readonly string[] {
  const names = options.flatMap(({ name, isValueOptional }) => isValueOptional ? `--${name}` : []);
  const end = args.indexOf("--");
  return args.map((word, index) =>
    names.includes(word) && (end < 0 || index < end) ? `${word}=` : word
  );
}

/** `--verbose=no` would be a yes otherwise, and `-v=no` a no. */
function refuseValues(args: readonly string[], options: readonly Option[]): void {
  for (const word of args) {
    if (word === "--") return;
    const [, long, letter] = /^(?:--([^=]+)|-[^-=]*([^-=]))=/.exec(word) ?? [];
    const option = options.find(({ name, short }) =>
      long ? name === long : letter !== undefined && short === letter
    );
    if (option && option.value === undefined) {
      throw new UsageError(`option --${option.name} takes no value`);
    }
  }
}

function unknownOption(word: string, options: readonly Option[]): UsageError {
  const name = /^-*([^=]*)/.exec(word)?.[1] ?? "";
  const meant = didYouMean(name, options.map((option) => option.name));
  return new UsageError(
    `unknown option ${word.replace(/=.*/s, "")}`,
    hintForOption(name) ?? meant?.replace(/"(.*)"/, "--$1"),
  );
}

function foreignOption(
  { name, short }: Option,
  args: readonly string[],
  command: Command,
): UsageError {
  const line = command.name === undefined ? "runner" : `runner ${command.name}`;
  const hint = command.name === undefined ? hintForOption(name) : undefined;
  const isLong = args.some((word) => word.split("=", 1)[0] === `--${name}`);
  const written = isLong || short === undefined ? `--${name}` : `-${short}`;
  return new UsageError(`${line} has no option ${written}`, hint ?? `try ${line} --help`);
}

/** Sorts the values of the options that are given, and makes settings of a run of them. */
function sortValues(
  written: Flags["values"],
  options: readonly Option[],
): Pick<Invocation, "values" | "lists" | "settings"> {
  const values = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const settings: RunSettings = {};
  for (const option of options) {
    const list = written.get(option.name) ?? [];
    for (const value of list) checkValue(option, value);
    const [first, second] = list;
    if (option.repeats) lists.set(option.name, list);
    else if (second !== undefined) throw new UsageError(`option --${option.name} is given twice`);
    else if (first !== undefined) values.set(option.name, first);
    Object.assign(settings, option.sets?.(first ?? "", list));
  }
  return { values, lists, settings };
}

function checkValue({ name, choices, isValueOptional }: Option, value: string): void {
  if (value === "" && !isValueOptional) {
    const hint = choices && `one of ${choices.join(", ")}`;
    throw new UsageError(`option --${name} needs a value`, hint);
  }
  checkChoice(`option --${name}`, value, choices);
}

/** Refuses a value that is not one of the choices; `what` names where it was given. */
export function checkChoice(what: string, value: string, choices?: readonly string[]): void {
  if (!choices || choices.includes(value)) return;
  const [first = ""] = value.split(/\s/, 1);
  const hint = choices.includes(first)
    ? `give "${first}" alone, and the rest as an argument of its own`
    : hintForValue(value) ?? didYouMean(value, choices) ?? `one of ${choices.join(", ")}`;
  throw new UsageError(`invalid value "${value}" for ${what}`, hint);
}

/** Refuses options that exclude or lack each other. */
function checkTogether(options: readonly Option[]): void {
  const isGiven = (name: string) => options.some((option) => option.name === name);
  for (const { name, excludes, requires } of options) {
    for (const excluded of excludes ?? []) {
      const [other, hint] = typeof excluded === "string" ? [excluded, "leave one out"] : excluded;
      if (!isGiven(other)) continue;
      throw new UsageError(`options --${name} and --${other} cannot be combined`, hint);
    }
    if (requires && !isGiven(requires[0])) {
      throw new UsageError(`option --${name} requires --${requires[0]}`, requires[1]);
    }
  }
}
