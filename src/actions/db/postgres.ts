import type pg from "pg";
import type { Client, Connection, Result as PgResult } from "pg";
import type { Value } from "../../action/action.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import { jsonOrText } from "../../base/value/parse_json.ts";
import { integer } from "../../base/value/value.ts";
import {
  bytesOf,
  bytesValue,
  type Driver,
  numberValue,
  type Open,
  type Result,
  timeValue,
} from "./driver.ts";
import { openInOrder, type ServerDsn, serverTls } from "./dsn.ts";

/** Connects to PostgreSQL and signs in. */
export const openPostgres: Open<ServerDsn> = async (target, params, attempt) => {
  const { target: { host, port, socket }, user, password, database, options } = target;
  const tls = await serverTls(target, params, attempt);
  const { default: pg } = await import("pg");
  const path = options.get("search_path")?.replace(/[\\\s]/g, "\\$&");
  const settings = [options.get("options"), path && `-c search_path=${path}`].filter(Boolean);
  const client = await openInOrder(tls, async (isSecure) => {
    const client = new pg.Client({
      host: socket ?? host,
      port,
      ...user && { user },
      ...password && { password },
      ...database && { database },
      ssl: isSecure,
      application_name: options.get("application_name") ?? "runner",
      ...settings.length > 0 && { options: settings.join(" ") },
    });
    const { connection } = client;
    attempt.undo(() => connection.stream.destroy());
    if (isSecure && tls) {
      const { secureSocket } = await import("../../action/tls/secure_socket.ts");
      // The driver would sign in to a server before its certificate can be looked at.
      connection.upgradeToSSL = (_, onError) => {
        const to = { host, socket: connection.stream };
        const socket = secureSocket(tls.options, to, () => connection.emit("sslconnect"));
        connection.attachListeners(connection.stream = socket);
        socket.on("error", onError);
      };
    }
    // An error that comes between two statements shows in the next one.
    client.on("error", () => {});
    await client.connect();
    await client.query(
      "SET DateStyle TO ISO; SET IntervalStyle TO iso_8601; SET bytea_output TO hex",
    );
    return client;
  }, wantsOther);
  return toDriver({ client, Query: pg.Query, elements: new Map() }, target);
};

/** Whether the server has no TLS, or access rules for connections of the other kind alone. */
function wantsOther(error: unknown): boolean {
  return error instanceof Error && error.message.includes("does not support SSL") ||
    isServerError(error) && error.code === "28000";
}

interface PostgresError extends Error {
  readonly code: string;
  readonly severity: string;
  readonly detail?: string;
}

/** Whether the server said so, and not the connection. */
function isServerError(error: unknown): error is PostgresError {
  return error instanceof Error && "severity" in error && /^[0-9A-Z]{5}$/.test(codeOf(error));
}

/** A client, and the types of its database. */
interface TypedClient {
  readonly client: Client;
  readonly Query: typeof pg.Query;
  /** The types of array elements by the number of the type; 0 if it is not an array. */
  readonly elements: Map<number, number>;
}

function toDriver(typed: TypedClient, target: ServerDsn): Driver {
  const { client } = typed;
  let isLost = false;
  client.on("end", () => isLost = true);
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, maxRows) {
      try {
        const types = values?.some(Array.isArray) ? await parameterTypes(client, text) : [];
        const parameters = values?.map((value, index) => toParameter(value, types[index]));
        return { results: await query(typed, text, parameters, maxRows) };
      } catch (error) {
        if (!isServerError(error)) throw error;
        if (error.severity === "FATAL") isLost = true;
        const detail = error.detail ? `: ${error.detail}` : "";
        return { results: [], error: { message: error.message + detail, code: error.code } };
      }
    },
    async listen(channel, keep, ended) {
      client.on("notification", ({ channel, payload = "" }) => keep(channel, payload));
      client.on("end", ended);
      await client.query(`LISTEN "${channel.replaceAll(`"`, `""`)}"`);
    },
    cancel: () => requestCancel(client, target),
    close: () => isLost ? undefined : client.end(),
    drop() {
      isLost = true;
      client.connection.stream.destroy();
    },
  };
}

/** Carries out statements; of each result no more rows are kept, while they arrive, than asked for. */
async function query(
  { client, Query, elements }: TypedClient,
  text: string,
  values: readonly unknown[] | undefined,
  maxRows: number,
): Promise<Result[]> {
  const query = new Query({
    text,
    values,
    rowMode: "array",
    types: { getTypeParser: parserOf },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PgResult | PgResult[]>();
  const kept = new Map<PgResult, { readonly rows: Value[][]; count: number }>();
  query.on("row", (row: unknown[], result: PgResult) => {
    const entry = kept.get(result) ?? { rows: [], count: 0 };
    kept.set(result, entry);
    if (entry.count++ < maxRows) entry.rows.push(row as Value[]);
  });
  query.on("end", resolve);
  query.on("error", reject);
  client.query(query);
  const results = [await promise].flat();
  await learnTypes(client, elements, results);
  return results.map((result: PgResult) => {
    const { rows, count } = kept.get(result) ?? { rows: [], count: 0 };
    for (const [index, { dataTypeID: type }] of result.fields.entries()) {
      const element = elements.get(type);
      if (!element) continue;
      for (const row of rows) {
        if (typeof row[index] === "string") row[index] = parseArray(row[index], parserOf(element));
      }
    }
    return {
      columns: result.fields.map(({ name }: { readonly name: string }) => name),
      rows,
      rowsAffected: result.rowCount ?? count,
      isTruncated: count > maxRows,
    };
  });
}

/** Types that the database defines, such as enumerations and arrays of them, begin here. */
const FIRST_OWN_TYPE = 16_384;

/** Asks which of the types of results are arrays. */
async function learnTypes(
  client: Client,
  elements: Map<number, number>,
  results: readonly PgResult[],
): Promise<void> {
  const types = results.flatMap(({ fields }) =>
    fields.map(({ dataTypeID }: PgResult["fields"][number]) => dataTypeID)
  );
  const unknown = types.filter((type) => type >= FIRST_OWN_TYPE && !elements.has(type));
  if (unknown.length === 0) return;
  const text = "SELECT oid, typelem FROM pg_catalog.pg_type " +
    `WHERE typcategory = 'A' AND oid IN (${unknown.join(", ")})`;
  const { rows } = await client.query(text);
  for (const type of unknown) elements.set(type, 0);
  for (const { oid, typelem } of rows) elements.set(oid, typelem);
}

/** The numbers of the types that a statement has parameters of; none if it has a mistake. */
async function parameterTypes(client: Client, text: string): Promise<readonly number[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let types: readonly number[] = [];
  const setTypes = (message: { readonly dataTypeIDs: readonly number[] }) => {
    types = message.dataTypeIDs;
  };
  client.query({
    submit(connection: Connection) {
      connection.once("parameterDescription", setTypes);
      connection.parse({ text, name: "" });
      connection.describe({ type: "S", name: "" });
      connection.sync();
    },
    handleRowDescription() {},
    // The statement itself will report it.
    handleError: () => resolve(),
    handleReadyForQuery: () => resolve(),
  });
  await promise;
  client.connection.off("parameterDescription", setTypes);
  return types;
}

/** Types of JSON, and of lists of it. */
const [JSON_TYPES, JSON_LISTS] = [[114, 3802], [199, 3807]];

/** A map is sent as JSON, and so is a list if the statement wants JSON; else it is an array. */
function toParameter(value: Value, type?: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    if (JSON_TYPES.includes(type!)) return JSON.stringify(value);
    return JSON_LISTS.includes(type!)
      ? value.map((one) => JSON.stringify(one))
      : value.map((one) => toParameter(one));
  }
  return bytesOf(value) ?? JSON.stringify(value);
}

/** Asks the server on a second connection to cancel the statement of another one. */
async function requestCancel(client: Client, { target }: ServerDsn): Promise<void> {
  if (client.processID === null || client.secretKey === null) return;
  const { connect } = await import("node:net");
  const request = new DataView(new ArrayBuffer(16));
  [16, 80_877_102, client.processID, client.secretKey].forEach((word, index) =>
    request.setInt32(index * 4, word)
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = target.socket === undefined
    ? connect({ host: target.host, port: target.port })
    : connect({ path: `${target.socket}/.s.PGSQL.${target.port}` });
  socket.on("error", () => {});
  socket.on("close", () => resolve());
  socket.on("connect", () => socket.end(new Uint8Array(request.buffer)));
  socket.resume();
  await promise;
}

type Parse = (text: string) => Value;

const number: Parse = (text) => numberValue(Number(text));
const truth: Parse = (text) => text === "t";
// A session may have set another form of bytes.
const bytes: Parse = (text) =>
  text.startsWith("\\x") ? bytesValue(Uint8Array.fromHex(text.slice(2))) : text;
const asText: Parse = (text) => text;

/** Types that are not text, by number; the second is the number of their arrays. */
const TYPES: readonly (readonly [number, number, Parse])[] = [
  [16, 1000, truth],
  [17, 1001, bytes],
  [20, 1016, (text) => integer(BigInt(text))],
  [21, 1005, number],
  [23, 1007, number],
  [26, 1028, number],
  [700, 1021, number],
  [701, 1022, number],
  [114, 199, jsonOrText],
  [3802, 3807, jsonOrText],
  [1114, 1115, timeValue],
  [1184, 1185, timeValue],
  [1266, 1270, timeValue],
];

/** Arrays of types that stay text: char, name, text, uuid, inet, numeric, date, interval, … */
const TEXT_ARRAYS = [
  ...[143, 651, 775, 791, 1002, 1003, 1008, 1009, 1014, 1015, 1034, 1040, 1041, 1182, 1183, 1187],
  ...[1231, 1561, 1563, 2287, 2951, 3643, 3905, 3907, 3909, 3911, 3913, 3927],
];

const PARSERS: ReadonlyMap<number, Parse> = new Map([
  ...TYPES.flatMap(([type, array, parse]): [number, Parse][] => [
    [type, parse],
    [array, (text) => parseArray(text, parse)],
  ]),
  ...TEXT_ARRAYS.map((type): [number, Parse] => [type, (text) => parseArray(text, asText)]),
]);

/** Returns the reader for the text of a value of the type with this number. */
function parserOf(type: number): Parse {
  return PARSERS.get(type) ?? asText;
}

/** Reads `{1,NULL,"a \"b\"",{2}}`; bounds before it, `[0:1]={…}`, are left out. */
function parseArray(text: string, parse: Parse): Value {
  const stack: Value[][] = [[]];
  for (const [part, quoted] of text.matchAll(/"((?:[^"\\]|\\.)*)"|[{}]|[^{},"]+/gs)) {
    if (part === "{") {
      stack.push([]);
    } else if (part === "}") {
      const list = stack.pop()!;
      stack.at(-1)!.push(list);
    } else if (stack.length > 1) {
      const value = quoted === undefined
        ? part === "NULL" ? null : parse(part)
        : parse(quoted.replace(/\\(.)/gs, "$1"));
      stack.at(-1)!.push(value);
    }
  }
  return stack[0]![0] ?? [];
}
