import type { CommandLine, CommandWord } from "../../action/explainer.ts";
import { isPrintable } from "../../base/text/printable.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";
import { isSecretName } from "../../secrets/secrets.ts";

/** The environment variables that hold secrets, by their values. */
type NamedSecrets = ReadonlyMap<string, string>;

/** The secrets of an environment whose variables a shell can read. */
export function namedSecrets(environment: Readonly<Record<string, string>>): NamedSecrets {
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (isSecretName(name) && /^[A-Za-z_]\w*$/.test(name) && !named.has(value)) {
      named.set(value, name);
    }
  }
  return named;
}

/**
 * A command for any POSIX shell, a group of words on each line. Secrets are written as `$NAME`
 * where a variable of the environment holds it, and otherwise as `***`.
 */
export function shellText(
  { groups, input, note }: CommandLine,
  named: NamedSecrets,
  masker: Masker,
): string {
  const read = (word: CommandWord) => partsOf(word, named, masker);
  const lines = groups.map((words) => words.map((word) => writeWord(read(word))).join(" "));
  const before = [
    ...note === undefined ? [] : [`# ${note}\n`],
    ...input === undefined ? [] : [`${printing(read(input))} |\n  `],
  ];
  return before.join("") + lines.join(" \\\n  ");
}

/** A part of a text: as it is, or the name of the variable that holds it. */
type TextPart = { readonly text: string } | { readonly name: string };

/** Splits a word into texts without secrets and names of variables that hold them. */
function partsOf(word: CommandWord, named: NamedSecrets, masker: Masker): readonly TextPart[] {
  if (typeof word === "string") return textParts(word, named, masker);
  const parts = textParts(word.secret, named, masker);
  const isNamed = parts.some((part) => "name" in part) &&
    parts.every((part) => "name" in part || /^[A-Za-z]+ $/.test(part.text));
  const before = textParts(word.before, named, masker);
  return joined([...before, ...isNamed ? parts : textParts(word.shown, named, masker)]);
}

function textParts(text: string, named: NamedSecrets, masker: Masker): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const range of masker.find(text)) {
    parts.push({ text: text.slice(end, range.start) });
    parts.push(...secretParts(text.slice(range.start, range.end), named));
    end = range.end;
  }
  return joined([...parts, { text: text.slice(end) }]);
}

/** A secret by its name. A scheme before it, as in `Bearer …`, is kept. */
function secretParts(secret: string, named: NamedSecrets): readonly TextPart[] {
  const [, scheme = "", value = ""] = /^([A-Za-z]+ )?(.*)$/s.exec(secret) ?? [];
  const whole = named.get(secret);
  if (whole !== undefined) return [{ name: whole }];
  const name = named.get(value);
  return name === undefined ? [{ text: MASK }] : [{ text: scheme }, { name }];
}

function writeWord(parts: readonly TextPart[]): string {
  if (parts.length === 0) return "''";
  return parts.map((part) => "name" in part ? `"$${part.name}"` : quote(part.text))
    .join("");
}

/** The same parts with neighboring texts joined, without empty ones. */
function joined(parts: readonly TextPart[]): readonly TextPart[] {
  const out: TextPart[] = [];
  for (const part of parts) {
    if ("text" in part && part.text === "") continue;
    const last = out.at(-1);
    if (last && "text" in last && "text" in part) {
      out[out.length - 1] = { text: last.text + part.text };
    } else out.push(part);
  }
  return out;
}

function quote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (isPrintable(text) && !/[\n\t]/.test(text)) return inQuotes(text);
  return `"$(${printing([{ text }])})"`;
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command that prints a text. In its format, invisible characters are written as numbers. */
function printing(parts: readonly TextPart[]): string {
  const names = parts.flatMap((part) => "name" in part ? [`"$${part.name}"`] : []);
  const format = parts.map((part) => "name" in part ? "%s" : inFormat(part.text)).join("");
  // A dash would begin an option.
  return ["printf", inQuotes(format.replace(/^-/, "\\055")), ...names].join(" ");
}

function inFormat(text: string): string {
  return [...text].map((character) => {
    const known = ESCAPES.get(character);
    if (known !== undefined) return known;
    return isPrintable(character) ? character : octal(character);
  }).join("");
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\\\"],
  ["%", "%%"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function octal(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
