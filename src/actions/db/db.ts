import { isTemplate } from "../../expr/template/template_data.ts";
import { withoutSecretNames } from "../../secrets/secrets.ts";
import { isDict } from "../../base/value/value.ts";
import type { Action, Dict, HideSecrets, ParameterProblem, Value } from "../../action/action.ts";
import { isGiven } from "../../action/parameters.ts";
import { sharingParameters } from "../../action/shared_connection.ts";
import { checkTls, TLS_PARAMETER } from "../../action/tls/tls_parameter.ts";

/** Queries a database. */
export const db: Action = {
  name: "db",
  summary: "Queries PostgreSQL, MySQL, MariaDB and SQLite",
  parameters: [
    {
      name: "dsn",
      type: "string",
      summary:
        "The database: `postgres://user:password@host:5432/name`, `mysql://user:password@host:3306/name`, the path of a SQLite file, or `:memory:`",
      required: true,
    },
    { name: "query", type: "string", summary: "A statement" },
    {
      name: "params",
      type: ["list", "map"],
      summary:
        "Values for the statement: a list for its placeholders (`$1` of PostgreSQL, `?` of the others), or a map for `:name`",
      hide: hideNames,
    },
    {
      name: "file",
      type: "string",
      summary: "The path of a file with statements",
      namesFile: "any",
    },
    {
      name: "transaction",
      type: "list",
      summary:
        "Statements that take effect together or not at all: each a text, or a map of `query` and `params`",
      hide: (statements, mask) => hideIn(statements, "params", hideNames, mask),
    },
    {
      name: "rows",
      type: "string",
      summary: "What a row is: `objects` by column name, or `arrays`",
      default: "objects",
    },
    {
      name: "max_rows",
      type: "integer",
      summary: "How many rows are kept; the rest is cut off, with a warning",
      default: "10000",
    },
    TLS_PARAMETER,
    ...sharingParameters("connection", "job and DSN"),
    {
      name: "timeout",
      type: "duration",
      summary: "How long connecting and all statements may take",
      default: "the timeout of the step",
    },
  ],
  alternatives: [{ names: ["query", "file", "transaction"], required: true }],
  responseFields: [
    { name: "code", type: "int" },
    { name: "rows", type: "array", hide: hideColumns },
    { name: "rows_affected", type: "int" },
    { name: "columns", type: "array" },
    {
      name: "results",
      type: "array",
      hide: (results, mask) => hideIn(results, "rows", hideColumns, mask),
    },
    { name: "truncated", type: "bool" },
    { name: "error", type: "string" },
    { name: "error_code", type: "string" },
  ],
  check: (params) => [...checkStatements(params), ...checkTls(params)],
  exampleTest: "res.rows[0].id == 1",
  explainer: async () => (await import("./explain_db.ts")).dbExplainer,
  load: async () => (await import("./run_db.ts")).runDb,
};

/** Hides the values of secret names, however short they are. */
function hideNames(values: Value, mask: string): Value {
  return isDict(values) ? withoutSecretNames(values, mask) : values;
}

/** Hides what columns of secret names hold. */
function hideColumns(rows: Value, mask: string): Value {
  return Array.isArray(rows) ? rows.map((row) => hideNames(row, mask)) : rows;
}

/** Hides it in a field of each map of a list. */
function hideIn(list: Value, field: string, hide: HideSecrets, mask: string): Value {
  if (!Array.isArray(list)) return list;
  return list.map((one) =>
    isDict(one) && one[field] !== undefined ? { ...one, [field]: hide(one[field], mask) } : one
  );
}

const KINDS = ["query", "file", "transaction"];

function checkStatements(params: Dict): readonly ParameterProblem[] {
  const given = KINDS.filter((name) => isGiven(params, name));
  if (given.length === 0) {
    return [{ path: [], message: 'db needs "query", "file" or "transaction"' }];
  }
  if (given.length > 1) {
    const message = `"${given[0]}" and "${given[1]}" cannot be combined`;
    return [{ path: [given[1]!], at: "key", message }];
  }
  const problems: ParameterProblem[] = [];
  if (isGiven(params, "params") && given[0] !== "query") {
    const message = `"params" belongs to "query", not to "${given[0]}"`;
    const hint = given[0] === "file" ? undefined : "write - { query: …, params: … } in the list";
    problems.push({ path: ["params"], at: "key", message, ...hint ? { hint } : {} });
  }
  const { rows, max_rows: most } = params;
  if (isGiven(params, "rows") && !isTemplate(rows!) && rows !== "objects" && rows !== "arrays") {
    problems.push({ path: ["rows"], message: '"rows" must be "objects" or "arrays"' });
  }
  if (typeof most === "number" && most < 0) {
    problems.push({ path: ["max_rows"], message: '"max_rows" must not be negative' });
  }
  return problems;
}
