import { resolve } from "@std/path/resolve";
import { demand } from "../../host/deno_permissions.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, Value } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";
import {
  bytesOf,
  bytesValue,
  type DbConnection,
  type DbOutcome,
  numberValue,
  type StatementResult,
  timeValue,
  wrongCount,
} from "./database.ts";
import type { FileTarget } from "./read_dsn.ts";
import { countPlaceholders, splitStatements } from "./statements.ts";
import { sqliteCode } from "./sqlite_codes.ts";
import {
  type SqliteColumn,
  sqliteMain,
  type SqliteOrder,
  type SqliteReply,
  type SqliteResult,
  type SqliteValue,
} from "./sqlite_worker.ts";
import { jsonOrText } from "../../base/value/parse_json.ts";
import { integer } from "../../base/value/value.ts";

/** Opens a SQLite database in a thread of its own. */
export async function openSqlite(
  target: FileTarget,
  context: ActionContext,
): Promise<DbConnection> {
  const { permissions, signal } = context;
  const name = await locate(target, context);
  const { Worker } = await import("node:worker_threads");
  const code = `(${sqliteMain})(require("node:worker_threads").parentPort, require)`;
  const worker = new Worker(code, { eval: true });
  worker.unref();
  let isLost = false;
  let waiting: PromiseWithResolvers<SqliteReply> | undefined;
  worker.on("message", (reply: SqliteReply) => waiting?.resolve(reply));
  worker.on("error", (error: unknown) => {
    isLost = true;
    waiting?.reject(error);
  });
  const order = (order: SqliteOrder): Promise<SqliteReply> => {
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
  const forget = onAbort(signal, end);
  const mayAttach = !permissions?.read && !permissions?.write;
  const { error } = await order({ type: "open", path: name, mayAttach });
  forget();
  if (signal.aborted) {
    const { message, hint } = signal.reason as StepError;
    throw new StepError(`${message} while opening the SQLite database "${target.path}"`, hint);
  }
  if (error) {
    end();
    // Opening fails without a number.
    const isMissing = error.message.startsWith("unable to open");
    const words = isMissing ? "unable to open it" : error.message;
    const code = isMissing ? "SQLITE_CANTOPEN" : sqliteCode(error.code);
    throw new StepError(
      `cannot open the SQLite database "${target.path}": ${words} (${code})`,
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
    async run({ text, values }, most): Promise<DbOutcome> {
      const pieces = splitStatements(text, "sqlite");
      if (values && pieces.length > 1) {
        const message = '"params" go with one statement, and there are several';
        return { results: [], error: { message, code: "SQLITE_ERROR" } };
      }
      const [wanted, given] = [countPlaceholders(text), values?.length ?? 0];
      if (wanted !== given) {
        return { results: [], error: wrongCount(wanted, given, "SQLITE_RANGE") };
      }
      const bound = values?.map(toParameter);
      const { results, error } = await order({ type: "run", pieces, values: bound, most });
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
    destroy: end,
  };
}

/** The name to open, once the run may read and write the file. */
async function locate(target: FileTarget, context: ActionContext): Promise<string> {
  const { permissions, host } = context;
  if (target.path.includes(":memory:")) return ":memory:";
  const path = await context.resolvePath(target.path);
  const isReadOnly = /[?&]mode=ro\b/.test(target.query);
  const doing = `cannot open the SQLite database "${path}"`;
  for (const kind of ["read", "write"] as const) {
    if (kind === "write" && isReadOnly) continue;
    try {
      demand({ name: kind, path });
    } catch (error) {
      const denial = explainDenial(error);
      if (!denial) throw error;
      throw new StepError(`${doing}: ${denial.words}`, denial.hint, { parameter: "dsn" });
    }
    if (!permissions?.[kind]) continue;
    const { pathRefusal } = await import("../../action/permissions/path_rule.ts");
    const exists = await host.files.realPath(path).then(() => true, () => false);
    const asked = exists ? path : path.replace(/[^/\\]*$/, "") || ".";
    const refusal = await pathRefusal(permissions, kind, asked, host);
    if (refusal) {
      throw new StepError(`${doing}: ${refusal.message}`, refusal.hint, { parameter: "dsn" });
    }
  }
  const absolute = resolve(host.files.workingDirectory(), path);
  return target.query === "" ? absolute : `file:${absolute}${target.query}`;
}

function toResult({ columns, rows, changes, isTruncated }: SqliteResult): StatementResult {
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map((row) => row.map((value, index) => toValue(value, columns[index]!))),
    rowsAffected: changes,
    isTruncated,
  };
}

/** SQLite has five types of values; what else a value is, its column declares. */
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
