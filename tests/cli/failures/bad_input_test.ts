import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import type { CliResult } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

const JOBS = "jobs: [{name: a, steps: [{uses: hello}]}]\n";

/** Runs `w.yml`, or what is named, among files; nothing may run or be printed to stdout. */
async function refuse(
  files: Files | string,
  path = "w.yml",
  env: Record<string, string> = {},
): Promise<string> {
  const all = typeof files === "string" ? { "w.yml": files } : files;
  const result = await withFiles(all, (cwd) => runMain([path], { cwd, env }));
  assertNoTrace(result);
  assertEquals([result.code, result.stdout], [1, ""], result.stderr);
  return result.stderr;
}

/** Some at a time: each starts a program, and there may be few processors. */
async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item);
  };
  await Promise.all([work(), work(), work()]);
}

Deno.test("all mistakes of a workflow are reported together, and nothing runs", async () => {
  const yaml = `vars: [1]
jobs:
  - name: first
    steps:
      - {uses: shell, with: {cmd: touch ran}}
  - steps: []
  - name: Deploy
    id: deploy
    needs: [biuld, deploy]
    repeat: {count: -1, async: maybe}
    steps:
      - name: no action
      - uses: http
      - {uses: htpp, wait: soon}
      - {uses: hello, id: One, retry: {max_attempts: 0, interval: 5x, initial_delay: -1s}}
      - {uses: hello, id: two, timeout: [5], test: {a: 1}}
      - {uses: shell, id: two, with: {cmd: ls, timeout: never}, test: }
      - {uses: hello, iteration: {a: 1}, outputs: {a: }, skipif: {}}
  - {name: build, id: build, repeat: {count: 10001}, steps: [{uses: hello, retry: {max_attempts: 10001}}]}
  - {name: again, id: build, needs: build, steps: ~}
  -
`;
  const messages = await withFiles({ "w.yml": yaml }, async (cwd) => {
    const result = await runMain(["w.yml"], { cwd });
    assertEquals([result.code, result.stdout], [1, ""]);
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["w.yml"]);
    return result.stderr;
  });
  assertEquals(messages.split("\n").filter((line) => /^\S/.test(line)), [
    "runner: error: workflow file 'w.yml' has 30 errors",
    'w.yml:1:1: error: the workflow needs "name"',
    'w.yml:1:7: error: "vars" must be a map, not a list',
    'w.yml:6:5: error: a job needs "name"',
    'w.yml:6:12: error: "steps" must not be empty',
    'w.yml:9:13: error: unknown job "biuld" in needs of "Deploy"',
    "w.yml:9:20: error: dependency cycle: deploy → deploy",
    'w.yml:10:21: error: "count" must be 0 or greater, not -1',
    'w.yml:10:32: error: "async" must be a boolean, not "maybe"',
    'w.yml:12:9: error: a step needs "uses"',
    "w.yml:13:9: error: http step has no method",
    'w.yml:14:16: error: unknown action "htpp"',
    `w.yml:14:28: error: "wait" must be a duration ${FORMS}, not "soon"`,
    'w.yml:15:27: error: the step id "One" must be made of a-z, 0-9, _ and -',
    'w.yml:15:54: error: "max_attempts" must be at least 1, not 0',
    `w.yml:15:67: error: "interval" must be a duration ${FORMS}, not "5x"`,
    'w.yml:15:86: error: "initial_delay" must not be negative, not "-1s"',
    'w.yml:16:41: error: "timeout" must be a duration, not a list',
    'w.yml:16:52: error: "test" must be an expression, not a map',
    'w.yml:17:27: error: the step id "two" is already defined',
    `w.yml:17:57: error: "timeout" must be a duration ${FORMS}, not "never"`,
    'w.yml:17:65: error: "test" is empty',
    'w.yml:18:34: error: "iteration" needs "list", "file" or "until"',
    'w.yml:18:35: warning: unknown key "a" in iteration',
    'w.yml:18:52: error: the output "a" is empty',
    'w.yml:18:66: error: "skipif" must be an expression, not a map',
    'w.yml:19:46: error: "count" must be at most 10000, not 10001',
    'w.yml:19:98: error: "max_attempts" must be at most 10000, not 10001',
    'w.yml:20:23: error: the job id "build" is already defined',
    'w.yml:20:37: error: "needs" must be a list, not "build"',
    'w.yml:20:51: error: "steps" must not be empty',
    "w.yml:21:3: error: a job must be a map, not nothing",
  ]);
  assertStringIncludes(
    messages,
    `  9 |     needs: [biuld, deploy]
    |             ^^^^^ did you mean "build"?
`,
  );
});

const FORMS = 'like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds';

Deno.test("a directory is not accepted as an env file", () =>
  withFiles({ "w.yml": `name: n\n${JOBS}`, "folder/a.yml": "a: 1" }, async (cwd) => {
    const result = await runMain(["--env-file", "folder", "w.yml"], { cwd });
    assertEquals(result, {
      code: 1,
      stdout: "",
      stderr: "runner: error: cannot read env file 'folder': it is a directory\n" +
        "  name a file in it\n",
    });
  }));

Deno.test("an invalid workflow path is reported in one line, with a suggestion", async () => {
  const files: Files = {
    "w.yml": `name: n\n${JOBS}`,
    "empty.yml": "",
    "comment.yml": "# nothing\n\n# here\n",
    "scalar.yml": "just text\n",
    "list.yml": "- a\n- b\n",
    "binary.yml": Uint8Array.from({ length: 300 }, (_, index) => index % 256),
    "utf16.yml": Uint8Array.from([0xff, 0xfe, 0x61, 0, 0x3a, 0]),
    "folder/a.yml": `name: n\n${JOBS}`,
    "folder/note.txt": "",
    "other/note.txt": "",
  };
  const table: readonly (readonly [path: string, messages: string])[] = [
    ["missing.yml", "runner: error: workflow file 'missing.yml' not found"],
    ["w.yml/x", "runner: error: workflow file 'w.yml/x' not found"],
    ["w.yml,missing.yml", "runner: error: workflow file 'missing.yml' not found"],
    ["", "runner: error: cannot load a workflow: the path is empty"],
    ["w.yml,,w.yml", 'runner: error: cannot load a workflow: "w.yml,,w.yml" has an empty path'],
    ["w.yml,", 'runner: error: cannot load a workflow: "w.yml," has an empty path in it'],
    ["empty.yml", "runner: error: workflow file 'empty.yml' is empty\n  a workflow needs at least"],
    ["comment.yml", "runner: error: workflow file 'comment.yml' is empty"],
    ["scalar.yml", 'scalar.yml:1:1: error: the workflow must be a map, not "just text"'],
    ["list.yml", "list.yml:1:1: error: the workflow must be a map, not a list"],
    [
      "binary.yml",
      "cannot read workflow file 'binary.yml': it is not UTF-8 text: the byte at offset ",
    ],
    ["utf16.yml", "utf16.yml:1:1: error: the workflow needs"],
    ["other", "runner: error: no workflow in 'other'\n  it has no .yml or .yaml file"],
    ...Deno.build.os === "windows"
      ? []
      : [["x".repeat(300), "xxx': File name too long\n"] as const],
  ];
  await withFiles(files, (cwd) =>
    inParallel(table, async ([path, messages]) => {
      const result = await runMain([path], { cwd });
      assertNoTrace(result);
      assertEquals([result.code, result.stdout], [1, ""], path);
      assertStringIncludes(result.stderr, messages);
    }));
});

Deno.test({
  name: "a device that does not end, and a file that no memory holds, are refused",
  ignore: Deno.build.os === "windows",
  async fn() {
    const messages = (path: string) =>
      `runner: error: cannot read workflow file '${path}': it is larger than 256 MB\n`;
    assertEquals(await refuse({}, "/dev/zero"), messages("/dev/zero"));
    await withFiles({ "large.yml": "" }, async (cwd) => {
      await Deno.truncate(`${cwd}/large.yml`, 3 * 1024 ** 3);
      const result = await runMain(["large.yml"], { cwd });
      assertEquals([result.code, result.stdout, result.stderr], [1, "", messages("large.yml")]);
    });
  },
});

Deno.test("closing brackets need no indentation", async () => {
  const text =
    "name: n\njobs: [\n {\n  name: a, steps: [\n   {uses: echo, with: {message: 1234567890123456789" +
    "}, test: 'res.message == \"1234567890123456789\"'},\n   {uses: hello, test: 1 == 2}\n]\n}\n]\n";
  await withFiles({ "w.yml": text }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    assertEquals([code, stderr], [1, ""]);
    assertStringIncludes(stdout, "w.yml:6:24: test is false");
  });
});

Deno.test({
  name: "an unreadable file is reported as such",
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  fn: () =>
    withFiles({ "w.yml": `name: n\n${JOBS}` }, async (cwd) => {
      await Deno.chmod(`${cwd}/w.yml`, 0);
      const { code, stderr } = await runMain(["w.yml"], { cwd });
      assertEquals([code, stderr], [1, "runner: error: permission denied reading 'w.yml'\n"]);
    }),
});

Deno.test("invalid YAML is reported with its line", async () => {
  const steps = "name: n\njobs:\n- name: a\n  steps:\n";
  const table: readonly (readonly [yaml: string, messages: string])[] = [
    [
      `${steps}\t- uses: hello\n`,
      `runner: error: YAML syntax error at line 5
w.yml:5:1: error: a tab in the indentation
  5 |  - uses: hello
    | ^ indent with spaces
`,
    ],
    [
      `${steps}  - uses: hello\n    skipif: !vars.x\n`,
      '6:13: error: unknown YAML tag "!vars.x"',
    ],
    [
      `${steps}  - uses: hello\n    name: {{ vars.x }} y\n`,
      "6:24: error: YAML reads {{ }} without",
    ],
    [`name: n\nname: m\n${JOBS}`, '2:1: error: duplicate key "name"; the first one is in line 1'],
    [
      `${steps}  - uses: hello\n    uses: echo\n`,
      '6:5: error: duplicate key "uses"; the first one is in line 5',
    ],
    [`name: n\n${JOBS}---\nname: m\n`, "3:1: error: a second document begins here"],
    [`name: n\n${JOBS}x: *y\n`, '3:4: error: the alias "*y" has no anchor "&y" before it'],
    [`name: "n\n${JOBS}`, "1:7: error: the text that begins here is not closed"],
    [`name n\n${JOBS}`, "1:1: error: a key without a value"],
  ];
  await inParallel(
    table,
    async ([yaml, messages]) => assertStringIncludes(await refuse(yaml), messages),
  );
});

Deno.test("unusual but valid files are read as they are meant", async () => {
  const good: Readonly<Record<string, string>> = {
    crlf:
      `name: n\r\njobs:\r\n- name: a\r\n  steps:\r\n  - uses: hello\r\n    test: |\r\n      1 ==\r\n      1\r\n`,
    bom: `\ufeffname: n\n${JOBS}`,
    start: `%YAML 1.2\n---\nname: n\n${JOBS}...\n`,
    merges: `x: &x {a: 1}\ny: &y {b: 2}\nname: n\nvars:\n  <<: *x\n  <<: *y\n` +
      "jobs: [{name: a, steps: [{uses: hello, test: vars.a + vars.b == 3}]}]\n",
    types: "name: 5\njobs:\n- name: true\n  steps:\n  - {uses: hello, name: 1.50, test: true}\n",
  };
  const files = Object.fromEntries(
    Object.entries(good).map(([name, yaml]) => [`${name}.yml`, yaml]),
  );
  const anchors = {
    "one.yml": "x: &step\n  uses: hello\n  test: '1 == 1'",
    "two.yml": "---\nname: n\njobs: [{name: a, steps: [*step]}]\n",
  };
  await withFiles(
    { ...files, ...anchors },
    (cwd) =>
      inParallel([...Object.keys(files), "one.yml, two.yml"], async (path) => {
        const { code, stderr } = await runMain([path], { cwd });
        assertEquals([code, stderr], [0, ""], path);
      }),
  );
});

Deno.test("with an invalid RUNNER_TIMEOUT nothing runs", async () => {
  const table = [["soon", `must be a duration ${FORMS}`], ["-5s", "must not be negative"]] as const;
  await inParallel(table, async ([value, messages]) => {
    const stderr = await refuse(`name: n\n${JOBS}`, "w.yml", { RUNNER_TIMEOUT: value });
    assertStringIncludes(stderr, `runner: error: RUNNER_TIMEOUT ${messages}, not "${value}"\n`);
  });
});

Deno.test("a secret in a line of the file is not shown with the mistake in it", async () => {
  const env = { API_TOKEN: "hunter2hunter2" };
  const steps = "name: n\njobs:\n- name: a\n  steps:\n";
  const wrong = `${steps}  - {uses: hello, with: {a: "hunter2hunter2", b: "{{ foo }}"}}\n`;
  assertEquals(
    (await refuse(wrong, "w.yml", env)).split("\n").slice(1, 4).join("\n"),
    `w.yml:5:54: error: unknown name "foo" in a step
  5 |   - {uses: hello, with: {a: "***", b: "{{ foo }}"}}
    |                                           ^^^ the names here are vars, res, req, rt, status, outputs, needs, repeat_index, iteration_index`,
  );
  const odd = `${steps}  - {uses: hello, note: hunter2hunter2}\n`;
  const warned: CliResult = await withFiles(
    { "w.yml": odd },
    (cwd) => runMain(["w.yml"], { cwd, env }),
  );
  assertEquals(warned.code, 0);
  assertStringIncludes(warned.stderr, "5 |   - {uses: hello, note: ***}\n");
});

Deno.test("text files that steps name are UTF-8, or the step fails with the offset", async () => {
  const table = [
    [
      "the GraphQL query",
      "{ uses: http, with: { post: 'http://127.0.0.1:1', graphql: { file: f } } }",
    ],
    ["the cookie file", "{ uses: http, with: { get: 'http://127.0.0.1:1', cookie_file: f } }"],
    ["the file", "{ uses: db, with: { dsn: ':memory:', file: f } }"],
  ] as const;
  const files = { f: Uint8Array.from([0x23, 0x20, 0x63, 0x61, 0x66, 0xe9, 0x0a]) };
  for (const [what, step] of table) {
    const workflow = `name: n\njobs: [{ name: j, steps: [${step}] }]\n`;
    await withFiles({ ...files, "w.yml": workflow }, async (cwd) => {
      const { code, stdout } = await runMain(["w.yml"], { cwd });
      assertEquals(code, 1);
      assertMatch(stdout, new RegExp(`cannot read ${what} ".*f": it is not UTF-8 text: the byte`));
      assertStringIncludes(stdout, "at offset 5 is 0xe9");
    });
  }
});
