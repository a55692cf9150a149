import { countOf } from "../../base/text/count_of.ts";
import { isDict } from "../../base/value/value.ts";
import type { Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { Tls } from "../../action/tls/tls.ts";
import type { Dsn } from "./dsn.ts";

/** An open connection to a database, which carries out one statement at a time. */
export interface Driver {
  /** Whether it was lost, so that the next step needs another. */
  readonly isLost: boolean;
  /** Carries out a statement, or several if there are no values; keeps `maxRows` rows of each. */
  run(statement: Statement, maxRows: number): Promise<QueryResult>;
  /**
   * Listens to a channel: `keep` gets each notification, and `ended` is called when the connection
   * is lost. Undefined for a database without notifications.
   */
  readonly listen?: (
    channel: string,
    keep: (channel: string, text: string) => void,
    ended: () => void,
  ) => Promise<void>;
  /** Ends what runs, on the server too. */
  cancel(): Promise<void>;
  close(): void | Promise<void>;
  /** Closes it without waiting for running statements. */
  drop(): void;
}

/** Opens a database of one kind. */
export type Open<T extends Dsn> = (
  target: T,
  tls: Tls | undefined,
  attempt: ActionAttempt,
) => Promise<Driver>;

export interface Statement {
  readonly text: string;
  /** Values for the placeholders, in order. */
  readonly values?: readonly Value[];
}

/** Results, or the results before a failed statement and its error. */
export interface QueryResult {
  readonly results: readonly Result[];
  readonly error?: Refused;
}

export interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly Value[][];
  readonly rowsAffected: number;
  /** Whether there were more rows than were asked for. */
  readonly isTruncated: boolean;
}

/** A refusal by the database, with its code: `23505`, `ER_DUP_ENTRY`. */
export interface Refused {
  readonly message: string;
  readonly code: string;
}

/** The error of a statement that takes another number of values than it was given. */
export function wrongCount(wanted: number, received: number, code: string): Refused {
  const values = countOf(wanted, "value");
  return { message: `the statement takes ${values}, and "params" has ${received}`, code };
}

/** Bytes, as rows write them. */
export function bytesValue(bytes: Uint8Array): Value {
  return { base64: bytes.toBase64() };
}

/** The bytes of a value that rows would write so: `{base64: …}`. */
export function bytesOf(value: Value): Uint8Array | undefined {
  if (!isDict(value) || typeof value.base64 !== "string" || Object.keys(value).length > 1) {
    return undefined;
  }
  try {
    return Uint8Array.fromBase64(value.base64);
  } catch {
    return undefined;
  }
}

/** A number, or the name of one that JSON does not have: `NaN`, `Infinity`. */
export function numberValue(number: number): Value {
  return Number.isFinite(number) ? number : String(number);
}

/** A date and time as ISO 8601 writes it: `2024-01-02T03:04:05+02:00`. */
export function timeValue(text: string): string {
  return text
    .replace(/^(\d{4,}-\d\d-\d\d) (\d)/, "$1T$2")
    .replace(/([+-]\d\d)$(?<=:.*)/, "$1:00")
    .replace(/\+00:00$/, "Z");
}

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
