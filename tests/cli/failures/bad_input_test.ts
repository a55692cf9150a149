import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { withRig } from "../../support/run/rig.ts";
import { type CliResult, runCli, startCli, theProgram } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import {
  type RawConnection,
  type RawServer,
  rawServer,
  response,
} from "../../support/servers/raw_server.ts";
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
    "runner: error: workflow file 'w.yml' has 31 errors",
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
    "w.yml:15:32: warning: hello cannot fail, so this retry never repeats it",
    'w.yml:15:54: error: "max_attempts" must be at least 1, not 0',
    `w.yml:15:67: error: "interval" must be a duration ${FORMS}, not "5x"`,
    'w.yml:15:86: error: "initial_delay" must not be negative, not "-1s"',
    'w.yml:16:41: error: "timeout" must be a duration, not a list',
    'w.yml:16:52: error: "test" must be an expression, not a map',
    'w.yml:17:27: error: the step id "two" is already defined',
    `w.yml:17:57: error: "timeout" must be a duration ${FORMS}, not "never"`,
    'w.yml:17:65: error: "test" is empty',
    'w.yml:18:34: error: iteration needs "list", "matrix", "file" or "until"',
    'w.yml:18:35: error: unknown key "a" in iteration',
    'w.yml:18:52: error: the output "a" is empty',
    'w.yml:18:66: error: "skipif" must be an expression, not a map',
    'w.yml:19:46: error: "count" must be at most 10000, not 10001',
    "w.yml:19:76: warning: hello cannot fail, so this retry never repeats it",
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
      "6:11: error: YAML reads {{ }} without",
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
    |                                           ^^^ the names here are vars, res, req, rt, status, outputs, needs, run, repeat_index, iteration_index, trace`,
  );
  const odd = `${steps}  - {uses: hello, note: hunter2hunter2}\n`;
  const warned: CliResult = await withFiles(
    { "w.yml": odd },
    (cwd) => runMain(["w.yml"], { cwd, env }),
  );
  assertEquals(warned.code, 1);
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

const MEGABYTE = new Uint8Array(1_000_000).fill(97);

async function gzipped(text: string): Promise<Uint8Array> {
  const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(zipped).arrayBuffer());
}

/** The responses of a broken server, by the requested path. */
const ANSWERS: Readonly<Record<string, (connection: RawConnection) => Promise<void>>> = {
  nothing: () => Promise.resolve(),
  silence: (connection) => connection.closed(),
  garbage: (connection) => connection.send("\x00\x01\xff garbage\r\n\r\n"),
  head: (connection) => connection.send("HTTP/1.1 200 OK\r\nContent-Le"),
  short: (connection) => connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
  chunk: (connection) =>
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
  headers: (connection) => connection.send(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`),
  async large(connection) {
    await connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (let count = 0; count < 200; count++) await connection.send(MEGABYTE);
  },
  async gzip(connection) {
    const body = (await gzipped("hello ".repeat(1000))).slice(0, -10);
    const head =
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    await connection.send(head);
    await connection.send(body);
  },
  async bomb(connection) {
    const body = await gzipped("a".repeat(100_000_000));
    const head =
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    await connection.send(head);
    await connection.send(body);
  },
  loop: (connection) =>
    connection.send(response("302 Found", "", ["Location: /loop", "Connection: close"])),
  scheme: (connection) =>
    connection.send(response("302 Found", "", ["Location: file:///etc/passwd"])),
  bytes: (connection) =>
    connection.send(response("200 OK", "a\xff\xfeb", ["Content-Type: text/plain"])),
  json: (connection) =>
    connection.send(response("200 OK", '{"a": ', ["Content-Type: application/json"])),
};

function brokenServer(): RawServer {
  return rawServer(async (connection) => {
    const path = /^GET \/(\w+)/.exec(await connection.request() ?? "")?.[1] ?? "";
    await ANSWERS[path]?.(connection);
  });
}

/** The message for each invalid response. */
const MESSAGES: Readonly<Record<string, string>> = {
  nothing: "closed the connection without an answer",
  silence: "timed out after 300ms while waiting for the answer of 127.0.0.1",
  garbage: "is not HTTP (HPE_",
  head: "closed the connection without an answer",
  short: "closed the connection after 3 bytes of the body, before its end",
  chunk: "sent is not valid HTTP",
  headers: "are larger than 16 KB",
  large: "the body of the response is larger than the limit of 64 MiB",
  gzip: "the body of the response is not complete gzip data",
  bomb: "the body of the response is larger than the limit of 64 MiB",
  loop: "was redirected more than 10 times",
  scheme: 'the scheme "file://" of "file:///etc/passwd" is not supported',
};

/** A step that prints the peak memory of the program, if the system reports it. */
const PEAK = Deno.build.os !== "linux" ? "" : `  - name: peak
    uses: shell
    with:
      cmd: awk '/VmHWM/ {print $2}' /proc/$PPID/status
    test: int(trim(res.stdout)) < 400 * 1024
    echo: "{{ res.stdout }}"
`;

Deno.test("an error of a server fails its step, with the reason, and nothing else", async () => {
  await using server = brokenServer();
  const step = (path: string) =>
    `  - name: ${path}\n    uses: http\n    timeout: ${path === "silence" ? "300ms" : "1m"}\n` +
    `    with: {get: "${server.url}/${path}"}\n`;
  const yaml = `name: n\njobs:\n- name: j\n  steps:\n${Object.keys(MESSAGES).map(step).join("")}` +
    `${step("bytes")}    test: res.code == 200 && res.size == 4 && res.filepath != nil\n` +
    `${step("json")}    test: |\n      res.code == 200 && res.body == '{"a": '\n${PEAK}`;
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runCli(["w.yml"], { cwd }));
  assertEquals([result.code, result.stderr], [1, ""]);
  const blocks = result.stdout.split(/^ +\d+\. (?=[✓✗○])/m).slice(1);
  assertEquals(blocks.length, Object.keys(ANSWERS).length + (PEAK === "" ? 0 : 1));
  Object.values(MESSAGES).forEach((shown, index) => {
    const block = blocks[index]!.replaceAll(/\n +/g, " ");
    assertStringIncludes(block, "✗");
    assertStringIncludes(block, shown);
  });
  const others = blocks.slice(Object.keys(MESSAGES).length).map((block) => block.slice(0, 1));
  assertEquals(others.join(""), "✓".repeat(others.length), result.stdout);
});

/** Jobs one after the other: one that is done at once, one that waits for `/meet`, one for long. */
function jobsAt(url: string): string {
  const job = (id: string, step: string, needs = "") =>
    `- {name: ${id}, id: ${id}, needs: [${needs}], steps: [${step}]}\n`;
  return "name: n\njobs:\n" + job("a", "{uses: hello}") +
    job("b", `{uses: http, with: {get: "${url}/meet/x/2"}}`, "a") +
    job("c", '{uses: hello, wait: 100ms, iteration: "{{1..1000}}"}', "b");
}

Deno.test("a run ends with 1 soon after the reader of its report has gone", async () => {
  await withRig((rig) =>
    withFiles({ "w.yml": jobsAt(rig.url) }, async (cwd) => {
      const child = startCli(["w.yml"], { cwd });
      const reader = child.stdout.getReader();
      await reader.read();
      // A program that ends before it asks would be waited for in vain.
      await Promise.race([rig.untilSeen("/meet/x/2"), child.status]);
      // The system may close the pipe a little later, so that there is more to write than one line.
      await reader.cancel();
      assertEquals(rig.seen, ["/meet/x/2"]);
      await fetch(`${rig.url}/meet/x/2`).then((answer) => answer.body?.cancel());
      const stderr = await new Response(child.stderr).text();
      assertEquals([(await child.status).code, stderr], [1, ""]);
    })
  );
});

Deno.test({
  name: "a report that is piped into head ends with 1 and no words",
  ignore: Deno.build.os === "windows",
  async fn() {
    const [program, before] = theProgram();
    const steps = "  - {uses: hello, echo: text}\n".repeat(20_000);
    const yaml = `name: n\njobs:\n- name: j\n  steps:\n${steps}`;
    await withFiles({ "w.yml": yaml }, async (cwd) => {
      const line = '"$@" w.yml 2>err | head -n 1; echo "${PIPESTATUS[0]}"';
      const { stdout } = await new Deno.Command("bash", {
        args: ["-c", line, "bash", program, ...before],
        cwd,
      }).output();
      assertEquals(new TextDecoder().decode(stdout), "n\n1\n");
      assertEquals(await Deno.readTextFile(`${cwd}/err`), "");
    });
  },
});

Deno.test({
  name: "an output that cannot be written is reported in one line",
  ignore: Deno.build.os !== "linux",
  async fn(test) {
    const [program, before] = theProgram();
    const yaml = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";
    const shown = (what: string) => `runner: error: ${what}: No space left on device\n`;
    const table: [args: string, stderr: string][] = [
      ["w.yml", shown("cannot write to standard output")],
      ["--list w.yml", shown("cannot write to standard output")],
      ["--dry-run w.yml", shown("cannot write to standard output")],
      ["--report json=- w.yml", shown("cannot write to standard output")],
      ["dag w.yml", shown("cannot write to standard output")],
      ["check w.yml", shown("cannot write to standard output")],
      ["schema", shown("cannot write to standard output")],
      ["--help", shown("cannot write to standard output")],
    ];
    await withFiles({ "w.yml": yaml }, async (cwd) => {
      for (const [args, stderr] of table) {
        await test.step(args, async () => {
          const result = await new Deno.Command("sh", {
            args: ["-c", `"$@" ${args} > /dev/full`, "sh", program, ...before],
            cwd,
          }).output();
          assertEquals([result.code, new TextDecoder().decode(result.stderr)], [1, stderr]);
        });
      }
    });
  },
});

Deno.test("a duration that a template gives wrongly fails its step before anything is done", async () => {
  const forms = 'must be a duration like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds';
  const steps: readonly (readonly [yaml: string, shown: string])[] = [
    ['wait: "{{ vars.soon }}"', `"wait" ${forms}, not "soon"`],
    ['timeout: "{{ vars.negative }}"', '"timeout" must not be negative, not "-5s"'],
    ['wait: "{{ vars.missing }}"', `"wait" ${forms}, not nil`],
    [
      'retry: {max_attempts: 2, initial_delay: "{{ vars.list }}"}',
      `"initial_delay" ${forms}, not [1]`,
    ],
  ];
  const yaml = `name: n
vars: {soon: soon, negative: -5s, list: [1]}
jobs:
- name: j
  steps:
${steps.map(([fields]) => `  - {uses: shell, with: {cmd: touch ran}, ${fields}}\n`).join("")}
  - {uses: shell, with: {cmd: touch ran, timeout: "{{ vars.soon }}"}}
  - {uses: http, with: {get: "http://127.0.0.1:1", timeout: "{{ vars.soon }}"}}
- {name: k, repeat: {count: 2, interval: "{{ vars.soon }}"}, steps: [{uses: shell, with: {cmd: touch ran}}]}
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const result = await runMain(["--no-check", "w.yml"], { cwd });
    assertNoTrace(result);
    assertEquals(result.code, 1);
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["w.yml"]);
    const shown = result.stdout.replaceAll(/\n +/g, " ");
    for (const [, message] of steps) assertStringIncludes(shown, message);
    assertStringIncludes(shown, `cannot run shell: "timeout" ${forms}, not "soon"`);
    assertStringIncludes(shown, `cannot run http: "timeout" ${forms}, not "soon"`);
    assert(/"interval" must be a duration/.test(shown));
  });
});
