import type { Socket } from "node:net";
import type { Connection as Client, FieldPacket, ResultSetHeader } from "mysql2";
import { jsonOrText } from "../../base/value/parse_json.ts";
import { integer, readInteger, type Value } from "../../base/value/value.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import {
  bytesOf,
  bytesValue,
  type Driver,
  numberValue,
  type Open,
  type Refused,
  type Result,
  splitStatements,
  timeValue,
  wrongCount,
} from "./driver.ts";
import { openInOrder, type ServerDsn, type ServerTls, serverTls } from "./dsn.ts";

/** Connects to MySQL or MariaDB and signs in. */
export const openMysql: Open<ServerDsn> = async (target, params, attempt) => {
  const tls = await serverTls(target, params, attempt);
  const connect = () =>
    openInOrder(tls, (isSecure) => open(target, isSecure ? tls : undefined, attempt), wantsOther);
  return toDriver(await connect(), connect);
};

function wantsOther(error: unknown): boolean {
  return ["HANDSHAKE_NO_SSL_SUPPORT", "ER_SECURE_TRANSPORT_REQUIRED"].includes(codeOf(error));
}

async function open(
  { target: { host, port, socket }, user, password, database }: ServerDsn,
  tls: ServerTls | undefined,
  attempt: ActionAttempt,
): Promise<Client> {
  const { default: mysql } = await import("mysql2");
  const client = mysql.createConnection({
    ...socket === undefined ? { host, port } : { socketPath: socket },
    ...user && { user },
    ...password && { password },
    ...database && { database },
    ...tls ? { ssl: {} } : {},
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
  attempt.undo(() => abandon(client));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (tls) {
    const { secureSocket } = await import("../../action/tls/secure_socket.ts");
    const upgradable = client as unknown as Upgradable;
    // By itself the driver has no server name and no PFX files, and hides the codes of errors.
    upgradable.startTLS = (done) => {
      const { stream: plain } = upgradable;
      plain.removeAllListeners("data");
      const socket = secureSocket(tls.options, { host, socket: plain }, done);
      socket.on("error", reject);
      socket.on("data", (bytes: Uint8Array) => upgradable.packetParser.execute(bytes));
      upgradable.stream = socket;
    };
  }
  // The driver would wait for as much as it takes the first bytes to announce.
  (client as unknown as Upgradable).stream.once("data", (bytes: Uint8Array) => {
    if (bytes.length > PACKET_NUMBER && bytes[PACKET_NUMBER] !== 0) reject(new Error("not MySQL"));
  });
  client.on("error", reject);
  client.once("connect", () => resolve());
  await promise;
  return client;
}

/** Ends a connection at once: the driver alone would go on reading. */
function abandon(client: Client): void {
  client.destroy();
  (client as unknown as Upgradable).stream.destroy();
}

/** Where a packet has its number, which is 0 for the first. */
const PACKET_NUMBER = 3;

/** The parts of the driver that start TLS once the server is ready for it. */
interface Upgradable {
  startTLS: (done: () => void) => void;
  stream: Socket;
  readonly packetParser: { execute(bytes: Uint8Array): void };
}

function toDriver(client: Client, another: () => Promise<Client>): Driver {
  let isLost = false;
  // A statement that runs does not learn it from the client.
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  client.on("error", (error: unknown) => {
    isLost = true;
    lost.reject(error);
  });
  client.on("end", () => {
    isLost = true;
    lost.reject(new Error("the server closed the connection"));
  });
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, maxRows) {
      try {
        const wrong = values &&
          await Promise.race([checkCount(client, text, values), lost.promise]);
        if (wrong) return { results: [], error: wrong };
        return {
          results: await Promise.race([query(client, text, values, maxRows), lost.promise]),
        };
      } catch (error) {
        if (!isServerError(error)) throw error;
        const { message, sqlState = "" } = error;
        if (ENDED.includes(error.errno ?? 0)) isLost = true;
        return { results: [], error: { message, code: codeOf(error) || sqlState } };
      }
    },
    async cancel() {
      // Another connection has to ask for it.
      const other = await another();
      const { promise, resolve } = Promise.withResolvers<void>();
      other.query(`KILL QUERY ${client.threadId}`, () => resolve());
      await promise;
      abandon(other);
    },
    close() {
      if (isLost) return abandon(client);
      const { promise, resolve } = Promise.withResolvers<void>();
      client.end(() => resolve());
      return promise;
    },
    drop() {
      isLost = true;
      abandon(client);
    },
  };
}

interface MysqlError extends Error {
  readonly sqlState?: string;
  readonly errno?: number;
}

/** Whether the server said so, and not the connection. */
function isServerError(error: unknown): error is MysqlError {
  return error instanceof Error && ("sqlState" in error || codeOf(error).startsWith("ER_"));
}

/** Errors after which the server closes the connection: it shuts down, or somebody killed it. */
const ENDED: readonly number[] = [1053, 1927];

/** The server would misread values if there were more of them than it asks for. */
async function checkCount(
  client: Client,
  text: string,
  { length }: readonly Value[],
): Promise<Refused | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  client.prepare(text, (error, statement) => error ? reject(error) : resolve(statement));
  const { parameters } = await promise as { readonly parameters: readonly unknown[] };
  const wanted = parameters.length;
  return wanted === length ? undefined : wrongCount(wanted, length, "ER_WRONG_ARGUMENTS");
}

/** Carries out statements; of each result no more rows are kept, while they arrive, than asked for. */
async function query(
  client: Client,
  text: string,
  values: readonly Value[] | undefined,
  maxRows: number,
): Promise<Result[]> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const results: { columns: FieldPacket[]; rows: Value[][]; count: number }[] = [];
  const command = values ? client.execute(text, values.map(toParameter)) : client.query(text);
  command.on("fields", (fields: FieldPacket[] | undefined) => {
    results.push({ columns: fields ?? [], rows: [], count: 0 });
  });
  command.on("result", (row: unknown) => {
    const result = results.at(-1)!;
    // A statement without rows reports how many it changed.
    if (!Array.isArray(row)) result.count = (row as ResultSetHeader).affectedRows ?? 0;
    else if (result.count++ < maxRows) result.rows.push(toRow(row, result.columns));
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
    isTruncated: columns.length > 0 && count > maxRows,
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
