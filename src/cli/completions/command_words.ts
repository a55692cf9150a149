import type { Command, CommandOperand, CommandTable, Option } from "../command.ts";

/** A command under its first word, with all of its options; the one without a word is "". */
export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly operands: readonly CommandOperand[];
  readonly options: readonly Option[];
}

/** Every command, the one that runs workflows last. */
export function commandWords({ fallback, commands, common }: CommandTable): CommandWords[] {
  return [...commands, fallback].map(({ name = "", summary, operands, options }: Command) => ({
    name,
    summary,
    operands,
    options: [...options, ...common],
  }));
}

/** An option as it can be written: `--verbose` and `-v`. */
export function spellings({ name, short }: Option): string[] {
  return [`--${name}`, ...short === undefined ? [] : [`-${short}`]];
}

/** The spellings of all options that take a value, in any command: the next word is not an operand. */
export function valuedWords(table: CommandTable): string[] {
  const options = commandWords(table).flatMap(({ options }) => options);
  return [
    ...new Set(
      options.filter(({ value, isValueOptional }) => value !== undefined && !isValueOptional)
        .flatMap(spellings),
    ),
  ];
}

/** A pattern of `case` in bash and zsh that matches any of some words. */
export function casePattern(words: readonly string[]): string {
  return words.join(" | ") || "''";
}

/** A text in quotes for bash and zsh. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
