import { UsageError } from "../source/errors.ts";
import { didYouMean } from "../source/suggest.ts";
import type { Option } from "./command.ts";

/** The words of a command line, sorted. */
export interface Flags {
  readonly operands: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** Every value of each option that takes one, in the order of the line; empty where it is missing. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Sorts the words of a command line by a table of options. Throws `UsageError`. */
export function parseFlags(args: readonly string[], options: readonly Option[]): Flags {
  const operands: string[] = [];
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      operands.push(...rest);
      break;
    }
    if (!isOption(word)) {
      operands.push(word);
      continue;
    }
    const { found, value } = readWord(word, options);
    for (const [index, { name, value: takes }] of found.entries()) {
      const isLast = index === found.length - 1;
      if (takes !== undefined) {
        const next = () => isOption(rest[0] ?? "--") ? undefined : rest.shift();
        const given = isLast ? value ?? next() : undefined;
        values.set(name, [...values.get(name) ?? [], given ?? ""]);
      } else if (isLast && value !== undefined) {
        throw new UsageError(`option --${name} takes no value`);
      } else {
        switches.add(name);
      }
    }
  }
  return { operands, switches, values };
}

/** `-` alone stands for a file, where a command reads or writes one. */
function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

/** `--name`, `--name=value`, `-n`, `-n=value` or several letters in one: `-nm`. */
function readWord(
  word: string,
  options: readonly Option[],
): { found: readonly Option[]; value: string | undefined } {
  const [, dashes, names = "", value] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const found = dashes === "--"
    ? options.filter(({ name }) => name === names)
    : [...names].map((letter) => options.find(({ short }) => short === letter));
  if (found.length === 0 || !found.every((option) => option !== undefined)) {
    const meant = didYouMean(names, options.map(({ name }) => name));
    const hint = meant?.replace(/"(.*)"/, "--$1");
    throw new UsageError(`unknown option ${dashes}${names}`, hint);
  }
  return { found, value };
}
