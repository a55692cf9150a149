import type { Claims } from "./claim.ts";

const http = (params: string, expression: string) => ({
  steps: `- uses: http\n  with: ${params}\n  test: |\n    ${expression}`,
});
const shell = (params: string, expression: string) => ({
  steps: `- uses: shell\n  with: ${params}\n  test: |\n    ${expression}`,
});
const SSH =
  `host: 127.0.0.1, port: "{{vars.port}}", user: "{{vars.user}}", strict_host_check: false`;
const ssh = (params: string, expression: string) => ({
  needs: "ssh" as const,
  flow: `name: n
vars: { port: "{{SSH_PORT}}", user: "{{SSH_USER}}", key: "{{SSH_KEY}}", word: "{{SSH_PASSWORD}}" }
jobs:
  - name: j
    steps:
      - uses: ssh
        with: { ${SSH}, ${params} }
        test: ${expression}
`,
});
const grpc = (params: string, expression: string) => ({
  needs: "grpc" as const,
  flow: `name: n
vars: { addr: "{{GRPC_ADDR}}" }
jobs:
  - name: j
    steps:
      - uses: grpc
        with: { addr: "{{vars.addr}}", ${params} }
        test: ${expression}
`,
});
const sqlite = (query: string, expression: string) => ({
  steps: `- uses: db\n  with: { dsn: ":memory:", ${query} }\n  test: |\n    ${expression}`,
});

/** Rows about actions that run here, or against servers in the process of the tests. */
export const ACTIONS: Claims = {
  "`timeout`, `query`, `follow_redirects`, `verify_ssl` are ignored": [
    {
      ...http("{ get: URL/never, timeout: 100ms }", "res.code == 200"),
      code: 1,
      shows: ["timed out"],
    },
    http("{ get: URL/echo, query: { a: [1, 2] } }", 'res.body.path == "/echo?a=1&a=2"'),
    http("{ get: URL/redirect, follow_redirects: false }", "res.code == 302"),
  ],
  "with two shorthands the first counts": {
    steps: "- { uses: http, with: { get: URL/echo, post: URL/echo } }",
    code: 1,
    shows: ["two methods"],
  },
  "a trailing slash and `%2F` of a path are lost": http(
    "{ url: URL, get: /echo/a%2Fb/ }",
    'res.body.path == "/echo/a%2Fb/"',
  ),
  "a map as `body` is JSON only with exactly `application/json`": [
    http("{ post: URL/echo, body: { a: 1 } }", "res.body.body == '{\"a\":1}'"),
    http(
      "{ post: URL/echo, headers: { content-type: application/x-www-form-urlencoded }, body: { a: 1 } }",
      'res.body.body == "a=1"',
    ),
  ],
  "keys of a JSON body are sorted, `<` is escaped": http(
    '{ post: URL/echo, body: { b: "<", a: 1 } }',
    'res.body.body == \'{"b":"<","a":1}\'',
  ),
  "JSON is what is in braces or brackets": http("{ get: URL/number }", "res.body == 42"),
  "a body that cannot be parsed is a map with `error_message`": http(
    "{ get: URL/broken }",
    'res.body == "{broken}"',
  ),
  "`application/problem+json`, SVG and YAML are binary files": [
    http("{ get: URL/problem }", 'res.body.title == "no" && res.filepath == nil'),
    http("{ get: URL/svg }", 'res.body == "<svg/>"'),
    http("{ get: URL/yaml }", 'res.body == "a: 1"'),
  ],
  "body files are kept": {
    steps:
      `- { uses: http, with: { get: URL/binary }, test: res.filepath != nil, echo: "{{res.filepath}}" }`,
    gone: /\/\S*runner\S*/,
  },
  '`res.filepath` without a file, and `res.log` of a command that is awaited, are `""`': [
    http("{ get: URL/echo }", "res.filepath == nil"),
    shell("{ cmd: echo hi }", "res.log == nil"),
  ],
  "`User-Agent: probe-http/1.0.0`": http(
    "{ get: URL/echo }",
    'res.body.headers["user-agent"] startsWith "runner"',
  ),

  "any status but OK fails the step, which then has no `res`": grpc(
    "service: Shop, method: GetItem, body: { id: missing }",
    'status == 5 && res.status_code == "NOT_FOUND"',
  ),
  "`res.status_code` is always `OK`, `res.metadata` empty": {
    provenBy: [
      "tests/actions/grpc/run_grpc_test.ts",
      "grpc returns a status that is not OK as a result, with its details",
    ],
  },
  "unary methods, found by reflection `v1alpha`": {
    provenBy: [
      "tests/actions/grpc/run_grpc_test.ts",
      "grpc calls methods of every kind, found by reflection and in files",
    ],
  },
  "the full name of the service": {
    provenBy: [
      "tests/actions/grpc/run_grpc_test.ts",
      "grpc calls methods of every kind, found by reflection and in files",
    ],
  },
  "`insecure`, `ca_file` … are ignored without `tls: true`": {
    steps: "- { uses: grpc, with: { addr: localhost:1, service: S, method: M, ca_file: ca.pem } }",
    code: 1,
    shows: ["tls"],
  },
  "the `timeout` is 30 s": {
    steps:
      "- { uses: grpc, with: { addr: 127.0.0.1:1, service: S, method: M, timeout: 90s }, timeout: 2m }",
    code: 1,
    shows: ["127.0.0.1"],
    hides: ["30s"],
  },
  "metadata that is not text is dropped": {
    steps:
      "- { uses: grpc, with: { addr: 127.0.0.1:1, service: S, method: M, metadata: { a: [1] } } }",
    code: 1,
    shows: ["metadata"],
  },

  "`env` is ignored": shell("{ cmd: 'printf %s \"$A\"', env: { A: 1 } }", 'res.stdout == "1"'),
  "`shell` is one of eight paths": shell("{ cmd: echo hi, shell: bash }", 'res.stdout == "hi\\n"'),
  "`timeout` is 30 s by default": {
    steps: "- { uses: shell, with: { cmd: sleep 9 }, timeout: 100ms, test: status == 0 }",
    code: 1,
    shows: ["timed out after 100ms"],
  },
  "a timeout is a result with `code: -1`": {
    steps: "- { uses: shell, with: { cmd: sleep 9, timeout: 100ms }, test: res.code == -1 }",
    code: 1,
    shows: ["timed out"],
  },
  "a background command outlives the run, `res.code` is −1": [
    shell("{ cmd: sleep 60, background: true }", "res.code == nil"),
    {
      provenBy: [
        "tests/actions/shell/run_shell_test.ts",
        "shell runs a command in the background until the run ends",
      ],
    },
  ],
  "`status` of a background command is −1": shell(
    "{ cmd: sleep 60, background: true }",
    "status == 0",
  ),
  "output that is not UTF-8 is an error": shell(
    `{ cmd: "printf '\\\\377'" }`,
    'res.stdout == "\\uFFFD"',
  ),
  "all output is kept": shell(
    "{ cmd: 'head -c 3000 /dev/zero | tr \"\\\\0\" x', max_output: 1000 }",
    "len(res.stdout) <= 1000",
  ),
  "JSON on stdout stays a string": shell(
    `{ cmd: "echo '{\\"a\\": 1}'" }`,
    'type(res.stdout) == "string" && parse_json(res.stdout).a == 1',
  ),

  "`timeout` is 30 seconds; a command may take 5 seconds more": {
    provenBy: [
      "tests/actions/ssh/run_ssh_test.ts",
      "ssh ends a command on the server when its time is over",
    ],
  },
  "`env` is sent to the server, which ignores most of it": ssh(
    'password: "{{vars.word}}", cmd: "echo $A-$B", env: { A: 1, B: true }',
    'trim(res.stdout) == "1-true"',
  ),
  "`workdir` is put into the command as it is, so `$HOME` expands": {
    ...ssh('password: "{{vars.word}}", cmd: pwd, workdir: $HOME', "status == 0"),
    code: 1,
  },
  "both default files of known hosts must exist": {
    provenBy: ["tests/actions/ssh/run_ssh_test.ts", "ssh checks the key of the host"],
  },
  "a password or a key": [
    ssh(
      'password: "{{vars.word}}", key_file: "{{vars.key}}", cmd: echo in',
      'trim(res.stdout) == "in"',
    ),
    ssh('password: "{{vars.word}}", key_file: "", cmd: echo in', 'trim(res.stdout) == "in"'),
  ],
  "keys are files": ssh('key_file: "{{vars.key}}", cmd: echo in', 'trim(res.stdout) == "in"'),
  "all that a command prints is kept": ssh(
    'key_file: "{{vars.key}}", cmd: "head -c 2000000 /dev/zero"',
    "res.truncated && res.stdout_bytes == 2000000",
  ),

  "a database that cannot be reached is `status` 1": {
    steps:
      '- { uses: db, with: { dsn: "postgres://a:b@127.0.0.1:1/c", query: SELECT 1 }, test: status == 1 }',
    code: 1,
    shows: ["(ECONNREFUSED)"],
  },
  "the path of a SQLite file is relative to the current directory": {
    files: {
      "sub/flow.yml":
        "name: n\njobs: [{ name: j, steps: [{ uses: db, with: { dsn: shop.db, query: SELECT 1 AS one }, test: status == 0 }, { uses: shell, with: { cmd: test -e sub/shop.db }, test: status == 0 }] }]\n",
    },
    args: ["sub/flow.yml"],
  },
  "each step connects anew": {
    steps: `- { uses: db, with: { dsn: ":memory:", query: CREATE TABLE t (a) }, test: status == 0 }
- { uses: db, with: { dsn: ":memory:", query: SELECT * FROM t }, test: status == 0 }
- { uses: db, with: { dsn: ":memory:", query: SELECT * FROM t, fresh: true }, test: status == 1 }`,
  },
  "JSON and arrays of PostgreSQL are text": {
    provenBy: [
      "tests/system/protocols/db_types_test.ts",
      "the table of column types in the documents is true of PostgreSQL",
    ],
  },
  'dates are times at midnight UTC: `"2024-01-02T00:00:00Z"`': sqlite(
    "query: \"CREATE TABLE t (d DATE); INSERT INTO t VALUES ('2024-01-02'); SELECT d FROM t\"",
    'res.rows[0].d == "2024-01-02"',
  ),
  'intervals `"1 day 02:00:00"`': {
    provenBy: [
      "tests/system/protocols/db_types_test.ts",
      "the table of column types in the documents is true of PostgreSQL",
    ],
  },
  "bytes are text": sqlite(
    "query: \"SELECT x'0102' AS b\"",
    'res.rows[0].b == {"base64": "AQI="}',
  ),
  "SQLite: DECIMAL is a number": sqlite(
    'query: "CREATE TABLE t (d DECIMAL(4, 2)); INSERT INTO t VALUES (1.5); SELECT d FROM t"',
    'type(res.rows[0].d) == "string"',
  ),
  "SQLite: integers in columns of dates and times are times": sqlite(
    'query: "CREATE TABLE t (d TIMESTAMP); INSERT INTO t VALUES (1704164645); SELECT d FROM t"',
    "res.rows[0].d == 1704164645",
  ),
  "MySQL: `TINYINT(1)` is a number": {
    provenBy: [
      "tests/system/protocols/db_types_test.ts",
      "the table of column types in the documents is true of MariaDB",
    ],
  },
  "MySQL: several statements need `multiStatements=true`": {
    provenBy: [
      "tests/system/protocols/db_test.ts",
      "db speaks to MariaDB, and ends there what takes too long",
    ],
  },
  "PostgreSQL: of several statements, `res.rows` is that of the first": {
    provenBy: [
      "tests/system/protocols/db_test.ts",
      "db speaks to PostgreSQL, and ends there what takes too long",
    ],
  },
  "all rows are kept": sqlite(
    `query: "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 10001) SELECT n FROM t"`,
    "len(res.rows) == 10000 && res.truncated",
  ),
  "a list or a map in `params` is an error of the database": sqlite(
    'query: "SELECT ? AS a", params: [{ b: [1] }]',
    "res.rows[0].a == '{\"b\":[1]}'",
  ),
  "`params` as a map are ignored": sqlite(
    'query: "SELECT :a AS a", params: { a: 7 }',
    "res.rows[0].a == 7",
  ),

  "`path` is relative to the current directory": {
    files: {
      "sub/flow.yml":
        "name: n\njobs: [{ name: j, steps: [{ uses: embedded, with: { path: job.yml }, test: status == 0 }] }]\n",
      "sub/job.yml": "name: job\nsteps: [{ uses: hello, test: status == 0 }]\n",
    },
    args: ["sub/flow.yml"],
  },
  "the file is read when the step runs": {
    flow: `name: n
jobs:
  - name: j
    steps:
      - { name: first, uses: hello, test: status == 0 }
      - { uses: embedded, with: { path: job.yml } }
`,
    files: { "job.yml": "name: job\nsteps: [{ uses: nothing }]\n" },
    code: 1,
    shows: ['unknown action "nothing"'],
    hides: ["✓ first"],
  },
  "a `test` can pass although steps failed": {
    steps: "- { uses: embedded, with: { path: job.yml }, test: 1 == 1 }",
    files: { "job.yml": "name: job\nsteps: [{ uses: hello, test: 1 == 2 }]\n" },
    code: 1,
    shows: ["job.yml failed: 1 of 1 step"],
  },
};
