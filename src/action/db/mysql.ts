import type { Connection as Driver, FieldPacket, ResultSetHeader } from "mysql2";
import { StepError } from "../../source/errors.ts";
import type { Value } from "../action.ts";
import { codeOf, explainConnection, placeOf } from "../net/explain_connection.ts";
import {
  bytesOf,
  bytesValue,
  type Connection,
  type ConnectRequest,
  integerValue,
  numberValue,
  type Outcome,
  type StatementResult,
  timeValue,
} from "./database.ts";

/** Connects to MySQL or MariaDB and signs in. */
export async function connectMysql(request: ConnectRequest): Promise<Connection> {
  try {
    return toConnection(await openSecurely(request), request);
  } catch (error) {
    throw await explain(error, request);
  }
}

async function openSecurely(request: ConnectRequest): Promise<Driver> {
  const { tls, server } = request;
  if (!tls || server.socket !== undefined) return await open(request, false);
  try {
    return await open(request, true);
  } catch (error) {
    if (!tls.isOptional || codeOf(error) !== "HANDSHAKE_NO_SSL_SUPPORT") throw error;
    return await open(request, false);
  }
}

async function open({ server, tls, context }: ConnectRequest, isSecure: boolean): Promise<Driver> {
  const { signal } = context;
  if (signal.aborted) throw signal.reason;
  const { default: mysql } = await import("mysql2");
  const { socket, host, port, user, password, database } = server;
  const driver = mysql.createConnection({
    ...socket === undefined ? { host, port } : { socketPath: socket },
    ...user === undefined ? {} : { user },
    ...password === undefined ? {} : { password },
    ...database === undefined ? {} : { database },
    ...isSecure && tls ? { ssl: sslOf(tls.options) } : {},
    dateStrings: true,
    supportBigNumbers: true,
    multipleStatements: true,
    rowsAsArray: true,
    connectTimeout: 0,
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  driver.on("error", reject);
  driver.once("connect", () => resolve());
  try {
    await promise;
    return driver;
  } catch (error) {
    driver.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The driver checks the name in the certificate only when asked. */
function sslOf({ checkServerIdentity, ...options }: NonNullable<ConnectRequest["tls"]>["options"]) {
  const { ca, cert, key, minVersion, rejectUnauthorized } = options;
  return {
    ...ca ? { ca } : {},
    ...cert ? { cert } : {},
    ...key ? { key } : {},
    ...minVersion ? { minVersion } : {},
    rejectUnauthorized,
    verifyIdentity: rejectUnauthorized && !checkServerIdentity,
  };
}

async function explain(error: unknown, { server, tls, context }: ConnectRequest) {
  const place = server.socket ?? placeOf(server);
  const doing = `cannot connect to MySQL at ${place}`;
  if (error instanceof StepError) {
    return new StepError(`${error.message} while connecting to MySQL at ${place}`, error.hint);
  }
  const code = codeOf(error);
  if (error instanceof Error && code.startsWith("ER_")) {
    const isSignIn = /^ER_(ACCESS_DENIED|DBACCESS|NOT_SUPPORTED_AUTH)/.test(code);
    return new StepError(
      `${doing}: ${isSignIn ? "sign-in failed: " : ""}${error.message} (${code})`,
      isSignIn ? 'check the user name and the password in "dsn"' : undefined,
    );
  }
  if (code === "HANDSHAKE_NO_SSL_SUPPORT") {
    return new StepError(
      `${doing}: the server does not speak TLS`,
      "write sslmode=disable or sslmode=prefer in the DSN to go without",
    );
  }
  const { words, hint } = await explainConnection(error, server, context.host.clock, tls?.options);
  return new StepError(`${doing}: ${words}`, hint, { cause: words });
}

function toConnection(driver: Driver, request: ConnectRequest): Connection {
  let isLost = false;
  driver.on("error", () => isLost = true);
  driver.on("end", () => isLost = true);
  const query = (text: string, values: readonly Value[] | undefined) => {
    const { promise, resolve, reject } = Promise.withResolvers<[unknown, unknown]>();
    const done = (error: unknown, rows: unknown, fields: unknown) =>
      error ? reject(error) : resolve([rows, fields]);
    if (values) driver.execute(text, values.map(toParameter), done);
    else driver.query(text, done);
    return promise;
  };
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, most): Promise<Outcome> {
      try {
        const [rows, fields] = await query(text, values);
        return { results: readResults(rows, fields, most) };
      } catch (error) {
        const code = codeOf(error);
        if (!(error instanceof Error) || !("sqlState" in error) && !code.startsWith("ER_")) {
          throw error;
        }
        return { results: [], error: { message: error.message, code } };
      }
    },
    async cancel() {
      // Another connection has to ask for it; the attempt's own signal is aborted by now.
      const { signal } = new AbortController();
      const context = Object.create(request.context, { signal: { value: signal } });
      const other = await openSecurely({ ...request, context });
      const { promise, resolve } = Promise.withResolvers<void>();
      other.query(`KILL QUERY ${driver.threadId}`, () => resolve());
      await promise;
      other.destroy();
    },
    close() {
      if (isLost) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      driver.end(() => resolve());
      return promise;
    },
    destroy() {
      isLost = true;
      driver.destroy();
    },
  };
}

/** The driver answers with one result, or with a list of them and of their fields. */
function readResults(rows: unknown, fields: unknown, most: number): StatementResult[] {
  const isSeveral = Array.isArray(fields) &&
    fields.some((each) => Array.isArray(each) || each === undefined);
  if (!isSeveral) return [readResult(rows, fields as FieldPacket[] | undefined, most)];
  return (rows as unknown[]).map((each, index) => readResult(each, fields[index], most));
}

function readResult(
  rows: unknown,
  fields: FieldPacket[] | undefined,
  most: number,
): StatementResult {
  if (!Array.isArray(rows)) {
    const { affectedRows = 0 } = rows as ResultSetHeader;
    return { columns: [], rows: [], rowsAffected: affectedRows, isTruncated: false };
  }
  const columns = fields ?? [];
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.slice(0, most).map((row: unknown[]) =>
      row.map((value, index) => toValue(value, columns[index]))
    ),
    rowsAffected: rows.length,
    isTruncated: rows.length > most,
  };
}

/** Numbers of the types whose values are read by type. */
const TINY = 1;
const TIMESTAMP = 7;
const DATETIME = 12;
const BIT = 16;

function toValue(value: unknown, field: FieldPacket | undefined): Value {
  if (value === null || value === undefined) return null;
  const type = field?.columnType;
  if (type === TINY && field?.columnLength === 1) return value !== 0;
  if (type === TIMESTAMP || type === DATETIME) return timeValue(String(value));
  if (value instanceof Uint8Array) {
    return type === BIT ? integerValue(BigInt(`0x${value.toHex() || "0"}`)) : bytesValue(value);
  }
  if (typeof value === "bigint") return integerValue(value);
  if (typeof value === "number") return numberValue(value);
  return value as Value;
}

/** Lists and maps are sent as JSON; integers as text, which MySQL takes after LIMIT too. */
function toParameter(value: Value): string | number | boolean | null | Uint8Array {
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value !== "object" || value === null) return value;
  return bytesOf(value) ?? JSON.stringify(value);
}
