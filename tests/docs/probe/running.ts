import type { Claims } from "./claim.ts";

const HELLO = "- uses: hello\n  test: status == 0";
const OTHER = `name: other\njobs: [{ name: j, steps: [{ uses: hello, test: status == 0 }] }]\n`;

/** Rows about the command line, loading and running. */
export const RUNNING: Claims = {
  "nothing is printed until the end": {
    provenBy: ["tests/docs/moving_from_probe_test.ts", "a job is printed while others run"],
  },
  "`--help` goes to stderr, exit code 1": { args: ["--help"], shows: ["Usage:"] },
  "exit code 2 after a crash": [
    {
      flow: `name: n
jobs:
  - name: j
    defaults: { hello: { a: 1 } }
    steps: [{ uses: hello, test: res.a == 1 }]
`,
    },
    {
      flow: `name: n
jobs:
  - { name: a, id: a, needs: [b], steps: [{ uses: hello }] }
  - { name: b, id: b, needs: [a], steps: [{ uses: hello }] }
`,
      args: ["dag", "flow.yml"],
      code: 1,
      shows: ["dependency cycle"],
    },
  ],
  "`-version`, `--verbose=false`, `---v` are options": [
    { steps: HELLO, args: ["-version"], code: 1, shows: ["unknown option -version"] },
    {
      steps: HELLO,
      args: ["--verbose=false", "flow.yml"],
      code: 1,
      shows: ["--verbose takes no value"],
    },
    { steps: HELLO, args: ["---v", "flow.yml"], code: 1, shows: ["unknown option ---v"] },
  ],
  "a second file is ignored": {
    steps: HELLO,
    files: { "other.yml": OTHER },
    args: ["flow.yml", "other.yml"],
    shows: ["2 passed (2)"],
  },
  "files that do not end in `.yml` or `.yaml` are ignored": {
    files: { "flow.txt": OTHER },
    args: ["flow.txt"],
    shows: ["\nJobs       1 passed (1)\n"],
  },
  "Ctrl-C leaves processes and no report": {
    provenBy: [
      "tests/cli/interruption_test.ts",
      "SIGINT in the middle of a command ends it and its children",
    ],
  },
  "`PROBE_MAX_REPEAT_COUNT`, `PROBE_MAX_ATTEMPTS`": [
    {
      flow: `name: n\njobs: [{ name: j, repeat: { count: 3 }, steps: [{ uses: hello }] }]\n`,
      env: { RUNNER_MAX_REPEAT_COUNT: "2" },
      code: 1,
      shows: ["RUNNER_MAX_REPEAT_COUNT"],
    },
    {
      steps: "- uses: hello\n  test: status == 0\n  retry: { max_attempts: 3 }",
      env: { RUNNER_MAX_ATTEMPTS: "many" },
      code: 1,
      shows: ["RUNNER_MAX_ATTEMPTS"],
    },
  ],
  "`NO_COLOR` wins over `FORCE_COLOR=1`": {
    steps: HELLO,
    env: { NO_COLOR: "1", FORCE_COLOR: "1" },
    shows: ["\x1b["],
  },

  "reports the first mistake": {
    flow: `name: n
jobs:
  - name: j
    needs: [nobody]
    steps:
      - { uses: nothing }
      - { uses: hello, test: "1 +" }
`,
    code: 1,
    shows: ["nobody", '"nothing"', "flow.yml:7:", "^"],
  },
  "unknown keys are ignored": {
    steps: "- { uses: hello, test: status == 0, note: 1 }",
    code: 1,
    shows: ['error: unknown key "note"'],
  },
  "unknown actions and parameters, invalid expressions and `needs` are found during the run, if at all":
    {
      flow: `name: n
jobs:
  - { name: a, id: a, steps: [{ name: first, uses: hello, test: status == 0 }] }
  - { name: b, needs: [zz], steps: [{ uses: htpp }, { uses: http, with: { get: /, bdy: x } }] }
  - { name: c, steps: [{ uses: hello, test: ")" }] }
`,
      code: 1,
      shows: ["zz", "htpp", "bdy"],
      hides: ["✓ first"],
    },
  "`jobs: []` and `steps: []` pass": [
    { flow: "name: n\njobs: []\n", code: 1, shows: ['"jobs" must not be empty'] },
    {
      flow: "name: n\njobs: [{ name: j, steps: [] }]\n",
      code: 1,
      shows: ['"steps" must not be empty'],
    },
  ],
  "`repeat.count: 0` is refused, as is the limit itself": [
    {
      flow: `name: n\njobs: [{ name: j, repeat: { count: 0 }, steps: [{ uses: hello }] }]\n`,
    },
    {
      flow: `name: n\njobs: [{ name: j, repeat: { count: 3 }, steps: [{ uses: hello }] }]\n`,
      env: { RUNNER_MAX_REPEAT_COUNT: "3" },
    },
  ],
  "a second document after `---` in one file is ignored": {
    flow: `${OTHER}---\n${OTHER}`,
    code: 1,
    shows: ["a second document begins here"],
  },
  "duplicate keys: the last counts": [
    {
      steps: "- { uses: hello, with: { a: 1, a: 2 }, test: status == 0 }",
      code: 1,
      shows: ['duplicate key "a"'],
    },
    {
      files: { "a.yml": "name: a\nvars: { x: 1 }\n", "b.yml": `${OTHER}vars: { x: 2 }\n` },
      args: ["a.yml,b.yml"],
    },
  ],
  "positions count through all files as one": {
    files: {
      "a.yml": "name: a\nvars: { x: 1 }\n",
      "b.yml": "jobs:\n  - name: j\n    steps:\n      - { uses: hello, test: 1 == 2 }\n",
    },
    args: ["a.yml,b.yml"],
    code: 1,
    shows: ["b.yml:4:"],
  },
  "`1e3` is a string": { steps: "- { uses: hello, with: { n: 1e3 }, test: res.n == 1000 }" },
  "a merge key changes keys written before it": {
    flow: `name: n
x-one: &one { k: one, l: one }
x-two: &two { l: two, m: two }
jobs:
  - name: j
    steps:
      - uses: hello
        with: { k: own, <<: [*one, *two] }
        test: res.k == "own" && res.l == "one" && res.m == "two"
`,
  },
  "numbers are unsigned, and wrong beyond 2^53": {
    steps: `- uses: hello
  with: { n: 3, big: 1234567890123456789 }
  test: -res.n == -3 && random_int(res.n) < 3 && res.big == 1234567890123456789`,
  },

  "jobs start in waves: the next when all of the last are done": {
    // The slow job ends because the dependent of the fast one has run.
    flow: `name: n
jobs:
  - { name: fast, id: fast, steps: [{ uses: hello, test: status == 0 }] }
  - name: slow
    steps:
      - uses: shell
        with: { cmd: "until [ -e made ]; do sleep 0.05; done" }
        timeout: 60s
        test: status == 0
  - name: after the fast one
    needs: [fast]
    steps:
      - { uses: shell, with: { cmd: touch made }, test: status == 0 }
`,
  },
  "a job skipped because of a failed need counts as success": {
    flow: `name: n
jobs:
  - { name: a, id: a, steps: [{ uses: hello, test: 1 == 2 }] }
  - { name: b, needs: [a], steps: [{ uses: hello }] }
`,
    code: 1,
    shows: ["1 failed · 1 skipped"],
  },
  "an error in `skipif` is printed and the step runs": [
    {
      steps: "- { uses: hello, skipif: outputs.x.y == 1, test: status == 0 }",
      code: 1,
      shows: ['outputs has no "x"'],
    },
    {
      flow: `name: n
jobs:
  - { name: j, skipif: outputs.x.y == 1, steps: [{ name: first, uses: hello, test: status == 0 }] }
`,
      code: 1,
      shows: ['outputs has no "x"'],
      hides: ["✓ first"],
    },
  ],
  "an error in a template becomes text such as `[RuntimeError: …]`, which is sent": {
    steps: '- { uses: http, with: { get: "URL/echo?x={{vars.no.such}}" }, test: res.code == 200 }',
    code: 1,
    shows: ['vars has no "no"'],
    hides: ["RuntimeError", "200 OK"],
  },
  "a header or parameter whose template gives nil is omitted": [
    {
      steps: '- { uses: http, with: { get: URL/echo, headers: { x-a: "{{vars.no}}" } } }',
      code: 1,
      shows: ["would be left out"],
    },
    {
      steps: `- uses: http
  with: { get: URL/echo, headers: { x-a: "{{vars.no ?? nil}}" } }
  test: res.code == 200 && res.body.headers["x-a"] == nil`,
    },
  ],
  "`retry` without `test` does nothing": {
    steps: `- uses: shell
  with: { cmd: "echo x >> tries; [ $(wc -l < tries) -ge 2 ]" }
  retry: { max_attempts: 3 }
- { uses: shell, with: { cmd: "wc -l < tries" }, test: trim(res.stdout) == "2" }
- { uses: shell, with: { cmd: "exit 3" }, retry: { max_attempts: 2 } }`,
    code: 1,
    shows: ["↻ 2/2"],
  },
  "`with` is rendered once for all attempts": {
    steps: `- uses: shell
  with: { cmd: "echo {{uuid()}} >> ids; [ $(sort -u ids | wc -l) -ge 2 ]" }
  retry: { max_attempts: 2 }
  test: status == 0`,
  },
  "the last `test` of a `retry` is evaluated twice": {
    steps: `- { uses: hello, test: random_int(2) == 3, retry: { max_attempts: 2 } }`,
    code: 1,
    shows: ["↻ 2/2"],
  },
  "`wait: 1.5` is invalid; `timeout: 1.9` is 1 s": {
    steps: `- { uses: hello, wait: 0.05, test: status == 0 }
- { uses: shell, with: { cmd: sleep 1.2 }, timeout: 60.9, test: status == 0 }`,
  },
  "a step that times out leaves its process running": {
    provenBy: [
      "tests/actions/shell/run_shell_test.ts",
      "shell ends everything that a command started when its time is over",
    ],
  },
  "`repeat` with `count` above 1 publishes no outputs": {
    flow: `name: n
jobs:
  - name: rounds
    id: rounds
    repeat: { count: 3 }
    steps: [{ id: turn, uses: hello, outputs: { n: repeat_index }, test: status == 0 }]
  - { name: after, needs: [rounds], steps: [{ uses: hello, test: outputs.turn.n == 2 }] }
`,
  },
  "`repeat` with `async` needs an `interval`": {
    flow: `name: n
jobs:
  - { name: j, repeat: { count: 3, async: true }, steps: [{ uses: hello, test: status == 0 }] }
`,
  },
  "the `skipif` of a job is evaluated in each round": {
    flow: `name: n
jobs:
  - name: j
    skipif: outputs.turn != nil
    repeat: { count: 3 }
    steps: [{ id: turn, uses: hello, outputs: { n: repeat_index }, test: status == 0 }]
`,
    shows: ["3/3 passed"],
  },
};
