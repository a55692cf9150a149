/** A run with every kind of result that a report can show. */
export const RICH_FILES: Readonly<Record<string, string>> = {
  "w.yml": `name: "Shop & <co> #1"
description: |
  Everything that can happen
  to a step.
vars: { total: 12 }
jobs:
  - name: Orders
    id: orders
    steps:
      - name: good
        id: good
        uses: http
        with: { get: "{url}/status/200" }
        test: res.code == 200
        echo: "said\\tso"
        outputs: { code: res.code }
      - name: wrong
        uses: http
        with: { get: "{url}/status/500" }
        test: res.code == 200
      - name: refused
        uses: http
        with: { get: "http://127.0.0.1:1/" }
      - name: skipped
        uses: hello
        skipif: vars.total > 10
      - uses: shell
        with: { cmd: exit 0 }
      - name: flaky
        uses: http
        with: { get: "{url}/flaky/a/3" }
        test: res.code == 200
        retry: { max_attempts: 5 }
      - name: never good
        uses: http
        with: { get: "{url}/status/503" }
        test: res.code == 200
        retry: { max_attempts: 2 }
      - name: same
        uses: hello
        test: "true"
      - name: same
        uses: hello
        test: "true"
  - name: Rounds
    repeat: { count: 2 }
    steps:
      - name: entry of {{vars.n}}
        uses: hello
        iteration: [{ n: 1 }, { n: 2 }]
        test: vars.n + repeat_index < 3
  - name: Embeds
    steps:
      - name: login
        uses: embedded
        with: { path: jobs/login.yml, vars: { user: ann } }
  - name: Needs
    id: needs
    needs: [orders]
    steps: [{ name: one, uses: hello }, { name: two, uses: hello, iteration: [{ a: 1 }] }]
  - name: Off
    skipif: "true"
    steps: [{ name: three, uses: hello }]
  - name: Broken
    skipif: vars.nope.x
    steps: [{ name: four, uses: hello }]
  - name: Off
    repeat: { count: 0 }
    steps: [{ name: five, uses: hello }]
  - name: Entries
    steps:
      - name: each
        uses: embedded
        iteration: [{ n: 1 }, { n: 2 }]
        with: { path: jobs/set.yml }
        test: res.code == 0
`,
  "jobs/login.yml": `name: Login
steps:
  - name: fine
    uses: hello
    test: "true"
  - name: token
    uses: hello
    test: res.token == "x"
`,
  "jobs/set.yml": `name: Set
steps:
  - name: part
    uses: hello
    iteration: [{ n: 1 }, { n: 2 }]
    test: "true"
  - { name: off, uses: hello, skipif: "true" }
`,
};

/** The expected report of one case. */
export interface RichCase {
  readonly suite: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "error" | "skipped";
  readonly reason?: string;
  /** Where it failed, or where it begins. */
  readonly at?: string;
  readonly flaky?: true;
}

const SKIPPED = { outcome: "skipped" } as const;
const NEEDS = 'needs "orders", which failed';

/** Every case of the run, in order. */
export const RICH_CASES: readonly RichCase[] = [
  { suite: "Orders", name: "good", outcome: "passed", at: "w.yml:10" },
  { suite: "Orders", name: "wrong", outcome: "failed", at: "w.yml:20" },
  { suite: "Orders", name: "refused", outcome: "error", at: "w.yml:22" },
  {
    suite: "Orders",
    name: "skipped",
    ...SKIPPED,
    reason: "skipif is true: vars.total > 10",
    at: "w.yml:24",
  },
  { suite: "Orders", name: "shell", outcome: "passed", at: "w.yml:27" },
  { suite: "Orders", name: "flaky", outcome: "passed", at: "w.yml:29", flaky: true },
  { suite: "Orders", name: "never good", outcome: "failed", at: "w.yml:37" },
  { suite: "Orders", name: "same", outcome: "passed", at: "w.yml:39" },
  { suite: "Orders", name: "same (2)", outcome: "passed", at: "w.yml:42" },
  { suite: "Rounds", name: "entry of 1 (entry 1)", outcome: "passed", at: "w.yml:48" },
  { suite: "Rounds", name: "entry of 2 (entry 2)", outcome: "failed", at: "w.yml:51" },
  { suite: "Embeds", name: "login", outcome: "failed", at: "jobs/login.yml:8" },
  { suite: "Needs", name: "one", ...SKIPPED, reason: NEEDS, at: "w.yml:60" },
  { suite: "Needs", name: "two", ...SKIPPED, reason: NEEDS, at: "w.yml:60" },
  { suite: "Off", name: "three", ...SKIPPED, reason: "skipif is true: true", at: "w.yml:63" },
  { suite: "Broken", name: "job Broken", outcome: "error", at: "w.yml:65" },
  {
    suite: "Broken",
    name: "four",
    ...SKIPPED,
    reason: "the job failed before its steps",
    at: "w.yml:66",
  },
  { suite: "Off (2)", name: "five", ...SKIPPED, reason: "repeat.count is 0", at: "w.yml:69" },
  ...[1, 2].map((entry) => ({
    suite: "Entries",
    name: `each (entry ${entry})`,
    outcome: "passed" as const,
    at: "w.yml:72",
  })),
];
