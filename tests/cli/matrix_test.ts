import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { assertHas, labels, withEditor } from "../support/programs/editor_session.ts";
import { validateAll } from "../support/programs/ajv.ts";
import { runAt } from "../support/run/run_at.ts";
import { runMain } from "../support/run/run_main.ts";
import { FORMATS, runInPieces, runWhole, withoutTimes } from "../support/run/run_pieces.ts";
import { withFiles } from "../support/temp_dir.ts";

const DEPLOY = `name: Matrix
vars:
  regions: [{ name: eu }, { name: us, zone: 2 }]
jobs:
  - name: Deploy
    id: deploy
    matrix:
      env: [staging, prod]
      region: "{{vars.regions}}"
      exclude: [{ env: prod, region: { name: eu } }]
      include: [{ env: prod, replicas: 3 }, { env: dev, region: { name: local } }]
    skipif: matrix.env == vars.skipped
    steps:
      - name: to {{matrix.env}}
        id: release
        uses: echo
        with: { message: "{{matrix.env}} {{matrix.region.name}} {{matrix.replicas ?? 1}}" }
        test: res.message contains matrix.env
        outputs: { where: res.message }
      - { uses: hello, test: outputs.release.where startsWith matrix.env && outputs.where == outputs.release.where }
  - name: Report
    needs: [deploy]
    steps:
      - uses: hello
        test:
          - len(needs.deploy.all) == 4 && needs.deploy.state == "passed"
          - map(needs.deploy.all, .matrix.env) == ["staging", "staging", "prod", "dev"]
          - map(outputs.release.all, .where) == vars.all
`;

const flow = ({ skipped = "none", all = ALL } = {}) =>
  DEPLOY.replace("jobs:", `  skipped: ${skipped}\n  all: ${JSON.stringify(all)}\njobs:`);

const ALL = ["staging eu 1", "staging us 1", "prod us 3", "dev local 1"];

const NAMES = ["staging, eu", "staging, us", "prod, us, 3", "dev, local"];

Deno.test("a job with a matrix runs once for each combination, as a job of its own", async () => {
  const { code, stdout, reports } = await runAt(flow(), ["--report-dir", "reports"]);
  assertEquals(code, 0, stdout);
  for (const name of NAMES) assertStringIncludes(stdout, `Deploy (${name})`);
  const suites = [...reports["junit.xml"]!.matchAll(/<testsuite name="([^"]*)"/g)].map(([, name]) =>
    name
  );
  assertEquals(suites, [...NAMES.map((name) => `Deploy (${name})`), "Report"]);
  assertEquals(JSON.parse(reports["report.json"]!).jobs.map(({ id }: { id: string }) => id), [
    ...NAMES.map((name) => `deploy(${name})`),
    "job_1",
  ]);
});

Deno.test("a job of a matrix that is skipped or fails is that one alone", async () => {
  const skipped = await runAt(flow({ skipped: "dev", all: ALL.slice(0, 3) }));
  assertEquals(skipped.code, 0, skipped.stdout);
  assertStringIncludes(skipped.stdout, "- Deploy (dev, local) (skipped: skipif is true");
  const failed = await runAt(flow().replace("contains matrix.env", 'contains "g"'));
  assertEquals(failed.code, 1);
  assertStringIncludes(failed.stdout, "and 1 more: Deploy (dev, local) › to dev");
  assertStringIncludes(
    failed.stdout,
    '- Report (skipped: needs "deploy(prod, us, 3)", which failed)',
  );
});

Deno.test("a name that has the values of the matrix gets no others", async () => {
  const { stdout } = await runAt(flow().replace("name: Deploy", 'name: "{{matrix.env}}!"'));
  assertStringIncludes(stdout, "staging!");
  assert(!stdout.includes("staging! ("), stdout);
});

Deno.test("jobs of a matrix are chosen by id, pattern, name and line, one or all", async () => {
  await withFiles({ "w.yml": flow() }, async (cwd) => {
    const chosen = async (...args: string[]) => {
      const { stdout } = await runMain(["--dry-run", ...args], { cwd });
      return [...stdout.matchAll(/^ {2}- id: "?(.*?)"?$/gm)].map(([, id]) => id);
    };
    const all = NAMES.map((name) => `deploy(${name})`);
    assertEquals(await chosen("w.yml", "--only", "deploy(staging*)"), all.slice(0, 2));
    assertEquals(await chosen("w.yml", "--only", "deploy(prod, us, 3)"), [all[2]]);
    assertEquals(await chosen("w.yml", "--only", "Deploy (dev, local)"), [all[3]]);
    assertEquals(await chosen("w.yml", "--only", "deploy"), all);
    assertEquals(await chosen("w.yml:12"), all);
    const { stderr } = await runMain(["w.yml", "--only", "deploy(test)"], { cwd });
    assertStringIncludes(stderr, 'unknown job "deploy(test)"');
  });
});

const job = (matrix: string, path: string, more = "") =>
  `name: n\njobs:\n  - name: a\n    id: a\n    matrix: ${matrix}\n    steps:\n` +
  `      - {uses: http, with: {get: "{url}${path}"}, test: res.code == 200}\n` +
  `      - {uses: http, with: {get: "{url}/end/{{matrix.n}}"}}\n${more}`;

Deno.test("parallel limits how many jobs of a matrix run at once, in their order", async () => {
  const one = await runAt(job("{ n: [1, 2, 3], parallel: 1 }", "/{{matrix.n}}"));
  assertEquals([one.code, one.seen], [0, ["/1", "/end/1", "/2", "/end/2", "/3", "/end/3"]]);
  const two = await runAt(
    job("{ n: [1, 2, 3, 4], parallel: 2 }", "/meet/{{(matrix.n + 1) // 2}}/2")
      .replace("(matrix.n + 1) // 2", "matrix.n < 3 ? 1 : 2"),
  );
  assertEquals([two.code, two.seen.slice(0, 2)], [0, ["/meet/1/2", "/meet/1/2"]]);
  const ended = two.seen.findIndex((path) => path.startsWith("/end/"));
  assert(ended < two.seen.indexOf("/meet/2/2"), two.seen.join());
});

Deno.test("fail_fast closes the jobs of its matrix, and no others", async () => {
  const other =
    `  - {name: b, needs: [a], when: always, steps: [{uses: http, with: {get: "{url}/b"}}]}\n`;
  const { code, stdout, seen } = await runAt(
    job("{ n: [200, 500, 201], parallel: 1, fail_fast: true }", "/status/{{matrix.n}}", other),
  );
  assertEquals([code, seen], [1, ["/status/200", "/end/200", "/status/500", "/end/500", "/b"]]);
  assertStringIncludes(
    stdout,
    '- a (201) (skipped: not started: fail_fast of the matrix after "a(500)" failed)',
  );
});

/** Matrices, each with the messages about it. */
const MISTAKES: readonly (readonly [matrix: string, ...messages: string[]])[] = [
  ["[a]", '5:13: error: "matrix" must be a map, not a list'],
  ["{}", '5:13: error: "matrix" has no values'],
  ["{ n: 1 }", '5:18: error: "n" must be a list, not 1'],
  ["{ n: [] }", '5:18: error: "n" must not be empty'],
  ["{ n: [[1]] }", 'a value of "n" must be a scalar or a map, not a list'],
  ["{ n: [1], a-b: [1] }", '5:23: error: invalid name "a-b" in "matrix"'],
  ["{ n: [1], exlude: [{ n: 1 }] }", 'unknown key "exlude" in matrix', 'did you mean "exclude"?'],
  ["{ n: [1], max-parallel: 2 }", 'the key is "parallel"'],
  ["{ n: [1], parallel: 0 }", '"parallel" must be at least 1, not 0'],
  ["{ n: [1], fail_fast: maybe }", '"fail_fast" must be a boolean'],
  [
    "{ n: [1], include: { n: 2 } }",
    '"include" must be a list of maps',
    'begin each item with "- "',
  ],
  ["{ n: [1], exclude: [{ m: 1 }] }", '5:35: error: unknown name "m" in "exclude"'],
  ["{ n: [1], exclude: [{ n: 2 }] }", "5:33: error: it excludes no combination"],
  ["{ n: [1], exclude: [{ n: 1 }] }", "5:13: error: the matrix has no combinations"],
  [
    `{ n: [${[...Array(40).keys()]}], m: [${[...Array(40).keys()]}] }`,
    "the matrix has more than 1000 combinations",
  ],
  ['{ n: "{{outputs.x}}" }', '5:21: error: unknown name "outputs" in a matrix'],
  [
    '{ n: "{{vars.none}}" }',
    'cannot evaluate the matrix of the job "a"',
    '5:18: error: "n" of the matrix must be a list with values',
  ],
  ['{ n: "{{[]}}" }', '5:18: error: "n" of the matrix must be a list with values'],
  ['{ n: "{{3}}" }', '5:18: error: "n" of the matrix must be a list with values'],
  ["{ m: [1] }", "7:", 'unknown field "n" of matrix'],
];

for (const [matrix, ...messages] of MISTAKES) {
  Deno.test(`a mistake in matrix: ${matrix.slice(0, 40)}`, async () => {
    const text = job(matrix, "/").replaceAll("{url}", "http://127.0.0.1:1");
    await withFiles({ "w.yml": text }, async (cwd) => {
      const { code, stderr, stdout } = await runMain(["--no-check", "w.yml"], { cwd });
      assertEquals([code, stdout], [1, ""]);
      for (const message of messages) assertStringIncludes(stderr, message);
    });
  });
}

Deno.test("check knows the outputs and states of a job with a matrix", async () => {
  const text = flow() +
    '      - { uses: hello, test: "outputs.release.where == outputs.where" }\n' +
    '      - { uses: hello, test: "needs.deploy.al == 1" }\n' +
    "  - { name: None, steps: [{ uses: hello, test: matrix.env == 1 }] }\n";
  await withFiles({ "w.yml": text }, async (cwd) => {
    const { stdout, stderr } = await runMain(["check", "w.yml"], { cwd });
    const found = stdout + stderr;
    const published = '"where" is published by each job of the matrix of "deploy"';
    assertEquals(found.split(published).length, 3, found);
    assertStringIncludes(found, "outputs.release.all is the list of their outputs");
    assertStringIncludes(found, 'unknown field "al" of needs.deploy');
    assertStringIncludes(found, 'a job with the key "matrix" has it');
    const run = await runMain(["--no-check", "w.yml", "--skip", "None"], { cwd });
    assertStringIncludes(run.stderr, 'unknown name "matrix"');
  });
  const nil = flow() + '      - { uses: hello, test: "(outputs?.release)[vars.key] == 1" }\n';
  const { stdout } = await runAt(nil.replace("jobs:", "  key: where\njobs:"));
  assertStringIncludes(stdout, "outputs?.release)[vars.key] is nil");
});

Deno.test("a large matrix is drawn as one job, a small one as its jobs", async () => {
  const large = `name: n\njobs:\n  - name: Load\n    id: load\n    matrix: { n: "{{1..100}}" }\n` +
    "    steps: [{ uses: hello }]\n  - { name: End, needs: [load], steps: [{ uses: hello }] }\n";
  await withFiles({ "large.yml": large, "small.yml": flow() }, async (cwd) => {
    const drawn = async (...args: string[]) => (await runMain(["dag", ...args], { cwd })).stdout;
    const box = await drawn("large.yml");
    assertStringIncludes(box, "│ Load (100 jobs) │");
    assert(box.split("\n").length < 15, box);
    assertEquals((await drawn("--mermaid", "large.yml")).split("load --> ").length, 2);
    assertStringIncludes(await drawn("small.yml"), "Deploy (dev, local)");
    const { jobs } = JSON.parse(await drawn("--json", "large.yml"));
    assertEquals(jobs.length, 101);
    assertEquals([jobs[4].id, jobs[4].matrix, jobs[100].needs.length], ["load(5)", "load", 100]);
    const list = await runMain(["--list", "large.yml"], { cwd });
    assertMatch(list.stdout, /^End +job_\d+ +needs load$/m);
    const { code, stdout } = await runMain(["-q", "large.yml"], { cwd });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "\nSteps      101 not tested (101)\n");
  });
});

Deno.test("jobs of a matrix run in processes of their own, with the same reports", async () => {
  await withFiles({ "w.yml": flow() }, async (cwd) => {
    const whole = await runWhole("w.yml", { cwd });
    const pieces = await runInPieces("w.yml", { cwd });
    assertEquals([whole.code, pieces.code], [0, 0], pieces.stdout + pieces.stderr);
    for (const format of FORMATS) {
      const [one, other] = ["whole", "pieces"].map((name) =>
        withoutTimes(Deno.readTextFileSync(`${cwd}/${name}.${format}`))
      );
      assertEquals(other, one);
    }
  });
});

Deno.test("an export has a task for each job of a matrix, or one where they are limited", async () => {
  const limited = flow().replace("      exclude", "      parallel: 1\n      exclude");
  await withFiles({ "w.yml": flow(), "limited.yml": limited }, async (cwd) => {
    const exported = async (...args: string[]) => {
      const { code, stdout, stderr } = await runMain(["export", ...args], { cwd });
      assertEquals(code, 0, stderr);
      return stdout;
    };
    const tasks = [
      "deploy-staging-eu",
      "deploy-staging-us",
      "deploy-prod-us-3",
      "deploy-dev-local",
    ];
    const github = await exported("github", "w.yml");
    // deno-lint-ignore no-explicit-any
    const { jobs } = parse(github) as any;
    assertEquals(Object.keys(jobs), ["runner-prepare", ...tasks, "job-1", "runner-report"]);
    assertEquals(jobs["job-1"].needs, ["runner-prepare", ...tasks]);
    assertStringIncludes(github, "--only 'deploy(staging, eu)'");
    for (const engine of ["gitlab", "argo"]) {
      const text = await exported(engine, "w.yml", "--image", "runner");
      for (const task of tasks) assertStringIncludes(text, task);
    }
    // deno-lint-ignore no-explicit-any
    const one = parse(await exported("github", "limited.yml")) as any;
    assertEquals(Object.keys(one.jobs), ["runner-prepare", "deploy", "job-1", "runner-report"]);
    assertEquals(one.jobs.deploy.name, "Deploy (staging, eu) and 3 more");
  });
});

Deno.test("no name or id of a job of a matrix shows a secret", async () => {
  const text = `name: n
vars: { api_token: "{{API_TOKEN}}", other_token: "{{OTHER_TOKEN}}" }
jobs:
  - name: a
    id: a
    matrix: { token: ["{{vars.api_token}}", "{{vars.other_token}}"], login: [{ user: u, password: hunter-22 }] }
    steps: [{ uses: echo, with: { message: "{{matrix.token}}" }, test: len(res.message) == 15 }]
`;
  await withFiles({ "w.yml": text }, async (cwd) => {
    const env = { API_TOKEN: "swordfish-12345", OTHER_TOKEN: "swordfish-54321" };
    for (const command of [["-v"], ["dag", "--json"], ["dag"], ["--dry-run"]]) {
      const { code, stdout } = await runMain([...command, "w.yml"], { cwd, env });
      assertEquals(code, 0, stdout);
      assert(!/swordfish|hunter/.test(stdout.replace(/^.*matrix: .*$/m, "")), stdout);
      assertStringIncludes(stdout, "a (***, u #2)");
    }
  });
});

Deno.test("two entries of a matrix that become equal are an error", async () => {
  const table: [matrix: string, place: string][] = [
    ["{ v: [1.10, 1.1] }", "w.yml:3:39"],
    ["{ v: [1e3, 1000] }", "w.yml:3:38"],
    ["{ v: ['{{vars.a}}', x] }", "w.yml:3:47"],
    ["{ include: [{ v: 1 }, { v: 1.0 }] }", "w.yml:3:38"],
  ];
  for (const [matrix, place] of table) {
    const text =
      `name: n\nvars: { a: x }\njobs: [{ name: a, matrix: ${matrix}, steps: [{ uses: hello }] }]\n`;
    await withFiles({ "w.yml": text }, async (cwd) => {
      const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
      assertEquals([code, stdout], [1, ""]);
      assertStringIncludes(stderr, `${place}: error: two entries of the matrix are equal`);
    });
  }
});

Deno.test("an editor knows the matrix of a job", async () => {
  await withEditor({ "a.yml": "" }, async (editor, at) => {
    const path = at("a.yml");
    const of = (text: string, near: string) => labels(editor, path, text, near);
    const job = "name: a\njobs:\n  - name: b\n    id: one\n    matrix:\n      env: [x]\n" +
      "      include: [{ size: 1 }]\n      ";
    assertHas(await of(`${job}p`, "\n      p"), ["parallel", "fail_fast", "exclude"]);
    const step = `${job}parallel: 1\n    steps:\n      - uses: hello\n        id: s\n` +
      "        outputs: { n: 1 }\n        ";
    assertEquals((await of(`${step}test: matrix.`, "matrix.")).toSorted(), ["env", "size"]);
    assertHas(await of(`${step}test: ma`, "test: ma"), ["matrix", "map"]);
    const second = `${step}\n  - name: c\n    needs: [one]\n    skipif: `;
    assertEquals(await of(`${second}needs.one.`, "needs.one."), ["state", "all"]);
    assertEquals(await of(`${second}outputs.s.`, "outputs.s."), ["all"]);
    assert(!(await of(`${second}ma`, "skipif: ma")).includes("matrix"));
  });
});

Deno.test("the JSON Schema knows matrix", async () => {
  const { stdout } = await runMain(["schema"]);
  const judged = validateAll(JSON.parse(stdout), {
    good: parse(flow()),
    list: parse(job("[1]", "/")),
    scalar: parse(job("{ n: 1 }", "/")),
    none: parse(job("{ n: [] }", "/")),
    parallel: parse(job("{ n: [1], parallel: 0 }", "/")),
  });
  assertEquals(Object.entries(judged).map(([name, errors]) => [name, errors.length > 0]), [
    ["good", false],
    ["list", true],
    ["scalar", true],
    ["none", true],
    ["parallel", true],
  ]);
});
