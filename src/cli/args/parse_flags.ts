import { parseArgs } from "@std/cli/parse-args";
import { UsageError } from "../../base/errors.ts";
import { hintForOption } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Invocation, Option } from "../command.ts";

/** The words of a command line, sorted. */
export interface Flags {
  readonly operands: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** Every value of each option that takes one, in the order of the line. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Sorts the words of a command line by a table of options. Throws `UsageError`. */
export function parseFlags(
  args: readonly string[],
  options: readonly Option[],
): Flags {
  const switches = options.filter(({ value }) => value === undefined).map(({ name }) => name);
  const valued = options.filter(({ value }) => value !== undefined).map(({ name }) => name);
  refuseValues(args, options);
  const unknown: string[] = [];
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
  return {
    operands: [...parsed._, ...(parsed["--"] as readonly string[])].map(String),
    switches: new Set(switches.filter((name) => parsed[name] === true)),
    values: new Map(valued.flatMap((name) => {
      const given = parsed[name] as readonly string[];
      return given.length === 0 ? [] : [[name, given]];
    })),
  };
}

/** The line with an empty value for each option that may be without one. */
function withEmptyValues(args: readonly string[], options: readonly Option[]): readonly string[] {
  const words = options.flatMap(({ name, isValueOptional }) => isValueOptional ? `--${name}` : []);
  const end = args.indexOf("--");
  return args.map((word, index) =>
    words.includes(word) && (end < 0 || index < end) ? `${word}=` : word
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

/** Checks the values that were given to the options of a command. Throws `UsageError`. */
export function sortValues(
  { values: given }: Flags,
  options: readonly Option[],
): Pick<Invocation, "values" | "lists"> {
  const values = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  for (const option of options) {
    const list = given.get(option.name);
    if (list === undefined) continue;
    for (const value of list) checkValue(option, value);
    const [first, another] = list;
    if (option.repeats) lists.set(option.name, list);
    else if (another !== undefined) throw new UsageError(`option --${option.name} is given twice`);
    else if (first !== undefined) values.set(option.name, first);
  }
  return { values, lists };
}

function checkValue({ name, choices, isValueOptional }: Option, value: string): void {
  if (value === "" && !isValueOptional) {
    throw new UsageError(
      `option --${name} needs a value`,
      choices && `one of ${choices.join(", ")}`,
    );
  }
  checkChoice(`option --${name}`, value, choices);
}

/** Refuses a value that is not one of the choices; `what` names where it was given. */
export function checkChoice(what: string, value: string, choices?: readonly string[]): void {
  if (!choices || choices.includes(value)) return;
  const [first = ""] = value.split(/\s/, 1);
  const hint = choices.includes(first)
    ? `give "${first}" alone, and the rest as an argument of its own`
    : didYouMean(value, choices) ?? `one of ${choices.join(", ")}`;
  throw new UsageError(`invalid value "${value}" for ${what}`, hint);
}
