import { resolve } from "@std/path/resolve";
import { StepError } from "../../base/errors.ts";
import { jsonOrText } from "../../base/value/parse_json.ts";
import { integer, type Value } from "../../base/value/value.ts";
import {
  bytesOf,
  bytesValue,
  countPlaceholders,
  numberValue,
  type Open,
  type Result,
  splitStatements,
  timeValue,
  wrongCount,
} from "./driver.ts";
import type { FileDsn } from "./dsn.ts";
import {
  type SqliteColumn,
  sqliteMain,
  type SqliteOrder,
  type SqliteResponse,
  type SqliteResult,
  type SqliteValue,
} from "./sqlite_worker.ts";

/** Opens a SQLite database in a thread of its own. */
export const openSqlite: Open<FileDsn> = async ({ target, query }, _, attempt) => {
  const { permissions, host } = attempt.context;
  const path = target.file === undefined
    ? ":memory:"
    : resolve(host.files.workingDirectory(), await attempt.context.resolvePath(target.file));
  const { Worker } = await import("node:worker_threads");
  const code = `(${sqliteMain})(require("node:worker_threads").parentPort, require)`;
  const worker = new Worker(code, { eval: true });
  worker.unref();
  let isLost = false;
  let waiting: PromiseWithResolvers<SqliteResponse> | undefined;
  worker.on("message", (reply: SqliteResponse) => waiting?.resolve(reply));
  worker.on("error", (error: unknown) => {
    isLost = true;
    waiting?.reject(error);
  });
  const order = (order: SqliteOrder): Promise<SqliteResponse> => {
    if (isLost) return Promise.resolve({ results: [] });
    waiting = Promise.withResolvers();
    worker.ref();
    worker.postMessage(order);
    return waiting.promise.finally(() => worker.unref());
  };
  const end = () => {
    isLost = true;
    void worker.terminate();
    waiting?.resolve({ results: [] });
  };
  attempt.undo(end);
  const mayAttach = !permissions?.read && !permissions?.write;
  const name = query === "" || target.file === undefined ? path : `file:${path}${query}`;
  const { error } = await order({ type: "open", path: name, mayAttach });
  if (error) {
    // Opening fails without a number.
    const isMissing = error.message.startsWith("unable to open");
    const reason = isMissing ? "unable to open it" : error.message;
    const code = isMissing ? "SQLITE_CANTOPEN" : sqliteCode(error.code);
    throw new StepError(
      `cannot open ${attempt.peer}: ${reason} (${code})`,
      isMissing
        ? "its directory must exist; the path is relative to the file that names it"
        : undefined,
      { parameter: "dsn" },
    );
  }
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, maxRows) {
      const pieces = splitStatements(text, "sqlite");
      if (values && pieces.length > 1) {
        const message = '"params" go with one statement, and there are several';
        return { results: [], error: { message, code: "SQLITE_ERROR" } };
      }
      const [wanted, received] = [countPlaceholders(text), values?.length ?? 0];
      if (wanted !== received) {
        return { results: [], error: wrongCount(wanted, received, "SQLITE_RANGE") };
      }
      const bound = values?.map(toParameter);
      const { results, error } = await order({ type: "run", pieces, values: bound, maxRows });
      return {
        results: results.map(toResult),
        ...error ? { error: { message: error.message, code: sqliteCode(error.code) } } : {},
      };
    },
    cancel() {
      end();
      return Promise.resolve();
    },
    async close() {
      if (!isLost) await order({ type: "close" });
      end();
    },
    drop: end,
  };
};

function toResult({ columns, rows, changes, isTruncated }: SqliteResult): Result {
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map((row) => row.map((value, index) => toValue(value, columns[index]!))),
    rowsAffected: changes,
    isTruncated,
  };
}

/** SQLite has five types of values; the type of the column says more. */
function toValue(value: SqliteValue, { type }: SqliteColumn): Value {
  const declared = (type ?? "").toUpperCase();
  if (value === null) return null;
  if (value instanceof Uint8Array) return bytesValue(value);
  if (/^BOOL/.test(declared) && (value === 0n || value === 1n)) return value === 1n;
  if (/^(DECIMAL|NUMERIC)/.test(declared)) return String(value);
  if (typeof value === "bigint") return integer(value);
  if (typeof value === "number") return numberValue(value);
  if (/^(DATE|TIMESTAMP)/.test(declared)) return timeValue(value);
  return /^JSON/.test(declared) ? jsonOrText(value) : value;
}

function toParameter(value: Value): SqliteValue {
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value !== "object" || value === null) return value;
  return bytesOf(value) ?? JSON.stringify(value);
}

/** Names of the result codes of SQLite, by the number in their last eight bits. */
const NAMES: readonly string[] = [
  ..."OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT".split(" "),
  ..."NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE".split(" "),
  ..."NOLFS AUTH FORMAT RANGE NOTADB".split(" "),
];

/** The violated constraint, by the number above the last eight bits. */
const CONSTRAINTS: readonly string[] = [
  ..."- CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE".split(" "),
  ..."VTAB ROWID PINNED DATATYPE".split(" "),
];

/** The name of a result code: `SQLITE_CONSTRAINT_UNIQUE`. */
function sqliteCode(code: number): string {
  const name = NAMES[code & 0xff] ?? `${code & 0xff}`;
  const constraint = name === "CONSTRAINT" ? CONSTRAINTS[code >> 8] ?? "-" : "-";
  return `SQLITE_${name}${constraint === "-" ? "" : `_${constraint}`}`;
}
