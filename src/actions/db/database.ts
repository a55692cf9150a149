import type { PeerCertificate } from "node:tls";
import type { ActionContext, Value } from "../../action/action.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

/** An open connection to a database, which carries out one statement at a time. */
export interface DbConnection {
  /** Whether it was lost or given up, so that the next step needs another. */
  readonly isLost: boolean;
  /** Carries out a statement, or several where there are no values. */
  run(statement: Statement, most: number): Promise<DbOutcome>;
  /** Ends what runs, on the server too. */
  cancel(): Promise<void>;
  close(): void | Promise<void>;
  /** Closes it without waiting for what runs. */
  destroy(): void;
}

export interface Statement {
  readonly text: string;
  /** Values for the placeholders, in order. */
  readonly values?: readonly Value[];
}

/** The answer of the database: results, or the results before a failed statement and its error. */
export interface DbOutcome {
  readonly results: readonly StatementResult[];
  readonly error?: DatabaseError;
}

export interface StatementResult {
  readonly columns: readonly string[];
  readonly rows: readonly Value[][];
  readonly rowsAffected: number;
  /** Whether there were more rows than were asked for. */
  readonly isTruncated: boolean;
}

export interface DatabaseError {
  readonly message: string;
  /** A code that people search for: `23505`, `ER_DUP_ENTRY`, `SQLITE_CONSTRAINT_UNIQUE`. */
  readonly code: string;
}

/** The error of a statement that takes another number of values than it was given. */
export function wrongCount(wanted: number, given: number, code: string): DatabaseError {
  const values = wanted === 1 ? "1 value" : `${wanted} values`;
  return { message: `the statement takes ${values}, and "params" has ${given}`, code };
}

/** Where a server is, and as whom to sign in. */
export interface DatabaseServer extends Endpoint {
  /** The directory of a socket of the system, in place of host and port. */
  readonly socket?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** Settings of PostgreSQL, `-c search_path=shop`, and the name that it shows for the connection. */
  readonly settings?: string;
  readonly clientName?: string;
}

/** The TLS settings for a server. */
export interface ServerTls {
  readonly options: TlsOptions & {
    /** Drivers compare the certificate with other names than that of the server. */
    readonly checkServerIdentity: (host: string, certificate: PeerCertificate) => Error | undefined;
  };
  /** Whether to speak TLS: the second way is tried where the server wants that. */
  readonly attempts: readonly boolean[];
}

/** The settings with which a driver connects. */
export interface ConnectRequest {
  readonly server: DatabaseServer;
  readonly tls?: ServerTls;
  readonly context: ActionContext;
}

/** Connects by TLS or without it, in the order of `sslmode`. */
export async function openInOrder<T>(
  { server, tls }: ConnectRequest,
  open: (isSecure: boolean) => Promise<T>,
  wantsOther: (error: unknown) => boolean,
): Promise<T> {
  const [first = false, second] = tls && server.socket === undefined ? tls.attempts : [];
  try {
    return await open(first);
  } catch (error) {
    if (second === undefined || !wantsOther(error)) throw error;
    return await open(second);
  }
}

/** Bytes, as rows write them. */
export function bytesValue(bytes: Uint8Array): Value {
  return { base64: bytes.toBase64() };
}

/** The bytes of a value that rows would write so: `{base64: …}`. */
export function bytesOf(value: Value): Uint8Array | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { base64, ...rest } = value as { readonly [name: string]: Value };
  if (typeof base64 !== "string" || Object.keys(rest).length > 0) return undefined;
  try {
    return Uint8Array.fromBase64(base64);
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
