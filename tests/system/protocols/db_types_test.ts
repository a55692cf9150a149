import { assertEquals } from "@std/assert";
import { COLUMN_TYPES } from "../../../scripts/docs/column_types.ts";
import { db } from "../../../src/actions/db/db.ts";
import { runnerOf } from "../../support/run_action.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { mariadbServer, postgresServer } from "../servers/database_servers.ts";

const runDb = runnerOf(db);

const PASSWORD = "open-sesame-42";

/** Reads a value of each type from a column of a table, by text and with parameters. */
async function prove(database: string, dsn: string, before: string): Promise<void> {
  await using context = actionContext();
  const run = async (with_: Dict) => {
    const { res } = await runDb({ dsn, ...with_ }, context);
    assertEquals(res.error, "", JSON.stringify(with_));
    return res;
  };
  const types = COLUMN_TYPES[database]!;
  await run({ query: before });
  const columns = types.map(([type], index) =>
    `c${index} ${type.replace(/(?<=\w|\)), [A-Z].*| \(.*\)$/, "")}`
  );
  await run({ query: `CREATE TABLE all_types (${columns.join(", ")})` });
  await run({ query: `INSERT INTO all_types VALUES (${types.map(([, sql]) => sql).join(", ")})` });
  const expected = Object.fromEntries(types.map(([, , value], index) => [`c${index}`, value]));
  const plain = await run({ query: "SELECT * FROM all_types" });
  assertEquals((plain.rows as Dict[])[0], expected);
  const bound = await run({ query: "SELECT * FROM all_types WHERE 1 = :one", params: { one: 1 } });
  assertEquals((bound.rows as Dict[])[0], expected);
}

Deno.test("the table of column types in the documents is true of PostgreSQL", async () => {
  await using server = await postgresServer(PASSWORD);
  const dsn = `postgres://app:${PASSWORD}@127.0.0.1:${server.port}/postgres`;
  const before = "SET TIME ZONE 'UTC'; SET lc_monetary TO 'C'; " +
    "CREATE TYPE mood AS ENUM ('happy'); CREATE TYPE pair AS (a int, b text)";
  await prove("PostgreSQL", dsn, before);
});

Deno.test("the table of column types in the documents is true of MariaDB", async () => {
  await using server = await mariadbServer(PASSWORD);
  const dsn = `mysql://app:${PASSWORD}@127.0.0.1:${server.port}/test`;
  await prove("MariaDB", dsn, "SET time_zone = '+00:00'");
});

Deno.test("the table of column types in the documents is true of SQLite", async () => {
  await prove("SQLite", ":memory:", "SELECT 1");
});
