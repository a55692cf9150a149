import { StepError } from "../../base/errors.ts";
import { canBeSecret, isSecretName } from "../../secrets/secrets.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, Dict, Value } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { checkNet, checkSocketFile } from "../../action/net/open_socket.ts";
import { inTurn, type Turns } from "../../action/net/in_turn.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { onAbort } from "../../action/on_abort.ts";
import { type ParameterReader, readParameters, required } from "../../action/read_parameters.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import { readStepText } from "../../action/step_file.ts";
import type { DbConnection, DbOutcome, Statement, StatementResult } from "./database.ts";
import { type DatabaseTarget, readDsn } from "./read_dsn.ts";
import { readServerTls } from "./ssl_mode.ts";
import { bindNames } from "./statements.ts";

/** The default number of rows that are kept. */
const MOST_ROWS = 10_000;

/** Milliseconds that a database has to end what it was asked to end. */
const PATIENCE = 2000;

/** The statements of a step, which run in order, in a transaction or not. */
interface Work {
  readonly statements: readonly Statement[];
  readonly isTransaction: boolean;
}

/** A connection for all that use it, one at a time; absent until it is needed, or once lost. */
interface Session extends Turns {
  connection: DbConnection | undefined;
}

/** Carries out statements. What the database refuses is a result; no connection is an error. */
export async function runDb(params: Dict, context: ActionContext): Promise<ActionResult> {
  const read = readParameters("db", params);
  const dsn = required("db", "dsn", read.string("dsn"));
  // Parsing it for each of many steps takes as long as the rest of the work here.
  const target = context.scope.run.resource(
    `db target:${dsn}`,
    () => readDsn(dsn, context.secrets),
  );
  const form = readForm(read);
  const work = await readWork(read, target, context);
  const session = shareConnection(
    "db",
    params,
    context.scope,
    `${dsn}:${JSON.stringify(params.tls ?? null)}`,
    (): Session => ({ connection: undefined, turn: Promise.resolve() }),
    ({ connection }) => connection?.close(),
  );
  const answer = await inTurn(session, context, async () => {
    const { context: limited, release } = limitAction(context, read.duration("timeout"));
    try {
      if (session.connection?.isLost) session.connection = undefined;
      const connection = session.connection ??= await connect(target, params, limited);
      const answer = carryOut(connection, work, form, limited);
      return await guard(session, connection, target, limited, answer);
    } finally {
      release();
    }
  });
  return toResult(target, params, form, answer, context);
}

async function connect(
  target: DatabaseTarget,
  params: Dict,
  context: ActionContext,
): Promise<DbConnection> {
  if (target.dialect === "sqlite") {
    const { openSqlite } = await import("./sqlite.ts");
    return await openSqlite(target, context);
  }
  const { server } = target;
  if (server.socket === undefined) await checkNet(server, context);
  else await checkSocketFile(server.socket, `cannot connect to ${nameOf(target)}`, "dsn", context);
  const tls = await readServerTls(target, params, context);
  const request = { server, context, ...tls ? { tls } : {} };
  return target.dialect === "postgres"
    ? await (await import("./postgres.ts")).connectPostgres(request)
    : await (await import("./mysql.ts")).connectMysql(request);
}

/** Waits for the answer. When the attempt ends first, the database ends its work. */
async function guard(
  session: Session,
  connection: DbConnection,
  target: DatabaseTarget,
  context: ActionContext,
  answer: Promise<DbOutcome>,
): Promise<DbOutcome> {
  const stopped = Promise.withResolvers<never>();
  const forget = onAbort(context.signal, stopped.reject);
  const place = nameOf(target);
  try {
    return await Promise.race([answer, stopped.promise]);
  } catch (error) {
    if (error instanceof StepError) {
      const late = Promise.withResolvers<"late">();
      const limit = context.deadline.after(PATIENCE, () => late.resolve("late"));
      const ended = Promise.all([connection.cancel(), answer]).catch(() => {});
      const isLate = await Promise.race([ended, late.promise]) === "late";
      limit.cancel();
      if (isLate) giveUp(session);
      throw new StepError(`${error.message} while waiting for ${place}`, error.hint);
    }
    giveUp(session);
    if (target.dialect === "sqlite") throw error;
    const { words, hint } = await explainConnection(error, target.server, context.host.clock);
    throw new StepError(`the connection to ${place} was lost: ${words}`, hint, { cause: words });
  } finally {
    forget();
  }
}

function giveUp(session: Session): void {
  session.connection?.destroy();
  session.connection = undefined;
}

/** A database in words: `PostgreSQL at localhost port 5432`. */
function nameOf(target: DatabaseTarget): string {
  if (target.dialect === "sqlite") return `the SQLite database "${target.path}"`;
  const place = target.server.socket ?? placeOf(target.server);
  return `${target.dialect === "postgres" ? "PostgreSQL" : "MySQL"} at ${place}`;
}

async function carryOut(
  connection: DbConnection,
  { statements, isTransaction }: Work,
  { most }: Form,
  { signal }: ActionContext,
): Promise<DbOutcome> {
  const results: StatementResult[] = [];
  if (isTransaction) {
    const { error } = await connection.run({ text: "BEGIN" }, 0);
    if (error) return { results, error };
  }
  for (const statement of statements) {
    const { results: own, error } = await connection.run(statement, most);
    results.push(...own);
    // A statement that the database was asked to end may end without an error.
    if (!error && !signal.aborted) continue;
    if (isTransaction) await connection.run({ text: "ROLLBACK" }, 0);
    return { results, ...error ? { error } : {} };
  }
  if (!isTransaction) return { results };
  const { error } = await connection.run({ text: "COMMIT" }, 0);
  return { results, ...error ? { error } : {} };
}

async function readWork(
  read: ParameterReader,
  { dialect }: DatabaseTarget,
  context: ActionContext,
): Promise<Work> {
  const file = read.string("file");
  if (file !== undefined) {
    const text = await readStepText({ what: "the file", path: file, parameter: "file" }, context);
    return { statements: [{ text }], isTransaction: false };
  }
  const list = read.list("transaction");
  if (list) {
    const statements = list.map((one, index) => {
      const { query, params } = isDict(one) ? one : { query: one, params: undefined };
      if (typeof query === "string") return bindNames(query, params, dialect);
      throw new StepError(
        `cannot run db: statement ${index + 1} of "transaction" must be a text or a map with ` +
          `"query", not ${describeValue(one)}`,
        undefined,
        { parameter: "transaction" },
      );
    });
    return { statements, isTransaction: true };
  }
  const query = required("db", "query", read.string("query"));
  if (query.trim() === "") {
    throw new StepError('cannot run db: "query" is empty', undefined, { parameter: "query" });
  }
  return { statements: [bindNames(query, read.any("params"), dialect)], isTransaction: false };
}

/** The forms of rows. */
interface Form {
  readonly isArrays: boolean;
  readonly most: number;
}

function readForm(read: ParameterReader): Form {
  const rows = read.string("rows") ?? "objects";
  const most = read.integer("max_rows") ?? MOST_ROWS;
  if (rows !== "objects" && rows !== "arrays") {
    throw new StepError(
      `cannot run db: "rows" must be "objects" or "arrays", not ${JSON.stringify(rows)}`,
      undefined,
      { parameter: "rows" },
    );
  }
  if (most < 0) {
    throw new StepError(`cannot run db: "max_rows" must be at least 0, not ${most}`, undefined, {
      parameter: "max_rows",
    });
  }
  return { isArrays: rows === "arrays", most };
}

function toResult(
  target: DatabaseTarget,
  params: Dict,
  form: Form,
  { results, error }: DbOutcome,
  context: ActionContext,
): ActionResult {
  // Of maps, the names of the columns are those of secrets by themselves.
  if (form.isArrays) { for (const result of results) addSecrets(result, context); }
  const shaped = results.map((result) => shape(result, form));
  const last = error ? undefined : shaped.at(-1);
  const isTruncated = results.some((result) => result.isTruncated);
  if (isTruncated) {
    context.warn(`only the first ${form.most} rows are kept: "max_rows" says how many`);
  }
  const { query, params: values, file, transaction, timeout } = params;
  const code = error ? 1 : 0;
  const rows = last?.rows ?? [];
  const affected = last?.rows_affected ?? 0;
  return {
    req: {
      driver: target.dialect,
      dsn: target.shown,
      ...query === undefined ? {} : { query },
      ...values === undefined ? {} : { params: values },
      ...file === undefined ? {} : { file },
      ...transaction === undefined ? {} : { transaction },
      ...timeout === undefined ? {} : { timeout },
    },
    res: {
      code,
      rows,
      rows_affected: affected,
      columns: last?.columns ?? [],
      results: shaped.length > 1 ? shaped : [],
      truncated: isTruncated,
      error: error?.message ?? "",
      error_code: error?.code ?? "",
    },
    status: code,
    brief: error ? error.code : affected === 1 ? "1 row" : `${affected} rows`,
  };
}

function shape({ columns, rows, rowsAffected }: StatementResult, { isArrays }: Form) {
  const shaped: Value[] = isArrays
    ? [...rows]
    : rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]!])));
  return { columns, rows: shaped, rows_affected: rowsAffected };
}

function addSecrets({ columns, rows }: StatementResult, { secrets }: ActionContext): void {
  for (const [index, column] of columns.entries()) {
    if (!isSecretName(column)) continue;
    for (const row of rows) {
      const value = row[index];
      if (typeof value === "string" && canBeSecret(column, value)) secrets.add(value);
    }
  }
}
