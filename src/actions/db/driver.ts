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
