import type { Socket } from "node:net";
import type { Connection as Driver, FieldPacket, ResultSetHeader } from "mysql2";
import type { StepError } from "../../base/errors.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import { connectProblem } from "./connect_problem.ts";
import {
  bytesOf,
  bytesValue,
  type ConnectRequest,
  type DatabaseError,
  type DbConnection,
  type DbOutcome,
  numberValue,
  openInOrder,
  type ServerTls,
  type StatementResult,
  timeValue,
  wrongCount,
} from "./database.ts";
import { lookAtMysql } from "./look.ts";
import { splitStatements } from "./statements.ts";
import { jsonOrText } from "../../base/value/parse_json.ts";
import { integer, readInteger, type Value } from "../../base/value/value.ts";

/** Connects to MySQL or MariaDB and signs in. */
export async function connectMysql(request: ConnectRequest): Promise<DbConnection> {
  // That it cannot be loaded is not the fault of a server.
  await import("mysql2");
  try {
    return toConnection(await openSecurely(request), request);
  } catch (error) {
    throw await explain(error, request);
  }
}

async function openSecurely(request: ConnectRequest): Promise<Driver> {
  const codes = ["HANDSHAKE_NO_SSL_SUPPORT", "ER_SECURE_TRANSPORT_REQUIRED"];
  const wantsOther = (error: unknown) => codes.includes(codeOf(error));
  return await openInOrder(request, (isSecure) => open(request, isSecure), wantsOther);
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
    ...isSecure && tls ? { ssl: {} } : {},
    dateStrings: true,
    supportBigNumbers: true,
    jsonStrings: true,
    multipleStatements: true,
    // Rows that were found and not changed do not count, names of functions are not reserved, and
    // the server reads no files of this machine.
    flags: ["-FOUND_ROWS", "-IGNORE_SPACE", "-LOCAL_FILES"],
    rowsAsArray: true,
    connectTimeout: 0,
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (isSecure && tls) await speakTls(driver, server.host, tls, reject);
  // The driver would wait for as much as it takes the first bytes to announce.
  (driver as unknown as Upgradable).stream.once("data", (bytes: Uint8Array) => {
    if (bytes.length > PACKET_NUMBER && bytes[PACKET_NUMBER] !== 0) reject(FOREIGN);
  });
  driver.on("error", reject);
  driver.once("connect", () => resolve());
  try {
    await promise;
    return driver;
  } catch (error) {
    abandon(driver);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Ends a connection at once: the driver alone would go on to read what the server sends. */
function abandon(driver: Driver): void {
  driver.destroy();
  (driver as unknown as Upgradable).stream.destroy();
}

/** Where a packet has its number, which is 0 for the first. */
const PACKET_NUMBER = 3;
/** The server sent something else than a greeting of MySQL. */
const FOREIGN = new Error("not MySQL");

/** The parts of the driver that start TLS once the server is ready for it. */
interface Upgradable {
  startTLS: (done: (error?: Error) => void) => void;
  stream: Socket;
  readonly packetParser: { execute(bytes: Uint8Array): void };
}

/**
 * Makes the driver speak TLS as the step says: by itself it has no server name and no PFX files,
 * compares the certificate of an address with "localhost", and hides the codes of errors.
 */
async function speakTls(
  driver: Driver,
  host: string,
  { options }: ServerTls,
  fail: (error: Error) => void,
): Promise<void> {
  const { connect } = await import("node:tls");
  const { isIP } = await import("node:net");
  const name = options.servername ?? host;
  const upgradable = driver as unknown as Upgradable;
  upgradable.startTLS = (done) => {
    upgradable.stream.removeAllListeners("data");
    const servername = isIP(name) ? "" : name;
    const socket = connect({ ...options, servername, socket: upgradable.stream }, () => done());
    socket.on("error", fail);
    socket.on("data", (bytes: Uint8Array) => upgradable.packetParser.execute(bytes));
    upgradable.stream = socket;
  };
}

function explain(error: unknown, request: ConnectRequest): Promise<StepError> {
  const code = codeOf(error);
  const isSignIn = /^ER_(ACCESS_DENIED|DBACCESS|NOT_SUPPORTED_AUTH)/.test(code);
  return connectProblem("MySQL", error, request, {
    refusal: code.startsWith("ER_") ? { code, isSignIn } : undefined,
    isPlain: code === "HANDSHAKE_NO_SSL_SUPPORT",
    isForeign: error === FOREIGN,
    usualPort: 3306,
    look: lookAtMysql,
  });
}

function toConnection(driver: Driver, request: ConnectRequest): DbConnection {
  let isLost = false;
  // A statement that runs does not learn it from the driver.
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  driver.on("error", (error: unknown) => {
    isLost = true;
    lost.reject(error);
  });
  driver.on("end", () => {
    isLost = true;
    lost.reject(new Error("the server closed the connection"));
  });
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, most): Promise<DbOutcome> {
      try {
        const wrong = values &&
          await Promise.race([checkCount(driver, text, values), lost.promise]);
        if (wrong) return { results: [], error: wrong };
        return { results: await Promise.race([query(driver, text, values, most), lost.promise]) };
      } catch (error) {
        if (!isAnswer(error)) throw error;
        const { message, sqlState = "" } = error;
        if (ENDED.includes(error.errno ?? 0)) isLost = true;
        return { results: [], error: { message, code: codeOf(error) || sqlState } };
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
      abandon(other);
    },
    close() {
      if (isLost) return abandon(driver);
      const { promise, resolve } = Promise.withResolvers<void>();
      driver.end(() => resolve());
      return promise;
    },
    destroy() {
      isLost = true;
      abandon(driver);
    },
  };
}

interface Answer extends Error {
  readonly sqlState?: string;
  readonly errno?: number;
}

/** Whether the server said so, and not the connection. */
function isAnswer(error: unknown): error is Answer {
  return error instanceof Error && ("sqlState" in error || codeOf(error).startsWith("ER_"));
}

/** Errors after which the server closes the connection: it shuts down, or somebody killed it. */
const ENDED: readonly number[] = [1053, 1927];

/** The server would misread values if there were more of them than it asks for. */
async function checkCount(
  driver: Driver,
  text: string,
  { length }: readonly Value[],
): Promise<DatabaseError | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  driver.prepare(text, (error, statement) => error ? reject(error) : resolve(statement));
  const { parameters } = await promise as { readonly parameters: readonly unknown[] };
  const wanted = parameters.length;
  return wanted === length ? undefined : wrongCount(wanted, length, "ER_WRONG_ARGUMENTS");
}

/** Carries out statements; of each result no more rows are kept, while they arrive, than asked for. */
async function query(
  driver: Driver,
  text: string,
  values: readonly Value[] | undefined,
  most: number,
): Promise<StatementResult[]> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const results: { columns: FieldPacket[]; rows: Value[][]; count: number }[] = [];
  const command = values ? driver.execute(text, values.map(toParameter)) : driver.query(text);
  command.on("fields", (fields: FieldPacket[] | undefined) => {
    results.push({ columns: fields ?? [], rows: [], count: 0 });
  });
  command.on("result", (row: unknown) => {
    const result = results.at(-1)!;
    // A statement without rows answers with what it did.
    if (!Array.isArray(row)) result.count = (row as ResultSetHeader).affectedRows ?? 0;
    else if (result.count++ < most) result.rows.push(toRow(row, result.columns));
  });
  command.on("error", reject);
  command.on("end", () => resolve());
  await promise;
  // A procedure ends with a result of its own, which has no rows.
  if (results.length > 1 && /^\s*call\b/i.test(splitStatements(text, "mysql").at(-1) ?? "")) {
    results.pop();
  }
  return results.map(({ columns, rows, count }) => ({
    columns: columns.map(({ name }) => name),
    rows,
    rowsAffected: count,
    isTruncated: columns.length > 0 && count > most,
  }));
}

function toRow(row: readonly unknown[], columns: readonly FieldPacket[]): Value[] {
  return row.map((value, index) => toValue(value, columns[index]));
}

/** Numbers of the types whose values are read by type. */
const TINY = 1;
const FLOAT = 4;
const TIMESTAMP = 7;
const LONGLONG = 8;
const DATETIME = 12;
const BIT = 16;
const JSON_TYPE = 245;

function toValue(value: unknown, field: FieldPacket | undefined): Value {
  if (value === null || value === undefined) return null;
  const type = field?.columnType;
  if (type === TINY && field?.columnLength === 1) return value !== 0;
  if (type === TIMESTAMP || type === DATETIME) return timeValue(String(value));
  if (value instanceof Uint8Array) {
    return type === BIT ? integer(BigInt(`0x${value.toHex() || "0"}`)) : bytesValue(value);
  }
  if (typeof value === "string") {
    if (type === LONGLONG) return readInteger(value)!;
    // MariaDB has JSON as text, which only its own metadata tells apart.
    if (type === JSON_TYPE || (field as { extendedFormat?: string }).extendedFormat === "json") {
      return jsonOrText(value);
    }
  }
  if (typeof value === "number") return numberValue(type === FLOAT ? shortest(value) : value);
  return value as Value;
}

/** The shortest number for a FLOAT, which is not as exact: 0.1, where it was 0.10000000149011612. */
function shortest(value: number): number {
  const numbers = [6, 7, 8].map((digits) => Number(value.toPrecision(digits)));
  return numbers.find((number) => Math.fround(number) === Math.fround(value)) ?? value;
}

/** Lists and maps are sent as JSON; integers as text, which MySQL takes after LIMIT too. */
function toParameter(value: Value): string | number | boolean | null | Uint8Array {
  if (Number.isSafeInteger(value) || typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  return bytesOf(value) ?? JSON.stringify(value);
}
