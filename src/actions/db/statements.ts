import { isDict } from "../../base/value/value.ts";
import type { Value } from "../../action/action.ts";
import type { Statement } from "./driver.ts";

/** The parts of SQL in which no name is looked for: texts, quoted names, comments and casts. */
const COMMON = String.raw`"(?:[^"]|"")*"|--[^\n]*|/\*[\s\S]*?\*/|::`;
const TEXT = String.raw`'(?:[^']|'')*'`;
const TEXT_WITH_ESCAPES = String.raw`'(?:[^'\\]|\\[\s\S]|'')*'`;

const SKIPPED = {
  postgres: String.raw`\b[eE]${TEXT_WITH_ESCAPES}|${TEXT}|\$(\w*)\$[\s\S]*?\$\1\$|${COMMON}`,
  mysql: `${TEXT_WITH_ESCAPES}|\`[^\`]*\`|#[^\\n]*|()${COMMON}`,
  sqlite: `${TEXT}|\`[^\`]*\`|\\[[^\\]]*\\]|()${COMMON}`,
};

export type Dialect = keyof typeof SKIPPED;

/** The parts of a statement in which `:name` is looked for, and those in which it is not. */
const namesIn = (dialect: Dialect) => new RegExp(`${SKIPPED[dialect]}|:([A-Za-z_]\\w*)`, "g");

/** The problem of a statement with a name that its map of values lacks. */
export function missingName(
  { text, params }: { readonly text: string; readonly params?: Value | undefined },
  dialect: Dialect,
): readonly [message: string, hint: string] | undefined {
  if (!isDict(params)) return undefined;
  const names = [...text.matchAll(namesIn(dialect))].map((match) => match[2]);
  const missing = names.find((name) => name !== undefined && !Object.hasOwn(params, name));
  if (missing === undefined) return undefined;
  const message = `the statement has :${missing}, and "params" does not`;
  const available = Object.keys(params).join(", ");
  return [message, available === "" ? '"params" is empty' : `"params" has ${available}`];
}

/** A statement with its values in order; `:name` of a map becomes a placeholder. */
export function bindNames(text: string, params: Value | undefined, dialect: Dialect): Statement {
  if (Array.isArray(params)) return params.length === 0 ? { text } : { text, values: params };
  if (!isDict(params)) return { text };
  const values: Value[] = [];
  const places = new Map<string, number>();
  const bound = text.replace(namesIn(dialect), (part, _tag, name?: string) => {
    if (name === undefined) return part;
    const value = params[name] ?? null;
    if (dialect !== "postgres") return (values.push(value), "?");
    if (!places.has(name)) places.set(name, values.push(value));
    return `$${places.get(name)}`;
  });
  return values.length === 0 ? { text } : { text: bound, values };
}

/** How many values a statement of SQLite takes; SQLite itself would take nil for a missing one. */
export function countPlaceholders(text: string): number {
  const names = new Set<string>();
  let count = 0;
  const pattern = new RegExp(`${SKIPPED.sqlite}|\\?(\\d*)|[:@]?[\\w$]+`, "g");
  for (const [part, , number] of text.matchAll(pattern)) {
    if (number) count = Math.max(count, Number(number));
    else if (number === "") count++;
    else if (/^[:@$]\w/.test(part) && !names.has(part)) {
      names.add(part);
      count++;
    }
  }
  return count;
}

/**
 * Cuts a text after each `;` that is in no text, name or comment. What is left without a statement
 * is left out.
 */
export function splitStatements(text: string, dialect: Dialect): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (const match of text.matchAll(new RegExp(`${SKIPPED[dialect]}|;`, "g"))) {
    if (match[0] !== ";") continue;
    pieces.push(text.slice(start, match.index + 1));
    start = match.index + 1;
  }
  pieces.push(text.slice(start));
  const bare = (piece: string) => piece.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|[\s;]/g, "");
  return pieces.filter((piece) => bare(piece) !== "");
}
