import { countOf } from "../../base/text/count_of.ts";
import { canBeSecret, isSecretName, withoutSecretNames } from "../../secrets/secrets.ts";
import { isDict } from "../../base/value/value.ts";
import { dataIn } from "../../base/value/parse_json.ts";
import type { Dict, SecretSink, Value } from "../../action/action.ts";
import { type HideSecrets, isGiven } from "../../action/parameter.ts";
import { BACKGROUND, checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import {
  choice,
  either,
  integer,
  list,
  map,
  type Param,
  sharing,
  text,
  timeout,
  value,
} from "../../action/rule.ts";
import { type Tls, tls } from "../../action/tls/tls.ts";
import {
  bindNames,
  type Driver,
  missingName,
  type QueryResult,
  type Result,
  type Statement,
} from "./driver.ts";
import { type Dsn, MYSQL_REFUSALS, POSTGRES_REFUSALS, readDsn } from "./dsn.ts";

const hideNames: HideSecrets = (values, mask) =>
  isDict(values) ? withoutSecretNames(values, mask) : values;

const hideColumns: HideSecrets = (rows, mask) =>
  Array.isArray(rows) ? rows.map((row) => hideNames(row, mask)) : rows;

const hideResults: HideSecrets = (results, mask) =>
  Array.isArray(results)
    ? results.map((one) => isDict(one) ? { ...one, rows: hideColumns(one.rows ?? [], mask) } : one)
    : results;

const query = () => text("A statement").as(notEmpty);
const values = (summary: string) => value(["list", "map"], summary).with({ hide: hideNames });

/** Queries a database. */
export const db = action({
  name: "db",
  summary: "Queries PostgreSQL, MySQL, MariaDB and SQLite",
  params: {
    dsn: text(
      "The database: `postgres://user:password@host:5432/name`, `mysql://user:password@host:3306/name`, the path of a SQLite file, or `:memory:`",
    ).as(readDsn).required(),
    query: query(),
    params: values(
      "Values for the statement: a list for its placeholders (`$1` of PostgreSQL, `?` of the others), or a map for `:name`",
    ),
    file: text("The path of a file with statements").with({ namesFile: "any" }),
    transaction: list(
      either(query(), map({ query: query().required(), params: values("Its values") }, "")),
      "Statements that take effect together or not at all: each a text, or a map of `query` and `params`",
    ),
    listen: text("A channel of PostgreSQL, for a step with `background: true`").as(notEmpty),
    background: BACKGROUND,
    rows: choice(["objects", "arrays"], "What a row is: `objects` by column name, or `arrays`")
      .default("objects"),
    max_rows: integer("How many rows are kept; the rest is cut off, with a warning", { min: 0 })
      .default(10_000),
    tls: tls(),
    ...sharing("connection", "job and DSN"),
    ...timeout("How long connecting and all statements may take"),
  },
  oneOf: ["query", "file", "transaction", "listen"],
  check(all, param, raw) {
    const { dsn, params, query, file } = all;
    checkBackground(param, raw, ["query", "file", "transaction", "connection", "fresh"]);
    if (isGiven(raw, "listen")) {
      if (all.background === false) {
        const hint = 'a step with "uses: receive" then takes what is notified';
        param.of("listen").wrong('"listen" needs "background: true"', hint, { at: "key" });
      }
      if (dsn && dsn.dialect !== "postgres") {
        param.of("listen").wrong('"listen" needs PostgreSQL', undefined, { at: "key" });
      }
    }
    if (params && !query) {
      const [other, hint] = file === undefined
        ? ["transaction", "write - { query: …, params: … } in the list"]
        : ["file"];
      const message = `"params" belongs to "query", not to "${other}"`;
      param.of("params").wrong(message, hint, { at: "key" });
    }
    for (const statement of dsn ? statementsOf(all) : []) {
      const wrong = missingName(statement, dsn!.dialect);
      if (wrong) param.of(query === undefined ? "transaction" : "params").wrong(...wrong);
    }
  },
  res: {
    code: { type: "int", summary: "0, or 1 after an error of the database" },
    rows: {
      type: "array",
      summary: "the rows of the last statement: maps by column, or lists with `rows: arrays`",
      hide: hideColumns,
    },
    rows_affected: {
      type: "int",
      summary:
        "how many rows the last statement changed, or returned; for MySQL not those that it left as they were",
    },
    columns: { type: "array", summary: "the names of the columns of these rows" },
    results: {
      type: "array",
      summary: "of several statements: `rows`, `rows_affected` and `columns` of each",
      hide: hideResults,
    },
    truncated: { type: "bool", summary: "whether there were more rows than `max_rows`" },
    error: { type: "string", summary: 'what the database refused, else `""`' },
    error_code: {
      type: "string",
      summary:
        'the code of the error: `23505`, `ER_DUP_ENTRY`, `SQLITE_CONSTRAINT_UNIQUE`, else `""`',
    },
  },
  messages: {
    channel: { type: "string", summary: "the channel that it came on" },
    body: { type: "any", summary: "what was notified: data of JSON, else text" },
    raw: { type: "string", summary: "the same as text" },
  },
  usage: `with:
  dsn: ":memory:"
  query: SELECT 1 AS id, 'tea' AS product`,
  example: "res.rows[0].id == 1",
  target: ({ dsn }) => dsn.target,
  connection: {
    by: ["dsn", "tls"],
    open: ({ dsn, tls }, attempt) => open(dsn, tls, attempt),
    isLost: (driver) => driver.isLost,
    cancel: (driver) => driver.cancel(),
    close: (driver) => driver.close(),
    drop: (driver) => driver.drop(),
  },
  refusals: [...POSTGRES_REFUSALS, ...MYSQL_REFUSALS],
  subscribe: async (driver, { dsn, listen = "" }, open, attempt) => {
    const keep = (channel: string, raw: string) =>
      open.add({ channel, body: dataIn(raw), raw }, raw.length);
    const ended = () => open.end(`${attempt.address} closed the connection`);
    const asked = driver.listen!(listen, keep, ended);
    await attempt.during(`waiting for ${attempt.peer}`, asked, `cannot listen to "${listen}"`);
    return {
      req: { driver: dsn.dialect, dsn: dsn.shown, listen },
      res: {
        ...{ code: 0, rows: [], rows_affected: 0, columns: [], results: [] },
        ...{ truncated: false, error: "", error_code: "" },
      },
      brief: "listening",
    };
  },
  /** A refusal by the database is a result; a missing connection is an error. */
  run: async (driver, params, attempt, raw) => {
    const { dsn, file, transaction, rows: form, max_rows: maxRows } = params;
    const statements = file === undefined
      ? statementsOf(params).map(({ text, params }) => bindNames(text, params, dsn.dialect))
      : [{ text: await attempt.readText(file, "file") }];
    const { results, error } = await carryOut(driver, statements, !!transaction, maxRows, attempt);
    // Of maps, the names of the columns are those of secrets by themselves.
    if (form === "arrays") {
      for (const result of results) addSecrets(result, attempt.context.secrets);
    }
    const shaped = results.map((result) => shape(result, form));
    const last = error ? undefined : shaped.at(-1);
    const isTruncated = results.some((result) => result.isTruncated);
    if (isTruncated) {
      attempt.context.warn(`only the first ${maxRows} rows are kept: "max_rows" says how many`);
    }
    const affected = last?.rows_affected ?? 0;
    return {
      req: { driver: dsn.dialect, dsn: dsn.shown, ...pick(raw, SHOWN) },
      res: {
        code: error ? 1 : 0,
        rows: last?.rows ?? [],
        rows_affected: affected,
        columns: last?.columns ?? [],
        results: shaped.length > 1 ? shaped : [],
        truncated: isTruncated,
        error: error?.message ?? "",
        error_code: error?.code ?? "",
      },
      status: error ? 1 : 0,
      brief: error ? error.code : countOf(affected, "row"),
    };
  },
  describe: (req, res) => ({
    // Parameters that are null are shown in JSON.
    request: { title: `${req.driver} ${req.dsn}`, covered: ["driver", "dsn"], asJson: ["params"] },
    ...res && {
      response: {
        title: res.error === ""
          ? countOf(Number(res.rows_affected), "row")
          : `${res.error_code}: ${res.error}`,
        // The columns are the head of the table.
        covered: [
          ...["code", "rows_affected", "error", "error_code"],
          isEmpty(res.rows) ? "rows" : "columns",
        ],
        asTable: ["rows"],
        minor: [
          ...res.truncated === false ? [["truncated"]] : [],
          ...isEmpty(res.results) ? [["results"]] : [],
        ],
      },
    },
  }),
  testHint: (parts) =>
    parts.includes("status") || parts.includes("res.code")
      ? "status is 1 if the database refused a statement; res.error and res.error_code say why"
      : undefined,
});

/** Loads the driver of a database when it is used. */
async function open(target: Dsn, tls: Tls | undefined, attempt: ActionAttempt): Promise<Driver> {
  switch (target.dialect) {
    case "postgres":
      return await (await import("./postgres.ts")).openPostgres(target, tls, attempt);
    case "mysql":
      return await (await import("./mysql.ts")).openMysql(target, tls, attempt);
    case "sqlite":
      return await (await import("./sqlite.ts")).openSqlite(target, tls, attempt);
  }
}

/** The statements of the parameters, before names are bound; none of a file. */
function statementsOf({ query, params, transaction }: {
  readonly query?: string | undefined;
  readonly params?: Value | undefined;
  readonly transaction?:
    | readonly (string | { readonly query: string; readonly params?: Value | undefined })[]
    | undefined;
}): readonly { readonly text: string; readonly params?: Value | undefined }[] {
  if (query !== undefined) return [{ text: query, params }];
  return (transaction ?? []).map((one) =>
    typeof one === "string" ? { text: one } : { text: one.query, params: one.params }
  );
}

/** Carries out statements in order, in a transaction or not. */
async function carryOut(
  driver: Driver,
  statements: readonly Statement[],
  isTransaction: boolean,
  maxRows: number,
  { signal }: ActionAttempt,
): Promise<QueryResult> {
  const results: Result[] = [];
  if (isTransaction) {
    const { error } = await driver.run({ text: "BEGIN" }, 0);
    if (error) return { results, error };
  }
  for (const statement of statements) {
    const { results: added, error } = await driver.run(statement, maxRows);
    results.push(...added);
    // A statement that the database was asked to end may end without an error.
    if (!error && !signal.aborted) continue;
    if (isTransaction) await driver.run({ text: "ROLLBACK" }, 0);
    return { results, ...error && { error } };
  }
  const { error } = isTransaction ? await driver.run({ text: "COMMIT" }, 0) : {};
  return { results, ...error && { error } };
}

function shape({ columns, rows, rowsAffected }: Result, form: "objects" | "arrays") {
  const shaped: readonly Value[] = form === "arrays"
    ? rows
    : rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]!])));
  return { columns, rows: shaped, rows_affected: rowsAffected };
}

function addSecrets({ columns, rows }: Result, secrets: SecretSink): void {
  for (const [index, column] of columns.entries()) {
    if (!isSecretName(column)) continue;
    for (const { [index]: value } of rows) {
      if (typeof value === "string" && canBeSecret(column, value)) secrets.add(value);
    }
  }
}

/** Parameters that reports show as they were given. */
const SHOWN = ["query", "params", "file", "transaction", "timeout"];

function pick(map: Dict, names: readonly string[]): Dict {
  return Object.fromEntries(Object.entries(map).filter(([name]) => names.includes(name)));
}

function notEmpty(query: string, param: Param): string {
  if (query.trim() === "") throw param.wrong(`${param.name} is empty`);
  return query;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
