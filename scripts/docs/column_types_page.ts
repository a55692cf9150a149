import { COLUMN_TYPES } from "./column_types.ts";
import { code, makePage, type Page, table } from "./page.ts";

/** Makes the page about the values that `db` returns for the column types of each database. */
export function makeColumnTypesPage(): Page {
  return makePage("column-types.md", "scripts/docs/column_types.ts", [
    "# Column types of databases",
    "",
    "The values in `res.rows` of [db](actions/db.md) for columns of each type. Each row is tested with",
    "a real database. The zone of a `timestamp with time zone` is that of the session, here UTC. MySQL",
    "has no `UUID` and `INET6`; it is not among the databases of the tests.",
    ...Object.entries(COLUMN_TYPES).flatMap(([database, types]) => [
      "",
      `## ${database}`,
      "",
      ...table(
        ["Type", "Value in SQL", "In `res.rows`"],
        types.map(([type, sql, value]) => [
          code(type),
          code(sql),
          value === null ? code("nil") : code(JSON.stringify(value)),
        ]),
      ),
    ]),
  ]);
}
