/**
 * Workflows as people write them for Probe, one for each kind that it documents: they run here
 * unchanged. `URL` is the address of a server that says what it got.
 */
export interface ProbeWorkflow {
  readonly files: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Whether it is there to fail. */
  readonly fails?: true;
  readonly shows?: readonly string[];
}

const one = (text: string): ProbeWorkflow => ({ files: { "flow.yml": text } });

export const WORKFLOWS: Readonly<Record<string, ProbeWorkflow>> = {
  "an API with defaults, outputs and echo": one(`name: Orders
vars:
  url: "{{SERVICE ?? 'URL'}}"
  token: "{{TOKEN ?? 'guest'}}"
jobs:
- name: "API at {{vars.url}}"
  defaults:
    http:
      url: "{{vars.url}}"
      headers:
        authorization: "Bearer {{vars.token}}"
        content-type: application/json
  steps:
  - name: Create
    id: create
    uses: http
    with:
      post: /orders
      body:
        product: tea
    test: |
      res.code == 200 &&
      parse_json(res.body.body).product == "tea"
    outputs:
      path: res.body.path
    echo: |
      Path: {{res.body.path}}
  - name: Read
    uses: http
    with:
      get: "{{outputs.create.path}}"
    test: res.code == 200 && res.body.headers.authorization == "Bearer guest"
  - name: Not tested
    uses: http
    with:
      delete: "{{outputs.path}}"
`),
  "a diamond of jobs": one(`name: Diamond
jobs:
- name: Start
  id: start
  steps:
  - { name: number, id: seed, uses: hello, with: { n: 4 }, outputs: { n: res.n }, test: status == 0 }
- name: Left
  id: left
  needs: [start]
  steps:
  - { name: left, id: l, uses: hello, outputs: { x: outputs.seed.n * 2 }, test: outputs.seed.n == 4 }
- name: Right
  id: right
  needs: [start]
  steps:
  - { name: right, id: r, uses: hello, outputs: { y: outputs.n + 1 }, test: outputs.n == 4 }
- name: End
  needs: [left, right]
  steps:
  - { name: sum, uses: hello, test: outputs.l.x + outputs.r.y == 13 }
`),
  "a job that fails, and those that need it": {
    ...one(`name: Broken
jobs:
- { name: A, id: a, steps: [{ name: wrong, uses: hello, test: 1 == 2 }] }
- { name: B, needs: [a], steps: [{ name: never, uses: hello }] }
- { name: C, steps: [{ name: fine, uses: hello, test: status == 0 }] }
`),
    fails: true,
    shows: ["✗ wrong", "B (skipped"],
  },
  "iteration over maps": one(`name: Users
jobs:
- name: Users
  steps:
  - name: "{{vars.user}}"
    uses: shell
    with:
      cmd: echo "{{vars.user}}:{{vars.shell}}"
    iteration:
    - { user: ann, shell: sh }
    - { user: bob, shell: zsh }
    test: res.code == 0 && res.stdout contains vars.user
`),
  "retries with a delay": one(`name: Retries
jobs:
- name: Flaky
  steps:
  - name: third time lucky
    uses: shell
    with:
      cmd: |
        n=$(cat tries 2>/dev/null || echo 0); n=$((n + 1)); echo $n > tries; [ $n -ge 3 ]
    retry:
      max_attempts: 5
      interval: 10ms
      initial_delay: 10ms
    test: res.code == 0
`),
  "rounds, one after another and at once": one(`name: Rounds
jobs:
- name: In turn
  repeat: { count: 3, interval: 10ms }
  steps:
  - { name: "round {{repeat_index}}", uses: hello, test: repeat_index < 3 }
- name: At once
  repeat: { count: 3, interval: 10ms, async: true }
  steps:
  - { name: round, uses: hello, test: status == 0, echo: "{{repeat_index}}" }
`),
  "conditions of jobs and steps": one(`name: Conditions
vars: { stage: test }
jobs:
- name: Only in production
  skipif: vars.stage != "production"
  steps: [{ uses: hello, test: 1 == 2 }]
- name: Here
  steps:
  - { name: skipped, uses: hello, skipif: vars.stage == "test", test: 1 == 2 }
  - { name: not skipped, uses: hello, skipif: vars.stage == "other", test: status == 0 }
`),
  "commands": one(`name: Commands
jobs:
- name: Shell
  defaults:
    shell: { timeout: 10s, shell: /bin/sh }
  steps:
  - { name: output, uses: shell, with: { cmd: "echo out; echo err >&2" }, test: "trim(res.stdout) == 'out' && trim(res.stderr) == 'err'" }
  - { name: code, uses: shell, with: { cmd: exit 3 }, test: res.code == 3 && status == 1 }
  - { name: directory, uses: shell, with: { cmd: pwd, workdir: / }, test: trim(res.stdout) == "/" }
  - { name: json, uses: shell, with: { cmd: "echo '{\\"n\\": 7}'" }, test: parse_json(res.stdout).n == 7 }
  - name: server
    id: server
    uses: shell
    with: { cmd: sleep 60, background: true }
    outputs: { pid: res.pid }
  - { name: stop it, uses: shell, with: { cmd: "kill -TERM {{outputs.server.pid}}" }, test: res.code == 0 }
`),
  "a timeout": {
    ...one(`name: Timeouts
jobs:
- name: Slow
  steps:
  - { name: in time, uses: shell, with: { cmd: sleep 0.01 }, timeout: 1m, test: res.code == 0 }
  - { name: too slow, uses: shell, with: { cmd: sleep 60 }, timeout: 1s, test: res.code == 0 }
`),
    fails: true,
    shows: ["✓ in time", "timed out after 1s"],
  },
  "waiting": one(`name: Waits
jobs:
- name: Waits
  steps:
  - { name: a moment, uses: hello, wait: 10ms, test: status == 0 }
  - { name: none, uses: hello, wait: "0", test: status == 0 }
`),
  "functions": one(`name: Functions
jobs:
- name: Functions
  steps:
  - { uses: hello, test: "len(random_str(8)) == 8 && random_int(10) < 10 && unixtime() > 1700000000" }
  - { uses: hello, test: 'decode_base64(encode_base64("tea")) == "tea" && parse_float("1.5") == 1.5' }
  - { uses: hello, test: 'match_json({"a": 1, "b": "xyz"}, {"a": 1, "b": "/^x/"})' }
  - { uses: hello, test: 'diff_json({"a": 1}, {"a": 1}) == "No diff"' }
  - { uses: hello, test: 'sum([1, 2, 3]) == 6 && join(map(1..3, string(#)), "-") == "1-2-3"' }
  - { uses: hello, test: 'let x = 2; (x > 1 ? "many" : "one") == "many" && ("a" in ["a"])' }
  - { uses: hello, test: 'filter([1, 2, 3], {# > 1}) == [2, 3] && all([1], {# == 1}) && "abc" matches "^a"' }
`),
  "aliases within a file": one(`name: Aliases
x_check: &check
  uses: hello
  test: status == 0
x_params: &params { a: 1, b: 2 }
jobs:
- name: Aliases
  steps:
  - { <<: *check, name: first }
  - *check
  - { uses: hello, with: { <<: *params, b: 3 }, test: res.a == 1 && res.b == 3 }
`),
  "two files as one": {
    files: {
      "shared.yml": `shared: { greeting: &greeting good morning }\n`,
      "flow.yml": `name: Shared
jobs:
- name: Greets
  steps:
  - { uses: hello, vars: { text: *greeting }, test: vars.text == "good morning" }
`,
    },
    args: ["shared.yml,flow.yml"],
  },
  "an embedded job": {
    files: {
      "flow.yml": `name: Embeds
vars: { env: dev }
jobs:
- name: Parent
  steps:
  - name: child
    id: child
    uses: embedded
    with:
      path: ./jobs/{{vars.env}}.yml
      vars: { user: ann }
    test: res.code == 0 && res.outputs.greet.text == "hi ann"
    outputs: { text: res.outputs.greet.text }
  - { uses: hello, test: outputs.child.text == "hi ann" }
`,
      "jobs/dev.yml": `name: Child
steps:
- { id: greet, uses: hello, with: { t: "hi {{vars.user}}" }, outputs: { text: res.t }, test: status == 0 }
`,
    },
  },
  "SQLite": one(`name: Teas
jobs:
- name: Table
  defaults:
    db: { dsn: ./teas.db }
  steps:
  - { name: create, uses: db, with: { query: "CREATE TABLE teas (id INTEGER PRIMARY KEY, name TEXT, price REAL)" }, test: res.code == 0 }
  - name: insert
    uses: db
    with: { query: "INSERT INTO teas (name, price) VALUES (?, ?), (?, ?)", params: [assam, 4.5, bancha, 6] }
    test: res.code == 0 && res.rows_affected == 2
  - name: select
    uses: db
    with: { query: SELECT * FROM teas ORDER BY id }
    test: len(res.rows) == 2 && res.rows[0].name == "assam" && res.rows[0].price == 4.5
  - { name: update, uses: db, with: { query: "UPDATE teas SET price = 7 WHERE name = 'bancha'" }, test: res.rows_affected == 1 }
  - { name: delete, uses: db, with: { query: DELETE FROM teas }, test: res.rows_affected == 2 }
  - { name: mistake, uses: db, with: { query: SELEC }, test: res.code == 1 && res.error contains "syntax" }
`),
  "a long output": one(`name: Long
jobs:
- name: Long
  steps:
  - name: many lines
    uses: shell
    with: { cmd: "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i + 1)); done" }
    test: res.stdout contains "line 4999"
`),
};
