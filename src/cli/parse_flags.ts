import { parseArgs } from "@std/cli/parse-args";
import { UsageError } from "../source/errors.ts";
import { didYouMean } from "../source/suggest.ts";
import { checkChoice } from "./check_choice.ts";
import type { Invocation, Option } from "./command.ts";

/** Reads the words of a command line by a table of options. Throws `UsageError`. */
export function parseFlags(args: readonly string[], options: readonly Option[]): Invocation {
  const switches = options.filter(({ value }) => value === undefined).map(({ name }) => name);
  const valued = options.filter(({ value }) => value !== undefined).map(({ name }) => name);
  refuseValues(args, options);
  const parsed = parseArgs(args, {
    boolean: switches,
    string: ["_", ...valued],
    collect: valued,
    alias: Object.fromEntries(options.flatMap(({ short, name }) => short ? [[short, name]] : [])),
    "--": true,
    unknown(word, key) {
      if (key !== undefined) throw unknownOption(word, options);
      return true;
    },
  });
  const values = new Map<string, string>();
  for (const option of options) {
    if (option.value === undefined) continue;
    const [value, another] = parsed[option.name] as readonly string[];
    if (another !== undefined) throw new UsageError(`option --${option.name} is given twice`);
    if (value !== undefined) values.set(option.name, checkedValue(option, value));
  }
  return {
    operands: [...parsed._, ...(parsed["--"] as readonly string[])].map(String),
    switches: new Set(switches.filter((name) => parsed[name] === true)),
    values,
  };
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
    meant?.replace(/"(.*)"/, "--$1"),
  );
}

function checkedValue(option: Option, value: string): string {
  const wanted = option.choices?.join(", ");
  if (value === "") {
    throw new UsageError(
      `option --${option.name} needs a value`,
      wanted === undefined ? undefined : `one of ${wanted}`,
    );
  }
  checkChoice(`option --${option.name}`, value, option.choices);
  return value;
}
