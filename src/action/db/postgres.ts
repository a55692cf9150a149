import type { Client, Result } from "pg";
import { StepError } from "../../source/errors.ts";
import type { Value } from "../action.ts";
import { codeOf, explainConnection, placeOf } from "../net/explain_connection.ts";
import {
  bytesOf,
  type Connection,
  type ConnectRequest,
  type Outcome,
  type Server,
  type StatementResult,
} from "./database.ts";
import { parserOf } from "./postgres_values.ts";

/** Connects to PostgreSQL and signs in. */
export async function connectPostgres(request: ConnectRequest): Promise<Connection> {
  const { server, tls, context } = request;
  const { default: pg } = await import("pg");
  const { socket, database, user, password } = server;
  const open = async (isSecure: boolean) => {
    const client = new pg.Client({
      host: socket ?? server.host,
      port: server.port,
      ...user === undefined ? {} : { user },
      ...password === undefined ? {} : { password },
      ...database === undefined ? {} : { database },
      ssl: isSecure && tls ? { ...tls.options } : false,
      application_name: "runner",
    });
    // An error that comes between two statements shows in the next one.
    client.on("error", () => {});
    const { reject, promise } = Promise.withResolvers<never>();
    const stop = () => reject(context.signal.reason);
    context.signal.addEventListener("abort", stop, { once: true });
    try {
      if (context.signal.aborted) throw context.signal.reason;
      await Promise.race([client.connect(), promise]);
      const formats = client.query("SET DateStyle TO ISO; SET IntervalStyle TO iso_8601");
      await Promise.race([formats, promise]);
      return client;
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    } finally {
      context.signal.removeEventListener("abort", stop);
    }
  };
  try {
    return toConnection(await openSecurely(open, request), server);
  } catch (error) {
    throw await explain(error, request);
  }
}

async function openSecurely(
  open: (isSecure: boolean) => Promise<Client>,
  { server, tls }: ConnectRequest,
): Promise<Client> {
  if (!tls || server.socket !== undefined) return await open(false);
  try {
    return await open(true);
  } catch (error) {
    if (!tls.isOptional || !speaksPlainly(error)) throw error;
    return await open(false);
  }
}

function speaksPlainly(error: unknown): boolean {
  return error instanceof Error && error.message.includes("does not support SSL");
}

async function explain(error: unknown, { server, tls, context }: ConnectRequest) {
  const place = server.socket ?? placeOf(server);
  const doing = `cannot connect to PostgreSQL at ${place}`;
  if (error instanceof StepError) {
    return new StepError(`${error.message} while connecting to PostgreSQL at ${place}`, error.hint);
  }
  if (isAnswer(error)) {
    const isSignIn = /^28/.test(error.code);
    return new StepError(
      `${doing}: ${isSignIn ? "sign-in failed: " : ""}${error.message} (${error.code})`,
      isSignIn ? 'check the user name and the password in "dsn"' : undefined,
    );
  }
  if (speaksPlainly(error)) {
    return new StepError(
      `${doing}: the server does not speak TLS`,
      "write sslmode=disable or sslmode=prefer in the DSN to go without",
    );
  }
  if (error instanceof Error && /password must be a string/.test(error.message)) {
    return new StepError(
      `${doing}: the server asks for a password`,
      'write it in "dsn": postgres://user:password@host/name',
    );
  }
  const { words, hint } = await explainConnection(error, server, context.host.clock, tls?.options);
  return new StepError(`${doing}: ${words}`, hint, { cause: words });
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

function toConnection(client: Client, server: Server): Connection {
  let isLost = false;
  client.on("end", () => isLost = true);
  return {
    get isLost() {
      return isLost;
    },
    async run({ text, values }, most): Promise<Outcome> {
      try {
        const answer = await client.query({
          text,
          ...values ? { values: values.map(toParameter) } : {},
          rowMode: "array",
          types: { getTypeParser: parserOf },
        });
        const results = Array.isArray(answer) ? answer : [answer];
        return { results: results.map((result) => toResult(result, most)) };
      } catch (error) {
        if (!isAnswer(error)) throw error;
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

function toResult(result: Result, most: number): StatementResult {
  return {
    columns: result.fields.map(({ name }: { readonly name: string }) => name),
    rows: result.rows.slice(0, most) as Value[][],
    rowsAffected: result.rowCount ?? result.rows.length,
    isTruncated: result.rows.length > most,
  };
}

/** A map is sent as JSON; a list, as an array of the database. */
function toParameter(value: Value): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toParameter);

  return bytesOf(value) ?? JSON.stringify(value);
}

/** Asks the server on a connection of its own to end what runs on another. */
async function requestCancel(client: Client, server: Server): Promise<void> {
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
