import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { ActionAttempt } from "../../../src/action/attempt.ts";
import { NoValue, Param } from "../../../src/action/rule.ts";
import { db } from "../../../src/actions/db/db.ts";
import { readDsn, type ServerDsn, serverTls } from "../../../src/actions/db/dsn.ts";
import {
  bindNames,
  countPlaceholders,
  type Dialect,
  splitStatements,
} from "../../../src/actions/db/driver.ts";
import { StepError } from "../../../src/base/errors.ts";
import { runnerOf } from "../../support/run_action.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { runHere } from "../../support/run/run_main.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

const runDb = runnerOf(db);

const memory = (context: TestContext) => async (with_: Dict) => {
  const { res, status } = await runDb({ dsn: ":memory:", ...with_ }, context);
  return { ...res, status } as Dict;
};

Deno.test("db keeps a SQLite database in memory for the steps of a job", async () => {
  await using context = actionContext();
  const run = memory(context);
  const made = await run({ query: "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)" });
  assertEquals([made.status, made.rows, made.columns], [0, [], []]);
  const added = await run({
    query: "INSERT INTO users (name) VALUES (?), (?)",
    params: ["a", "b"],
  });
  assertEquals(added.rows_affected, 2);
  const read = await run({
    query: "SELECT * FROM users WHERE name = :name",
    params: { name: "b" },
  });
  assertEquals([read.rows, read.columns], [[{ id: 2, name: "b" }], ["id", "name"]]);
  const returned = await run({ query: "DELETE FROM users RETURNING id", rows: "arrays" });
  assertEquals([returned.rows, returned.rows_affected], [[[1], [2]], 2]);
  const fresh = await run({ query: "SELECT * FROM users", fresh: true });
  assertEquals([fresh.status, fresh.error_code], [1, "SQLITE_ERROR"]);
  assertEquals(fresh.error, "no such table: users");
});

Deno.test("db reads the values of SQLite by the types that columns declare", async () => {
  await using context = actionContext();
  const run = memory(context);
  await run({
    query: "CREATE TABLE t (i INTEGER, big INTEGER, r REAL, s TEXT, b BLOB, ok BOOLEAN, " +
      "d DATE, dt DATETIME, n DECIMAL(10,2), j JSON)",
  });
  await run({
    query: "INSERT INTO t VALUES (?, 9007199254740993, ?, ?, x'0102', ?, ?, ?, ?, ?)",
    params: [7, 1.5, "text", true, "2024-01-02", "2024-01-02 03:04:05", 9.5, { a: [1] }],
  });
  const { rows } = await run({ query: "SELECT t.*, count(*) AS n2 FROM t" });
  assertEquals(rows, [{
    i: 7,
    big: 9007199254740993n,
    r: 1.5,
    s: "text",
    b: { base64: "AQI=" },
    ok: true,
    d: "2024-01-02",
    dt: "2024-01-02T03:04:05",
    n: "9.5",
    j: { a: [1] },
    n2: 1,
  }]);
  const named = await run({ query: "SELECT typeof(?) a, ? || '' b", params: [true, false] });
  assertEquals(named.rows, [{ a: "integer", b: "0" }]);
});

Deno.test("db reports what SQLite refuses while it returns rows, and values that are missing", async () => {
  await using context = actionContext();
  const run = memory(context);
  await run({ query: "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)" });
  const refused: readonly [Dict, string, string][] = [
    [
      { query: "INSERT INTO t VALUES (1) RETURNING id" },
      "SQLITE_CONSTRAINT_PRIMARYKEY",
      "UNIQUE constraint failed: t.id",
    ],
    [{ query: "SELECT json(iif(id = 1, '1', '{')) FROM t" }, "SQLITE_ERROR", "malformed JSON"],
    [
      { query: "DELETE FROM t WHERE id = ? OR id = ?", params: [1] },
      "SQLITE_RANGE",
      'the statement takes 2 values, and "params" has 1',
    ],
    [
      { query: "DELETE FROM t WHERE id = :id" },
      "SQLITE_RANGE",
      'the statement takes 1 value, and "params" has 0',
    ],
  ];
  for (const [with_, code, message] of refused) {
    const { status, error, error_code, rows } = await run(with_);
    assertEquals([status, error_code, error, rows], [1, code, message, []]);
  }
  assertEquals((await run({ query: "SELECT * FROM t" })).rows, [{ id: 1 }, { id: 2 }]);
});

Deno.test("db counts no rows for statements of SQLite that change none", async () => {
  await using context = actionContext();
  const { results } = await memory(context)({
    query: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); CREATE TABLE u (a); BEGIN; " +
      "UPDATE t SET a = 1; COMMIT; UPDATE t SET a = 2 WHERE a = 5; DELETE FROM t",
  });
  assertEquals((results as Dict[]).map((one) => one.rows_affected), [0, 2, 0, 0, 2, 0, 0, 2]);
});

Deno.test("db undoes a transaction of which a statement fails", async () => {
  await using context = actionContext();
  const run = memory(context);
  await run({ query: "CREATE TABLE t (id INTEGER PRIMARY KEY)" });
  const { status, error_code } = await run({
    transaction: ["INSERT INTO t VALUES (1)", { query: "INSERT INTO t VALUES (?)", params: [1] }],
  });
  assertEquals([status, error_code], [1, "SQLITE_CONSTRAINT_PRIMARYKEY"]);
  assertEquals((await run({ query: "SELECT * FROM t" })).rows, []);
  const good = await run({
    transaction: ["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "SELECT * FROM t"],
  });
  assertEquals(good.rows, [{ id: 1 }, { id: 2 }]);
  assertEquals((good.results as Dict[]).map(({ rows_affected }) => rows_affected), [1, 1, 2]);
});

Deno.test("db carries out all statements of a file", async () => {
  const schema = `
    CREATE TABLE t (a TEXT); -- a comment; with a semicolon
    CREATE TABLE log (a TEXT);
    CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); SELECT 1; END;
    INSERT INTO t VALUES ('x;y');
    SELECT a FROM log;
  `;
  await withFiles({ "schema.sql": schema }, async (dir) => {
    await using context = actionContext();
    const { rows } = await memory(context)({ file: `${dir}/schema.sql` });
    assertEquals(rows, [{ a: "x;y" }]);
    const two = await runDb({ dsn: `${dir}/a.db`, file: `${dir}/schema.sql` }, context);
    assertEquals(two.status, 0);
    const readOnly = `file:${dir}/a.db?mode=ro`;
    const { res } = await runDb({ dsn: readOnly, query: "DELETE FROM t" }, context);
    assertEquals(res.error_code, "SQLITE_READONLY");
  });
});

Deno.test("db keeps as many rows as max_rows says, and warns about the rest", async () => {
  await using context = actionContext();
  const run = memory(context);
  const query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20) " +
    "SELECT x FROM c";
  const { rows, truncated } = await run({ query, max_rows: 2 });
  assertEquals([rows, truncated], [[{ x: 1 }, { x: 2 }], true]);
  assertEquals(context.notes, [
    'warning: only the first 2 rows are kept: "max_rows" says how many',
  ]);
});

Deno.test("db ends a statement that takes longer than its timeout, and goes on after it", async () => {
  await using context = actionContext();
  const run = memory(context);
  // SQLite computes on in its thread, so the statement takes about a second and not a minute.
  const query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 10000000) " +
    "SELECT max(x) FROM c";
  await run({ query: "SELECT 1" });
  await assertRejects(
    () => run({ query, timeout: "100ms" }),
    StepError,
    'timed out after 100ms while waiting for the SQLite database ":memory:"',
  );
  await assertRejects(
    () => run({ transaction: ["SELECT 1", query], timeout: "100ms" }),
    StepError,
    "timed out after 100ms",
  );
  assertEquals((await run({ query: "SELECT 1 AS one" })).rows, [{ one: 1 }]);
});

Deno.test("db uses a socket of the system only where the run may read and write it", async () => {
  await using context = actionContext();
  const limited = { ...context, permissions: { read: [], write: [] } };
  for (const [dsn, name] of [["postgres", "PostgreSQL"], ["mysql", "MySQL"]]) {
    const params = { dsn: `${dsn}://app@/shop?socket=/run/none`, query: "SELECT 1" };
    await assertRejects(
      () => runDb(params, limited),
      StepError,
      `cannot connect to ${name} at /run/none: --allow-read does not name '/run/none'`,
    );
    await assertRejects(
      () => runDb(params, context),
      StepError,
      `cannot connect to ${name} at /run/none: `,
    );
  }
});

Deno.test("db explains a database that it cannot open", async () => {
  await using context = actionContext();
  const run = (with_: Dict) => runDb({ query: "SELECT 1", ...with_ }, context);
  await assertRejects(
    () => run({ dsn: "/nowhere/at/all.db" }),
    StepError,
    'cannot open the SQLite database "/nowhere/at/all.db": unable to open it (SQLITE_CANTOPEN)',
  );
  await assertRejects(
    () => run({ dsn: "oracle://scott:tiger-7@host/db" }),
    StepError,
    'unsupported database "oracle"',
  );
  await assertRejects(
    () => run({ dsn: ":memory:", query: "SELECT :a", params: { b: 1 } }),
    StepError,
    'the statement has :a, and "params" does not',
  );
  // Templates may have made these.
  for (
    const [with_, message] of [
      [{ dsn: ":memory:", query: " " }, 'cannot run db: "query" is empty'],
      [{ dsn: ":memory:", max_rows: "-5" }, '"max_rows" must be 0 or greater, not -5'],
      [{ dsn: "postgres://127.0.0.1:1/db", tls: ["ca.pem"] }, '"tls" must be a map, not a list'],
    ] as const
  ) {
    await assertRejects(() => run(with_), StepError, message);
  }
  await using other = rawServer(async (connection) => {
    await connection.send("220 mail.example ESMTP\r\n");
    await connection.closed();
  });
  for (const [dsn, name] of [["postgres", "PostgreSQL"], ["mysql", "MySQL"]]) {
    await assertRejects(
      () => run({ dsn: `${dsn}://127.0.0.1:${other.port}/db` }),
      StepError,
      `at 127.0.0.1 port ${other.port}: the server does not speak the protocol of ${name}`,
    );
    await assertRejects(
      () => run({ dsn: `${dsn}://app:secret-word@127.0.0.1:1/db` }),
      StepError,
      `cannot connect to ${name} at 127.0.0.1 port 1: 127.0.0.1 port 1 refused the connection (ECONNREFUSED)`,
    );
  }
  assertEquals([...new Set(context.learned)], ["tiger-7", "secret-word"]);
});

Deno.test("db leaves a server that does not stop sending", async () => {
  const left = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    const bytes = new Uint8Array(65_536);
    for (;;) await connection.send(bytes).catch((error) => (left.resolve(), Promise.reject(error)));
  });
  {
    await using context = actionContext();
    const dsn = `mysql://app@127.0.0.1:${server.port}/db`;
    await assertRejects(() => runDb({ dsn, query: "SELECT 1" }, context), StepError);
  }
  await left.promise;
});

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

function read(dsn: string) {
  const learned: string[] = [];
  const secrets = { add: (text: string) => void learned.push(text) };
  const server = readDsn(dsn, new Param("db", secrets)) as ServerDsn;
  return { ...server, ...server.target, learned };
}

Deno.test("a DSN may leave out its host, and give user and password after the question mark", () => {
  const socket = read("postgres://app:open-sesame@/shop?host=/run/postgresql");
  assertEquals([socket.socket, socket.user, socket.database], ["/run/postgresql", "app", "shop"]);
  const local = read("mysql://app:open-sesame@/shop");
  assertEquals([local.host, local.port, local.database], ["localhost", 3306, "shop"]);
  const { user, password, shown, learned } = read(
    "postgres://db.example/shop?user=app&password=open-sesame",
  );
  assertEquals([user, password], ["app", "open-sesame"]);
  assertEquals(shown, "postgres://db.example/shop?user=app&password=***");
  assertEquals([...new Set(learned)], ["open-sesame"]);
});

Deno.test("a text that is not a DSN is not the name of a SQLite file or of a database", () => {
  const texts = {
    "host=db.example user=app password=open-sesame dbname=shop": "the DSN must be a URL",
    "postgres:shop": "invalid DSN",
    "app:open-sesame@tcp(db.example:3306)/shop": 'unsupported database "app"',
  };
  for (const [text, message] of Object.entries(texts)) {
    assertThrows(() => read(text), NoValue, message);
  }
});

Deno.test("sslrootcert=system asks for a certificate that an authority of the system has signed", async () => {
  await using context = actionContext();
  for (const mode of ["", "&sslmode=require", "&sslmode=verify-full"]) {
    const dsn = `postgres://app@db.example/shop?sslrootcert=system${mode}`;
    const server = readDsn(dsn, new Param("db", context.secrets)) as ServerDsn;
    const tls = await serverTls(server, undefined, new ActionAttempt(context, server.target));
    const { ca, rejectUnauthorized } = tls!.options;
    assertEquals([ca, rejectUnauthorized, tls!.attempts], [undefined, true, [true]], mode);
  }
});

const CASES: readonly [Dialect, string, string][] = [
  ["postgres", "SELECT :a, :b, :a", "SELECT $1, $2, $1"],
  ["postgres", "SELECT ':a', \":a\", :a::int, $$:a$$, E'\\':a', $x$:a$x$ -- :a", ""],
  ["mysql", "SELECT :a, ':a\\':a', `:a`, :b # :a", "SELECT ?, ':a\\':a', `:a`, ? # :a"],
  ["sqlite", "SELECT :a /* :a */, '\\', :a", "SELECT ? /* :a */, '\\', ?"],
];

Deno.test("names in strings, comments and casts are not placeholders", () => {
  for (const [dialect, text, bound] of CASES) {
    const expected = bound || text.replace(":a::int", "$1::int");
    assertEquals(bindNames(text, { a: 1, b: 2 }, dialect).text, expected);
  }
  assertEquals(bindNames("SELECT :a, :b, :a", { a: 1, b: 2 }, "mysql").values, [1, 2, 1]);
  assertEquals(bindNames("SELECT :a, :b, :a", { a: 1, b: 2 }, "postgres").values, [1, 2]);
});

Deno.test("a text is cut at semicolons between statements", () => {
  assertEquals(splitStatements("A; B ';' -- ;\n; /* ; */ ; ", "sqlite"), ["A;", " B ';' -- ;\n;"]);
});

Deno.test("the values that a statement of SQLite takes are counted", () => {
  const texts = {
    "SELECT 1, '?', \"?\", [?], `?`, a$b, x->>'$.a' -- ? :a": 0,
    "SELECT ?, ?": 2,
    "SELECT ?2, ?1, ?2": 2,
    "SELECT :a, @b, $c, :a, $1": 4,
    "SELECT ?1, ?": 2,
  };
  for (const [text, count] of Object.entries(texts)) assertEquals(countPlaceholders(text), count);
});
