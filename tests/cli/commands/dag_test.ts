import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readDrawing } from "../../support/read_drawing.ts";
import { runAt } from "../../support/run/run_at.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Runs `runner dag` on a workflow. */
function dag(yaml: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  return withFiles(
    { "w.yml": yaml },
    (cwd) => runMain(["dag", ...args, "w.yml"], { cwd, env }),
  );
}

const RELEASE = `
name: release
vars:
  stage: "{{STAGE ?? 'test'}}"
  host: "https://{{HOST}}"
jobs:
  - name: Build {{vars.stage}}
    id: build-it
    steps:
      - {name: "compile for {{vars.stage}}", id: compile, uses: shell, with: {cmd: touch made}}
      - {uses: hello}
  - name: Deploy to {{vars.host}}
    needs: [build-it]
    steps:
      - name: "{{vars.stage}} {{outputs.compile.file}} {{vars.region}}"
        uses: hello
        vars: {stage: "{{vars.stage}}-1"}
        iteration: [{region: eu}, {region: us}]
`;

Deno.test("dag draws the jobs with the vars of the workflow in their names", async () => {
  const { code, stdout, stderr } = await dag(RELEASE, [], { HOST: "example.com" });
  assertEquals([code, stderr], [0, ""]);
  assertEquals(readDrawing(stdout), [
    { title: "Build test", rows: ["· compile for test", "· hello"], needs: [] },
    {
      title: "Deploy to https://example.com",
      rows: ["· test-1 {{outputs.compile.file}} {{…"],
      needs: ["Build test"],
    },
  ]);
});

Deno.test("dag draws when a job runs", async () => {
  const { stdout } = await dag(`name: n
vars: { quiet: false }
jobs:
  - { id: a, name: a, steps: [{ uses: hello }] }
  - { name: b, needs: [a], when: always, skipif: vars.quiet, steps: [{ uses: hello }] }
`);
  const [, job] = readDrawing(stdout);
  assertEquals(job!.rows, ["when: always", "skipif: vars.quiet", "· hello"]);
});

Deno.test("dag shows as written what depends on the environment", async () => {
  const { code, stdout } = await dag(RELEASE, ["--json"], { STAGE: "prod" });
  assertEquals(code, 0);
  assertEquals(JSON.parse(stdout), {
    name: "release",
    jobs: [
      {
        id: "build-it",
        name: "Build prod",
        needs: [],
        level: 0,
        ancestors: [],
        place: { file: "w.yml", line: 7, column: 5 },
        steps: [
          {
            id: "compile",
            name: "compile for prod",
            uses: "shell",
            place: { file: "w.yml", line: 10, column: 9 },
          },
          { name: "hello", uses: "hello", place: { file: "w.yml", line: 11, column: 9 } },
        ],
      },
      {
        id: "job_1",
        name: "Deploy to {{vars.host}}",
        needs: ["build-it"],
        level: 1,
        ancestors: ["build-it"],
        place: { file: "w.yml", line: 12, column: 5 },
        steps: [{
          name: "prod-1 {{outputs.compile.file}} {{vars.region}}",
          uses: "hello",
          place: { file: "w.yml", line: 15, column: 9 },
        }],
      },
    ],
  });
});

Deno.test("dag --mermaid prints a flowchart", async () => {
  const { code, stdout } = await dag(RELEASE, ["--mermaid"], { HOST: "h" });
  assertEquals(
    [code, stdout],
    [
      0,
      `flowchart LR
    subgraph build_it["Build test"]
        build_it_step0["compile for test"]
        build_it_step1["hello"]
    end
    subgraph job_1["Deploy to https#58;//h"]
        job_1_step0["test-1 {{outputs.compile.file}} {{vars.region}}"]
    end
    build_it --> job_1
`,
    ],
  );
});

Deno.test("dag runs nothing", async () => {
  await withFiles({ "w.yml": RELEASE }, async (cwd) => {
    for (const args of [[], ["--mermaid"], ["--json"]]) {
      assertEquals((await runMain(["dag", ...args, "w.yml"], { cwd })).code, 0);
    }
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["w.yml"]);
  });
});

Deno.test("dag writes neither escape codes nor secrets", async () => {
  const yaml = `
name: n
vars: {api_token: "{{API_TOKEN}}"}
jobs:
  - name: "log in with {{vars.api_token}}"
    steps: [{name: "\\e[31mred\\e[0m", uses: hello}]
`;
  for (const args of [[], ["--mermaid"]]) {
    const { code, stdout } = await dag(yaml, args, { API_TOKEN: "s3cr3t-value", FORCE_COLOR: "1" });
    assertEquals(code, 0);
    for (const never of ["\x1b", "s3cr3t"]) assertEquals(stdout.includes(never), false, stdout);
    assertStringIncludes(stdout, "red");
  }
});

const WIDE = `name: n\njobs:\n` +
  Array.from(
    { length: 9 },
    (_, index) => `  - {name: job ${index}, id: j${index}, steps: [{uses: hello}]}\n`,
  ).join("");

Deno.test("dag draws at the requested width", async () => {
  const widthOf = async (args: readonly string[], env?: Record<string, string>) => {
    const { code, stdout } = await dag(WIDE, args, env);
    assertEquals([code, readDrawing(stdout).length], [0, 9], stdout);
    return Math.max(...stdout.split("\n").map((line) => line.length));
  };
  const whole = await widthOf([]);
  assertEquals(whole > 100, true);
  assertEquals(await widthOf(["--width", "50"]) <= 50, true);
  assertEquals(await widthOf([], { COLUMNS: "60" }) <= 60, true);
  assertEquals(await widthOf([], { COLUMNS: "many" }), whole);
});

const BAD: readonly (readonly [string, string, readonly string[], string])[] = [
  ["a workflow with mistakes", "name: n\njobs: []\n", [], "jobs"],
  [
    "a dependency cycle",
    "name: n\njobs:\n" +
    "  - {name: a, id: a, needs: [b], steps: [{uses: hello}]}\n" +
    "  - {name: b, id: b, needs: [a], steps: [{uses: hello}]}\n",
    [],
    "dependency cycle",
  ],
  ["text that is not YAML", "name: [", [], "YAML syntax error at line"],
  [
    "two forms at once",
    WIDE,
    ["--json", "--mermaid"],
    "options --mermaid and --json cannot be combined",
  ],
  [
    "a width that is none",
    WIDE,
    ["--width", "wide"],
    'option --width must be a number of columns, not "wide"',
  ],
  ["a width of nothing", WIDE, ["--width=0"], '"0"'],
];

for (const [what, yaml, args, message] of BAD) {
  Deno.test(`dag refuses ${what}`, async () => {
    for (const form of args.length > 0 ? [[]] : [[], ["--mermaid"], ["--json"]]) {
      const { code, stdout, stderr } = await dag(yaml, [...args, ...form]);
      assertEquals([code, stdout], [1, ""]);
      assertStringIncludes(stderr, "runner: error: ");
      assertStringIncludes(stderr, message);
    }
  });
}

Deno.test("dag says which file is missing, and that one is", async () => {
  const missing = await runMain(["dag", "nowhere.yml"]);
  assertEquals(missing, {
    code: 1,
    stdout: "",
    stderr: "runner: error: workflow file 'nowhere.yml' not found\n",
  });
  const none = await runMain(["dag"]);
  assertEquals([none.code, none.stdout], [1, ""]);
  assertStringIncludes(none.stderr, "<workflow_file> is missing");
});

const MANY = {
  "suite.yml": `name: Nightly
workflows: [flows, { path: flows/a.yml, tags: [nightly] }]
vars: { stage: test }
setup: in.yml
teardown: out.yml
`,
  "in.yml": "name: In\njobs: [{ name: in, steps: [{ uses: hello }] }]\n",
  "out.yml": "name: Out\njobs: [{ name: out, steps: [{ uses: hello }] }]\n",
  "flows/a.yml": `name: A
tags: [smoke]
jobs:
  - { name: "first in {{vars.stage}}", id: one, steps: [{ uses: hello }] }
  - { name: second, needs: [one], tags: [slow, smoke], steps: [{ uses: hello }] }
`,
  "flows/b.yml": "name: [\n",
  "flows/jobs.yml": "name: no workflow\nsteps: [{ uses: hello }]\n",
};

Deno.test("dag draws each workflow of a suite, a directory and several files", async (test) => {
  const cases: [args: string[], titles: string[]][] = [
    [["suite.yml"], []],
    [["flows"], []],
    [["flows/a.yml", "in.yml"], ["A  flows/a.yml", "In  in.yml"]],
    [["in.yml", "out.yml"], ["In  in.yml", "Out  out.yml"]],
    [["*.yml"], ["In  in.yml", "Out  out.yml"]],
  ];
  for (const [args, titles] of cases) {
    await test.step(args.join(" "), async () => {
      const { code, stdout, stderr } = await withFiles(
        MANY,
        (cwd) => runMain(["dag", ...args], { cwd }),
      );
      const isBroken = args[0] === "suite.yml" || args[0] === "flows";
      assertEquals([code, stderr.includes("flows/b.yml")], [isBroken ? 1 : 0, isBroken]);
      assertEquals(stdout.match(/^\S.* {2}\S+\.yml$/gm) ?? [], titles);
    });
  }
});

Deno.test("dag --json and --mermaid show the workflows of a suite with setup and teardown", async () => {
  const { "flows/b.yml": _, ...good } = MANY;
  await withFiles(good, async (cwd) => {
    const json = JSON.parse((await runMain(["dag", "--json", "suite.yml"], { cwd })).stdout);
    assertEquals(json.name, "Nightly");
    assertEquals(
      json.workflows.map(({ file, role }: Record<string, unknown>) => [file, role]),
      [["in.yml", "setup"], ["flows/a.yml", undefined], ["out.yml", "teardown"]],
    );
    const [first, second] = json.workflows[1].jobs;
    assertEquals([first.name, first.tags], ["first in test", ["smoke", "nightly"]]);
    assertEquals(second.tags, ["smoke", "nightly", "slow"]);
    const { stdout } = await runMain(["dag", "--mermaid", "suite.yml"], { cwd });
    assertEquals(stdout.match(/^ {4}\S.*(?:\[|-->).*$/gm), [
      '    subgraph In["setup: In"]',
      '    subgraph A["A"]',
      '    subgraph Out["teardown: Out"]',
      "    In --> A",
      "    A --> Out",
    ]);
  });
});

Deno.test("independent jobs run at the same time", async () => {
  const job = (name: string) =>
    `  - name: ${name}\n    steps:\n      - uses: http\n        with: {get: "{url}/meet/all/3"}\n` +
    "        test: res.code == 200\n";
  const { code, seen } = await runAt(`name: n\njobs:\n${job("a")}${job("b")}${job("c")}`);
  assertEquals([code, seen], [0, ["/meet/all/3", "/meet/all/3", "/meet/all/3"]]);
});

Deno.test("a job starts when its own needs are done, while others still run", async () => {
  // `slow` waits for `late`, which needs only `quick`: running level by level would deadlock.
  const { code, seen } = await runAt(`
name: n
jobs:
  - name: slow
    steps:
      - uses: http
        with: {get: "{url}/meet/x/2"}
  - name: late
    needs: [quick]
    steps:
      - uses: http
        with: {get: "{url}/meet/x/2"}
  - name: quick
    id: quick
    steps:
      - uses: http
        with: {get: "{url}/quick"}
`);
  assertEquals(code, 0);
  assert(seen.includes("/quick"));
});

Deno.test("a job runs after all jobs that it needs, wherever they are in the file", async () => {
  const job = (name: string, needs: string) =>
    `  - name: ${name}\n    id: ${name}\n    needs: [${needs}]\n    steps:\n` +
    `      - uses: http\n        with: {get: "{url}/${name}"}\n`;
  const jobs = job("d", "b, c") + job("c", "a") + job("b", "a") + job("a", "");
  const { code, seen } = await runAt(`name: n\njobs:\n${jobs}`);
  assertEquals([code, seen[0], seen[3], seen.length], [0, "/a", "/d", 4]);
});

Deno.test("jobs that need a failed job are skipped with the reason, and do not count as passed", async () => {
  const { code, stdout, seen } = await runAt(`
name: n
jobs:
  - name: bad
    id: bad
    steps:
      - {uses: http, with: {get: "{url}/status/500"}, test: res.code == 200}
      - {uses: http, with: {get: "{url}/after"}}
  - {name: next, id: next, needs: [bad], steps: [{uses: http, with: {get: "{url}/next"}}]}
  - {name: last, needs: [next], steps: [{uses: http, with: {get: "{url}/last"}}]}
  - {name: free, steps: [{uses: hello}]}
`);
  assertEquals([code, seen], [1, ["/status/500", "/after"]]);
  assertStringIncludes(stdout, '- next (skipped: needs "bad", which failed)');
  assertStringIncludes(stdout, '- last (skipped: needs "next", which was skipped)');
  assertStringIncludes(stdout, " 1 failed");
});

Deno.test("a job skipped by skipif counts as done for those that need it", async () => {
  const { code, stdout, seen } = await runAt(`
name: n
jobs:
  - {name: off, id: off, skipif: "true", steps: [{uses: http, with: {get: "{url}/off"}}]}
  - {name: on, needs: [off], steps: [{uses: http, with: {get: "{url}/on"}}]}
`);
  assertEquals([code, seen], [0, ["/on"]]);
  assertStringIncludes(stdout, "- off (skipped");
});

Deno.test("rounds of an async repeat run at the same time, those of a sync one in turn", async () => {
  const repeated = (async: boolean, page: string) => `
name: n
jobs:
  - name: j
    repeat: {count: 4, async: ${async}}
    steps:
      - {uses: http, with: {get: "{url}/a/{{repeat_index}}"}}
      - {uses: http, with: {get: "{url}${page}"}}
`;
  const together = await runAt(repeated(true, "/meet/x/4"));
  assertEquals(together.code, 0);
  const inTurn = await runAt(repeated(false, "/b/{{repeat_index}}"));
  assertEquals(
    inTurn.seen,
    [0, 1, 2, 3].flatMap((round) => [`/a/${round}`, `/b/${round}`]),
  );
});

Deno.test("repeat.count 0 runs nothing and is a success", async () => {
  const { code, seen } = await runAt(`
name: n
jobs:
  - {name: j, repeat: {count: 0}, steps: [{uses: http, with: {get: "{url}/x"}}]}
`);
  assertEquals([code, seen], [0, []]);
});

Deno.test("all rounds of an async repeat start, however many, before any has to end", async () => {
  const { code, seen } = await runAt(`
name: n
jobs:
  - name: j
    repeat: {count: 300, async: true}
    steps:
      - {uses: http, with: {get: "{url}/meet/all/300"}, test: res.code == 200}
`);
  assertEquals([code, seen.length], [0, 300]);
});
