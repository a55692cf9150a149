import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runCli, startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { mariadbServer, postgresServer } from "../servers/database_servers.ts";

const PASSWORD = "open-sesame-42";

const POSTGRES_FLOW = `
name: PostgreSQL
vars:
  dsn: "{{DSN}}"
jobs:
  - name: Values
    defaults:
      db: { dsn: "{{vars.dsn}}" }
    steps:
      - uses: db
        with:
          query: >-
            SELECT 1::int2 i2, 9007199254740991::int8 i8, 9007199254740993::int8 big, 1.5::float8 f,
            'NaN'::float8 nan, 75000.50::numeric n, true b, 'x' t, '{"a":[1]}'::jsonb j,
            ARRAY[1,2]::int[] a, ARRAY['a,b',NULL,'c"d'] texts, ARRAY[[1],[2]] nested, '\\x0102'::bytea bin,
            DATE '2024-01-02' d, TIME '03:04:05' t1, TIMESTAMP '2024-01-02 03:04:05' ts,
            TIMESTAMPTZ '2024-01-02 03:04:05+00' AT TIME ZONE 'UTC' tz0,
            INTERVAL '1 day 2 hours' iv, NULL nothing, count(*) c
        test: |
          res.rows[0] == {
            "i2": 1, "i8": 9007199254740991, "big": 9007199254740993, "f": 1.5, "nan": "NaN",
            "n": "75000.50", "b": true, "t": "x", "j": {"a": [1]}, "a": [1, 2],
            "texts": ["a,b", nil, "c\\"d"], "nested": [[1], [2]], "bin": {"base64": "AQI="},
            "d": "2024-01-02", "t1": "03:04:05", "ts": "2024-01-02T03:04:05",
            "tz0": "2024-01-02T03:04:05", "iv": "P1DT2H", "nothing": nil, "c": 1
          }
      - uses: db
        with: { query: "SET TIME ZONE 'UTC'; SELECT TIMESTAMPTZ '2024-01-02 03:04:05+02' z" }
        test: res.rows == [{"z":"2024-01-02T01:04:05Z"}]
      - uses: db
        with: { query: "CREATE TABLE users (id serial PRIMARY KEY, name text UNIQUE, tags jsonb)" }
        test: res.code == 0 && res.rows == []
      - uses: db
        with:
          query: INSERT INTO users (name, tags) VALUES ($1, $2) RETURNING id
          params: [Ann, { a: 1 }]
        test: res.rows == [{"id":1}] && res.rows_affected == 1
      - uses: db
        with:
          query: SELECT name, tags FROM users WHERE name = :name AND id = :id
          params: { name: Ann, id: 1 }
        test: res.rows == [{"name":"Ann","tags":{"a":1}}]
      - uses: db
        with: { query: "SELECT $1::bytea b, $2::int[] a", params: [{ base64: AQI= }, [1, 2]] }
        test: res.rows == [{"b":{"base64":"AQI="},"a":[1,2]}]
      - name: a list is JSON where the statement wants JSON
        uses: db
        with:
          query: "SELECT $1::jsonb j, $2::json k, $3::jsonb[] l, $4::text[] t"
          params: [[1, { a: null }], [], ["x", [2]], ["a,b", null]]
        test: res.rows == [{"j":[1,{"a":nil}],"k":[],"l":["x",[2]],"t":["a,b",nil]}]
      - uses: db
        with: { query: "INSERT INTO users (tags) VALUES (:tags) RETURNING tags", params: { tags: [1, "x"] } }
        test: res.rows == [{"tags":[1,"x"]}]
      - uses: db
        with: { query: "DELETE FROM users WHERE name IS NULL" }
        test: res.rows_affected == 1
      - name: bytes in another form
        uses: db
        with: { query: "SET LOCAL bytea_output TO escape; SELECT 'a'::bytea b, ARRAY[ROW(1, 'x')] r" }
        test: res.rows == [{"b":"a","r":["(1,x)"]}]
      - name: settings of the DSN
        uses: db
        with:
          dsn: "{{vars.dsn}}?search_path=a,pg_catalog&options=-c%20work_mem%3D1MB&application_name=shop"
          query: >-
            SELECT current_setting('search_path') p, current_setting('work_mem') m,
            current_setting('application_name') a
        test: res.rows == [{"p":"a,pg_catalog","m":"1MB","a":"shop"}]
      - uses: db
        with: { query: "SELEC $1", params: [[1]] }
        test: res.error_code == "42601"
      - uses: db
        with: { query: "SELECT generate_series(1, 30) n; SELECT 1", max_rows: 10 }
        test: res.truncated && len(res.results[0].rows) == 10 && res.results[0].rows_affected == 30
      - uses: db
        with: { query: "INSERT INTO users (name) VALUES ('Ann')" }
        test: status == 1 && res.error_code == "23505" && res.error contains "(name)=(Ann) already exists"
      - uses: db
        with: { transaction: ["INSERT INTO users (name) VALUES ('Bob')", "SELEC"] }
        test: res.error_code == "42601"
      - uses: db
        with: { query: "SELECT count(*) AS c FROM users" }
        test: res.rows[0].c == 1
`;

const MARIADB_FLOW = `
name: MariaDB
vars:
  dsn: "{{DSN}}"
jobs:
  - name: Values
    defaults:
      db: { dsn: "{{vars.dsn}}" }
    steps:
      - uses: db
        with:
          query: >-
            CREATE TABLE t (i INT, big BIGINT UNSIGNED, n DECIMAL(10,2), b TINYINT(1), d DATE,
            dt DATETIME, tm TIME, j JSON, bin BLOB, bits BIT(8), s VARCHAR(20) UNIQUE, f DOUBLE)
        test: res.code == 0 && res.rows == []
      - uses: db
        with:
          query: INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 5, ?, ?)
          params:
            - 7
            - 18446744073709551615
            - "75000.50"
            - true
            - "2024-01-02"
            - "2024-01-02 03:04:05"
            - "03:04:05"
            - { a: [1] }
            - { base64: AQI= }
            - text
            - 1.5
        test: res.rows_affected == 1
      - &read
        uses: db
        with: { query: "SELECT * FROM t WHERE i = :i LIMIT :n", params: { i: 7, n: 1 } }
        test: |
          res.rows[0] == {
            "i": 7, "big": 18446744073709551615, "n": "75000.50", "b": true, "d": "2024-01-02",
            "dt": "2024-01-02T03:04:05", "tm": "03:04:05", "j": {"a": [1]},
            "bin": {"base64": "AQI="}, "bits": 5, "s": "text", "f": 1.5
          }
      - uses: db
        with: { query: "SELECT * FROM t" }
        test: res.rows[0].b == true && res.rows[0].j == {"a":[1]} && res.rows[0].bits == 5
      - uses: db
        with: { query: "INSERT INTO t (s) VALUES ('text')" }
        test: status == 1 && res.error_code == "ER_DUP_ENTRY"
      - uses: db
        with: { query: "SELECT seq AS n FROM seq_1_to_30; SELECT 1", max_rows: 10 }
        test: res.truncated && len(res.results[0].rows) == 10 && res.results[0].rows_affected == 30
      - uses: db
        with: { query: "SELECT 1 AS a; SELECT 2 AS b" }
        test: res.rows == [{"b":2}] && len(res.results) == 2
      - name: a procedure returns rows
        uses: db
        with: { query: "CREATE PROCEDURE twice (n INT) SELECT n * 2 AS two" }
        test: res.code == 0
      - uses: db
        with: { query: "CALL twice(:n)", params: { n: 4 } }
        test: int(res.rows[0].two) == 8 && res.results == []
      - name: another number of values than the statement takes
        uses: db
        with: { query: "SELECT ? AS a", params: [1, 2] }
        test: |
          res.error_code == "ER_WRONG_ARGUMENTS"
          && res.error == 'the statement takes 1 value, and "params" has 2'
      - name: a row that is as it was
        uses: db
        with: { query: "UPDATE t SET s = 'text'" }
        test: res.rows_affected == 0
      - uses: db
        with: { transaction: ["DELETE FROM t", "SELEC"] }
        test: res.error_code == "ER_PARSE_ERROR"
      - uses: db
        with: { query: "SELECT count(*) AS c FROM t" }
        test: res.rows[0].c == 1
`;

/** A step that outlasts its timeout, and one that looks for it on the server. */
const slowFlow = (sleep: string, running: string) => `
name: Slow
vars:
  dsn: "{{DSN}}"
jobs:
  - name: Slow
    id: slow
    steps:
      - uses: db
        with: { dsn: "{{vars.dsn}}", query: CREATE TABLE IF NOT EXISTS kept (a int) }
        test: res.code == 0
      - uses: db
        timeout: 300ms
        with: { dsn: "{{vars.dsn}}", query: "${sleep}" }
      - uses: db
        timeout: 300ms
        with: { dsn: "{{vars.dsn}}", transaction: ["INSERT INTO kept VALUES (1)", "${sleep}"] }
  - name: After
    needs: [slow]
    when: always
    steps:
      - uses: db
        with: { dsn: "{{vars.dsn}}", query: "${running}" }
        test: res.rows[0].n == 0
      - uses: db
        with: { dsn: "{{vars.dsn}}", query: SELECT * FROM kept }
        test: res.rows == []
`;

interface Case {
  readonly flow: string;
  readonly sleep: string;
  readonly running: string;
  readonly name: string;
  readonly signIn: string;
  /** A result of 1,000 rows of 10,000 characters in a column `text`. */
  readonly large: string;
}

/** Whether a server still runs something. */
const runningFlow = (running: string) => `
name: Running
vars: { dsn: "{{DSN}}" }
jobs:
  - name: Server
    steps:
      - uses: db
        with: { dsn: "{{vars.dsn}}", query: "${running}" }
        test: res.rows[0].n == \${N}
`;

/** Ctrl-C in the middle of a statement: the server ends it. */
async function proveInterruption(dsn: string, { sleep, running }: Case): Promise<void> {
  const files = {
    "sleep.yml": slowFlow(sleep, running).replace("timeout: 300ms\n        ", ""),
    "one.yml": runningFlow(running).replace("${N}", "1"),
    "none.yml": runningFlow(running).replace("${N}", "0"),
  };
  await withFiles(files, async (cwd) => {
    const env = { DSN: dsn };
    const isTrue = async (file: string) => (await runCli([file], { cwd, env })).code === 0;
    const child = startCli(["sleep.yml"], { cwd, env });
    const stdout = new Response(child.stdout).text();
    const stderr = new Response(child.stderr).text();
    while (!await isTrue("one.yml"));
    child.kill("SIGINT");
    assertEquals((await child.status).code, 1);
    assertStringIncludes(await stdout + await stderr, "interrupted by SIGINT");
    assertEquals(await isTrue("none.yml"), true);
  });
}

/** A connection that is lost while a statement runs; the next step makes another. */
async function proveLoss(port: number, dsn: string): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      const drop = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (new TextDecoder().decode(chunk).includes("drop-me")) controller.terminate();
          else controller.enqueue(chunk);
        },
      });
      client.readable.pipeThrough(drop).pipeTo(server.writable).catch(() => {});
      server.readable.pipeTo(client.writable).catch(() => {});
    }
  })();
  const flow = `
name: Loss
vars: { dsn: "{{DSN}}" }
jobs:
  - name: Loss
    defaults: { db: { dsn: "{{vars.dsn}}" } }
    steps:
      - uses: db
        timeout: 30s
        with: { query: "SELECT 'drop-me'" }
      - uses: db
        with: { query: SELECT 1 AS n }
        test: res.rows == [{"n":1}]
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const { port: proxyPort } = listener.addr as Deno.NetAddr;
    const env = { DSN: dsn.replace(String(port), String(proxyPort)) };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertStringIncludes(stdout, `at 127.0.0.1 port ${proxyPort} was lost: `);
    assertStringIncludes(stdout, "\nSteps      1 passed · 1 failed (2)\n");
  });
  listener.close();
  await serving;
}

/** A large result, many steps in a row, and many at once. */
async function proveLoad(dsn: string, large: string): Promise<void> {
  const numbers = (count: number) => `[${Array.from({ length: count }, (_, n) => n).join(", ")}]`;
  const flow = `
name: Load
vars: { dsn: "{{DSN}}" }
jobs:
  - name: Load
    defaults: { db: { dsn: "{{vars.dsn}}" } }
    steps:
      - name: 10 MB
        uses: db
        with: { query: "${large}" }
        test: len(res.rows) == 1000 && all(res.rows, len(.text) == 10000)
      - name: 100 in a row
        uses: db
        iteration: ${numbers(100)}
        with: { query: "SELECT :n + 1 AS n", params: { n: "{{vars.item}}" } }
        test: int(res.rows[0].n) == vars.item + 1
      - name: 20 at once
        uses: db
        iteration: { list: ${numbers(20)}, parallel: 20 }
        with: { query: "SELECT ${"${n}"} AS n" }
        test: res.rows[0].n == vars.item
      - name: 20 at once on one connection
        uses: db
        iteration: { list: ${numbers(20)}, parallel: 20 }
        with: { query: "SELECT ${"${n}"} AS n", connection: shared }
        test: res.rows[0].n == vars.item
`.replaceAll("${n}", "{{vars.item}}");
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const { code, stdout, stderr } = await runCli(["flow.yml"], { cwd, env: { DSN: dsn } });
    assertEquals(code, 0, stdout + stderr);
  });
}

/** No report shows a password, of the DSN or of a column. */
async function proveSecrets(dsn: string): Promise<void> {
  const flow = `
name: Secrets
vars: { dsn: "{{DSN}}", token: "{{API_TOKEN}}" }
jobs:
  - name: Secrets
    defaults: { db: { dsn: "{{vars.dsn}}" } }
    steps:
      - uses: db
        with: { query: "SELECT upper('from-a-column-1') AS password, :token AS x", params: { token: "{{vars.token}}" } }
        test: res.code == 1
      - uses: db
        with: { query: "SELECT upper('from-a-column-2') AS password", rows: arrays }
        test: res.code == 1
      - uses: db
        with: { dsn: "{{vars.dsn + 'x'}}", query: SELECT 1 }
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const env = { DSN: dsn, API_TOKEN: "a-token-of-somebody" };
    const { code, stdout, stderr } = await runCli(
      ["-v", "--report-dir", "reports", "flow.yml"],
      { cwd, env },
    );
    assertEquals(code, 1);
    const reports = [...Deno.readDirSync(`${cwd}/reports`)].map(({ name }) =>
      [name, Deno.readTextFileSync(`${cwd}/reports/${name}`)] as const
    );
    assert(reports.length >= 7);
    for (const [name, text] of [["stdout", stdout], ["stderr", stderr], ...reports] as const) {
      for (const secret of [PASSWORD, "FROM-A-COLUMN-", "a-token-of-somebody"]) {
        assertEquals(text.includes(secret), false, `${name} has ${secret}`);
      }
    }
  });
}

async function prove(server: { readonly port: number }, dsn: string, each: Case) {
  await withFiles(
    { "flow.yml": each.flow, "slow.yml": slowFlow(each.sleep, each.running) },
    async (dir) => {
      const run = (file: string, DSN: string) =>
        runCli(["-v", "--report", "json=report.json", file], { cwd: dir, env: { DSN } });
      const good = await run("flow.yml", dsn);
      assertEquals(good.code, 0, good.stdout + good.stderr);
      const report = await Deno.readTextFile(`${dir}/report.json`);
      assertEquals((good.stdout + good.stderr + report).includes(PASSWORD), false);
      const slow = await run("slow.yml", dsn);
      const address = `${each.name} at 127.0.0.1 port ${server.port}`;
      assertStringIncludes(slow.stdout, `timed out after 300ms while waiting for ${address}`);
      assertStringIncludes(slow.stdout, "\nSteps      3 passed · 2 failed (5)\n");
      const wrong = await run("flow.yml", dsn.replace(PASSWORD, "another-password"));
      assertEquals(wrong.code, 1);
      assertStringIncludes(wrong.stdout, `cannot connect to ${address}: sign-in failed: `);
      assertStringIncludes(wrong.stdout, each.signIn);
      assertEquals(wrong.stdout.includes("another-password"), false);
      const strict = await run("flow.yml", `${dsn}?sslmode=require`);
      assertStringIncludes(strict.stdout, `${address}: the server does not speak TLS`);
    },
  );
  await proveLoss(server.port, dsn);
  await proveInterruption(dsn, each);
  await proveLoad(dsn, each.large);
  await proveSecrets(dsn);
}

Deno.test("db speaks to PostgreSQL, and ends there what takes too long", async () => {
  await using server = await postgresServer(PASSWORD);
  await prove(server, `postgres://app:${PASSWORD}@127.0.0.1:${server.port}/postgres`, {
    flow: POSTGRES_FLOW,
    sleep: "SELECT pg_sleep(30)",
    running:
      "SELECT count(*) AS n FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND state = 'active'",
    name: "PostgreSQL",
    signIn: "(28P01)",
    large: "SELECT repeat('x', 10000) AS text FROM generate_series(1, 1000)",
  });
});

Deno.test("db speaks to MariaDB, and ends there what takes too long", async () => {
  await using server = await mariadbServer(PASSWORD);
  await prove(server, `mysql://app:${PASSWORD}@127.0.0.1:${server.port}/test`, {
    flow: MARIADB_FLOW,
    sleep: "SELECT SLEEP(30)",
    running:
      "SELECT count(*) AS n FROM information_schema.processlist WHERE info = 'SELECT SLEEP(30)'",
    name: "MySQL",
    signIn: "(ER_ACCESS_DENIED_ERROR)",
    large: "SELECT repeat('x', 10000) AS text FROM seq_1_to_1000",
  });
});

const LISTENING = `
name: Notifications
vars: { dsn: "{{DSN}}" }
jobs:
  - name: Orders
    steps:
      - id: orders
        uses: db
        with: { dsn: "{{vars.dsn}}", listen: 'or"ders', background: true }
      - uses: db
        with: { dsn: "{{vars.dsn}}", query: 'SELECT pg_notify(:c, :n)', params: { c: 'or"ders', n: '{"id":7}' } }
        test: res.code == 0
      - uses: receive
        with: { from: orders, where: message.body.id == 7, timeout: 5s }
        test: message.channel == 'or"ders' && message.raw == '{"id":7}'
      - uses: db
        with:
          dsn: "{{vars.dsn}}"
          query: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'
        test: res.rows_affected == 1
      - uses: receive
        with: { from: orders, timeout: 5s }
`;

Deno.test("db keeps the notifications of PostgreSQL until the connection is lost", async () => {
  await using server = await postgresServer(PASSWORD);
  const env = { DSN: `postgres://app:${PASSWORD}@127.0.0.1:${server.port}/postgres` };
  await withFiles({ "flow.yml": LISTENING }, async (cwd) => {
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertStringIncludes(stdout, "3 passed · 1 failed");
    assertStringIncludes(stdout, 'no message came from "orders"; it is over: 127.0.0.1 port');
  });
});
