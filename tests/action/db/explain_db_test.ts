import { assertEquals, assertStringIncludes } from "@std/assert";
import { withFiles } from "../../support/temp_dir.ts";
import { runHere } from "../../support/run/run_main.ts";

const FLOW = `
name: Table
jobs:
  - name: Users
    defaults: { db: { dsn: ":memory:" } }
    steps:
      - uses: db
        with: { query: "CREATE TABLE users (id INTEGER, name TEXT, password TEXT)" }
      - uses: db
        with:
          query: INSERT INTO users VALUES (1, 'Ann', :password), (20, NULL, upper('another-one-77'))
          params: { password: pw1 }
      - uses: db
        with: { query: "SELECT * FROM users" }
        test: res.rows_affected == 3
      - uses: db
        with: { query: "SELECT * FROM users", rows: arrays }
        test: res.rows_affected == 3
      - uses: db
        with:
          transaction:
            - query: UPDATE users SET password = :password WHERE id = 1
              params: { password: pw7 }
            - SELECT password FROM users
            - SELECT 1
        test: res.rows_affected == 3
      - uses: db
        with: { query: "SELECT * FROM no_such" }
        test: res.rows_affected == 3
`;

Deno.test("reports show parameters that are null", async () => {
  const flow = `
name: Nothing
jobs:
  - name: Users
    steps:
      - uses: db
        with: { dsn: ":memory:", query: "SELECT 1 WHERE :id = 1", params: { id: null, name: Ann } }
        test: len(res.rows) == 1
`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const { stdout } = await runHere(["w.yml"], { cwd });
    assertStringIncludes(stdout, 'params: {"id": null, "name": "Ann"}');
  });
});

Deno.test("reports show statements and their rows as a table, without what secret columns hold", async () => {
  await withFiles({ "w.yml": FLOW }, async (cwd) => {
    const args = ["-v", "--report-dir", "reports", "w.yml"];
    const { stdout, stderr } = await runHere(args, { cwd });
    assertStringIncludes(
      stdout,
      `        request:
          sqlite :memory:
          query: SELECT * FROM users
        response:
          2 rows
          rows:
            id | name | password
            ---+------+---------
             1 | Ann  | ***
            20 | nil  | ***
`,
    );
    assertStringIncludes(stdout, "SQLITE_ERROR: no such table: no_such");
    assertStringIncludes(stderr, "20 | nil  | ***");
    const reports = [...Deno.readDirSync(`${cwd}/reports`)].map(({ name }) =>
      Deno.readTextFileSync(`${cwd}/reports/${name}`)
    );
    for (const text of [stdout, stderr, ...reports]) {
      assertEquals(text.includes("ANOTHER-ONE-77"), false);
      assertEquals(text.includes("pw7"), false);
    }
    const read = (name: string) => Deno.readTextFileSync(`${cwd}/reports/${name}`);
    assertStringIncludes(read("summary.md"), "20 | nil  | ***");
    assertStringIncludes(read("junit.xml"), "20 | nil  | ***");
  });
});
