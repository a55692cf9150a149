import type { Masker } from "../value/masker.ts";
import { isSecretName } from "../value/secret_names.ts";

/** Secrets by the environment variables that hold them. */
export type NamedSecrets = readonly (readonly [name: string, value: string])[];

/** The same as the masking of reports: shorter values are none. */
const SHORTEST = 6;

/** The secrets of an environment that a shell can name, the longest first. */
export function namedSecrets(environment: Readonly<Record<string, string>>): NamedSecrets {
  return Object.entries(environment)
    .filter(([name, value]) =>
      isSecretName(name) && value.length >= SHORTEST && /^[A-Za-z_]\w*$/.test(name)
    )
    .sort(([, a], [, b]) => b.length - a.length);
}

/** A command for a shell, a group of words on each line; what is secret stands as `$NAME`. */
export function shellText(
  groups: readonly (readonly string[])[],
  named: NamedSecrets,
  masker: Masker,
): string {
  const lines = groups.map((words) => words.map((word) => quote(word, named, masker)).join(" "));
  return lines.join(" \\\n  ");
}

function quote(word: string, named: NamedSecrets, masker: Masker): string {
  const [name, value] = named.find(([, value]) => word.includes(value)) ?? [];
  if (name === undefined || value === undefined) return quoteText(masker.mask(word));
  const at = word.indexOf(value);
  const [before, after] = [word.slice(0, at), word.slice(at + value.length)];
  return [
    before === "" ? "" : quote(before, named, masker),
    `"$${name}"`,
    after === "" ? "" : quote(after, named, masker),
  ].join("");
}

function quoteText(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  // A report indents its lines, which must not become part of the text.
  if (/[\n\r\t]/.test(text)) {
    const escaped = text.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n")
      .replaceAll("\r", "\\r").replaceAll("\t", "\\t");
    return `$'${escaped}'`;
  }
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
