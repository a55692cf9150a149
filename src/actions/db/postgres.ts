import type pg from "pg";
import type { Client, Connection, Result } from "pg";
import type { StepError } from "../../base/errors.ts";
import type { Value } from "../../action/action.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import { onAbort } from "../../action/on_abort.ts";
import { connectProblem } from "./connect_problem.ts";
import {
  bytesOf,
  type ConnectRequest,
  type DatabaseServer,
  type DbConnection,
  type DbOutcome,
  openInOrder,
  type StatementResult,
} from "./database.ts";
import { lookAtPostgres } from "./look.ts";
import { parseArray, parserOf } from "./postgres_values.ts";

/** Connects to PostgreSQL and signs in. */
export async function connectPostgres(request: ConnectRequest): Promise<DbConnection> {
  const { server, tls, context } = request;
  const { default: pg } = await import("pg");
  const { socket, database, user, password } = server;
  const open = async (isSecure: boolean) => {
    if (context.signal.aborted) throw context.signal.reason;
    const client = new pg.Client({
      host: socket ?? server.host,
      port: server.port,
      ...user === undefined ? {} : { user },
      ...password === undefined ? {} : { password },
      ...database === undefined ? {} : { database },
      ssl: isSecure && tls ? { ...tls.options } : false,
      application_name: server.clientName ?? "runner",
      ...server.settings === undefined ? {} : { options: server.settings },
    });
    // An error that comes between two statements shows in the next one.
    client.on("error", () => {});
    const { reject, promise } = Promise.withResolvers<never>();
    const forget = onAbort(context.signal, reject);
    try {
      await Promise.race([client.connect(), promise]);
      const formats = client.query(
        "SET DateStyle TO ISO; SET IntervalStyle TO iso_8601; SET bytea_output TO hex",
      );
      await Promise.race([formats, promise]);
      return client;
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    } finally {
      forget();
    }
  };
  try {
    const client = await openInOrder(request, open, wantsOther);
    return toConnection({ client, Query: pg.Query, elements: new Map() }, server);
  } catch (error) {
    throw await explain(error, request);
  }
}

/** Whether the server has no TLS, or access rules for connections of the other kind alone. */
function wantsOther(error: unknown): boolean {
  return speaksPlainly(error) || isAnswer(error) && error.code === "28000";
}

function speaksPlainly(error: unknown): boolean {
  return error instanceof Error && error.message.includes("does not support SSL");
}

function explain(error: unknown, request: ConnectRequest): Promise<StepError> {
  return connectProblem("PostgreSQL", error, request, {
    refusal: isAnswer(error)
      ? { code: error.code, isSignIn: error.code.startsWith("28") }
      : undefined,
    isPlain: speaksPlainly(error),
    isForeign: error instanceof Error && /error establishing an SSL/.test(error.message),
    usualPort: 5432,
    look: lookAtPostgres,
  });
}

interface Answer extends Error {
  readonly code: string;
  readonly severity: string;
  readonly detail?: string;
}

/** Whether the server said so, and not the connection. */
function isAnswer(error: unknown): error is Answer {
  return error instanceof Error && "severity" in error && /^[0-9A-Z]{5}$/.test(codeOf(error));
}

/** A client, and what it carries out. */
interface Driver {
  readonly client: Client;
  readonly Query: typeof pg.Query;
  /** The types of elements, by the types that the database defines; 0 for what is not an array. */
  readonly elements: Map<number, number>;
}

function toConnection(driver: Driver, server: DatabaseServer): DbConnection {
  const { client } = driver;
  let isLost = false;
  client.on("end", () => isLost = true);
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, most): Promise<DbOutcome> {
      try {
        const types = values?.some(Array.isArray) ? await parameterTypes(client, text) : [];
        const parameters = values?.map((value, index) => toParameter(value, types[index]));
        return { results: await query(driver, text, parameters, most) };
      } catch (error) {
        if (!isAnswer(error)) throw error;
        if (error.severity === "FATAL") isLost = true;
        const detail = error.detail ? `: ${error.detail}` : "";
        return { results: [], error: { message: error.message + detail, code: error.code } };
      }
    },
    cancel: () => requestCancel(client, server),
    close: () => isLost ? undefined : client.end(),
    destroy() {
      isLost = true;
      client.connection.stream.destroy();
    },
  };
}

/** Carries out statements; of each result no more rows are kept, while they arrive, than asked for. */
async function query(
  driver: Driver,
  text: string,
  values: readonly unknown[] | undefined,
  most: number,
): Promise<StatementResult[]> {
  const { client, Query } = driver;
  const query = new Query({
    text,
    ...values ? { values } : {},
    rowMode: "array",
    types: { getTypeParser: parserOf },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Result | Result[]>();
  const kept = new Map<Result, { readonly rows: Value[][]; count: number }>();
  query.on("row", (row: unknown[], result: Result) => {
    const own = kept.get(result) ?? { rows: [], count: 0 };
    kept.set(result, own);
    if (own.count++ < most) own.rows.push(row as Value[]);
  });
  query.on("end", resolve);
  query.on("error", reject);
  client.query(query);
  const results = [await promise].flat();
  await learnTypes(driver, results);
  return results.map((result: Result) => {
    const { rows, count } = kept.get(result) ?? { rows: [], count: 0 };
    for (const [index, { dataTypeID: type }] of result.fields.entries()) {
      const element = driver.elements.get(type);
      if (!element) continue;
      for (const row of rows) {
        if (typeof row[index] === "string") row[index] = parseArray(row[index], parserOf(element));
      }
    }
    return {
      columns: result.fields.map(({ name }: { readonly name: string }) => name),
      rows,
      rowsAffected: result.rowCount ?? count,
      isTruncated: count > most,
    };
  });
}

/** Types that the database defines, such as enumerations and arrays of them, begin here. */
const FIRST_OWN_TYPE = 16_384;

/** Asks which of the types of results are arrays. */
async function learnTypes(
  { client, elements }: Driver,
  results: readonly Result[],
): Promise<void> {
  const types = results.flatMap(({ fields }) =>
    fields.map(({ dataTypeID }: Result["fields"][number]) => dataTypeID)
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
  const hear = (message: { readonly dataTypeIDs: readonly number[] }) => {
    types = message.dataTypeIDs;
  };
  client.query({
    submit(connection: Connection) {
      connection.once("parameterDescription", hear);
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
  client.connection.off("parameterDescription", hear);
  return types;
}

/** Types of JSON, and of lists of it. */
const [JSON_TYPES, JSON_LISTS] = [[114, 3802], [199, 3807]];

/** A map is sent as JSON; a list too where the statement wants JSON, else as an array. */
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

/** Asks the server on a connection of its own to end what runs on another. */
async function requestCancel(client: Client, server: DatabaseServer): Promise<void> {
  if (client.processID === null || client.secretKey === null) return;
  const { connect } = await import("node:net");
  const request = new DataView(new ArrayBuffer(16));
  [16, 80_877_102, client.processID, client.secretKey].forEach((word, index) =>
    request.setInt32(index * 4, word)
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = server.socket === undefined
    ? connect({ host: server.host, port: server.port })
    : connect({ path: `${server.socket}/.s.PGSQL.${server.port}` });
  socket.on("error", () => {});
  socket.on("close", () => resolve());
  socket.on("connect", () => socket.end(new Uint8Array(request.buffer)));
  socket.resume();
  await promise;
}
