import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { assertNoTrace } from "../support/assert_no_trace.ts";
import { PLUGIN_PLACE } from "../support/plugin_place.ts";
import { type CliResult, runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/plugins/", import.meta.url));

/** Answers with its request, and says something to who asks for details. */
const MIRROR = `#!/bin/sh
echo "I am a mirror" >&2
printf '{"status": 0, "res": %s}' "$(cat)"
`;

/** A workflow of one job with these steps. */
function flow(steps: string, fields = ""): string {
  return `name: n\nvars: { greeting: hello }\njobs:\n- name: j\n${fields}  steps:\n${steps}`;
}

/** Runs a workflow beside a directory of plugins. */
function runner(
  workflow: string,
  plugins: Readonly<Record<string, string>> = { "runner-mirror": MIRROR },
  args: readonly string[] = ["flow.yml"],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const files = Object.entries(plugins).map(([name, text]) => [`plugins/${name}`, text]);
  return withFiles({ "flow.yml": workflow, ...Object.fromEntries(files) }, async (cwd) => {
    for (const name of Object.keys(plugins)) await Deno.chmod(`${cwd}/plugins/${name}`, 0o755);
    const result = await runCli(args, { cwd, env: { RUNNER_PLUGIN_DIR: "plugins", ...env } });
    assertNoTrace(result);
    return result;
  });
}

/** Runs a workflow with the plugins of the examples. */
function withExamples(workflow: string): Promise<CliResult> {
  return runner(workflow, {}, ["flow.yml"], { RUNNER_PLUGIN_DIR: EXAMPLES });
}

Deno.test("a step uses a plugin like any action", async () => {
  const steps = `  - uses: mirror
    id: m
    timeout: 90s
    vars: { own: 1 }
    with: { text: "{{ vars.greeting }} you", number: 5 }
    test: >-
      res.action == "mirror" && res.with.text == "hello you" && res.with.number == 5 &&
      res.with.extra == [1] && res.vars == {greeting: "hello", own: 1} && res.timeout == 90 &&
      req == res.with && status == 0
    outputs: { said: res.with.text }
  - uses: echo
    with: { message: "{{ outputs.said }}" }
    echo: "{{ res.message }}"
`;
  const defaults = "  defaults: { mirror: { extra: [1] } }\n";
  const { code, stdout, stderr } = await runner(flow(steps, defaults));
  assertEquals([code, stderr], [0, ""], stdout);
  assertStringIncludes(stdout, "hello you");
});

Deno.test("the standard error of a plugin is shown with -v", async () => {
  const { stdout, stderr } = await runner(flow("  - uses: mirror\n"), undefined, [
    "-v",
    "flow.yml",
  ]);
  assertStringIncludes(stderr, "debug: j › mirror: mirror: I am a mirror");
  assert(!stdout.includes("I am a mirror"));
});

Deno.test("the response of a plugin is masked like everything else", async () => {
  const steps = '  - uses: mirror\n    with: { p: "{{ vars.token }}" }\n    test: "false"\n';
  const workflow = flow(steps).replace("greeting: hello", "token: hunter2hunter2");
  const { code, stdout, stderr } = await runner(workflow, undefined, ["-v", "flow.yml"]);
  assertEquals(code, 1);
  assertEquals((stdout + stderr).includes("hunter2hunter2"), false);
  assertStringIncludes(stdout, "***");
});

Deno.test("a plugin that fails fails its step, and says why and where", async () => {
  const plugins = { "runner-bad": "#!/bin/sh\necho broken pipe >&2\nexit 2\n" };
  const { code, stdout } = await runner(flow("  - uses: bad\n"), plugins);
  assertEquals(code, 1);
  assertStringIncludes(
    stdout,
    'flow.yml:6:11: the plugin "bad" ended with exit code 2 without an answer',
  );
  assertStringIncludes(stdout, "broken pipe");
});

Deno.test("whatever a module sends fails its step alone", async () => {
  const module = (name: string, body: string) =>
    `export default ({ action }) => action({ name: "${name}", summary: "s", ` +
    `run: () => { ${body} } });\n`;
  const post = (message: string) =>
    "process.getBuiltinModule('node:worker_threads').parentPort" +
    `.postMessage(${message}); return new Promise(() => {});`;
  const plugins = {
    "runner-deep.js": module(
      "deep",
      "return { res: { a: JSON.parse('['.repeat(600) + ']'.repeat(600)) } }",
    ),
    "runner-torn.js": module("torn", post("{ id: 2, json: '{' }")),
    "runner-odd.js": module(
      "odd",
      post("{ id: 2, method: 5, json: '[]' }"),
    ),
  };
  const jobs = ["deep", "torn", "odd"].map((name) =>
    `- name: ${name}\n  steps: [{ uses: ${name} }]\n` +
    `  finally: [{ uses: echo, with: { message: done }, echo: "cleaned up after ${name}" }]\n`
  );
  const workflow = `name: n\njobs:\n${jobs.join("")}`;
  const { code, stdout, stderr } = await runner(workflow, plugins, [
    "flow.yml",
    "--report=json=-",
  ]);
  assertEquals([code, stderr], [1, ""], stdout);
  const report = JSON.parse(stdout);
  assertEquals(report.state, "failed");
  for (const name of ["deep", "torn", "odd"]) {
    assertStringIncludes(
      stdout,
      `the plugin \\"${name}\\" failed: it sent a message that cannot be`,
    );
    assertStringIncludes(stdout, `cleaned up after ${name}`);
  }
});

Deno.test("a plugin is ended when the timeout of its step is over", async () => {
  const plugins = { "runner-slow": "#!/bin/sh\nsleep 300 & echo begun >&2; wait\n" };
  const started = performance.now();
  const { code, stdout } = await runner(flow("  - uses: slow\n    timeout: 300ms\n"), plugins);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "the step timed out after 300ms");
  assertStringIncludes(stdout, "begun");
  assert(performance.now() - started < 20_000);
});

Deno.test("a plugin is looked for when a workflow is loaded", async (test) => {
  const unknown = "the actions are http, ";
  const table: [uses: string, messages: RegExp][] = [
    ["miror", /unknown action "miror"\n.*\n.* did you mean "mirror"\? \(plugins are looked/],
    ["nothing", new RegExp(`unknown action "nothing"\\n.*\\n.*${unknown}.*, mirror \\(plug`)],
    ["../plugins/mirror", /unknown action "\.\.\/plugins\/mirror"\n/],
  ];
  for (const [uses, messages] of table) {
    await test.step(uses, async () => {
      const result = await runner(flow(`  - uses: ${uses}\n`));
      assertEquals([result.code, result.stdout], [1, ""]);
      assertMatch(result.stderr, messages);
      assertStringIncludes(result.stderr, "flow.yml:6:11: error: ");
    });
  }
});

Deno.test("a missing plugin directory is reported with a missing plugin", async () => {
  const workflow = flow("  - uses: foo\n");
  const chosen = await runner(workflow, {}, ["flow.yml"], { RUNNER_PLUGIN_DIR: "none" });
  assertStringIncludes(chosen.stderr, '(RUNNER_PLUGIN_DIR "none" is not a directory)');
});

Deno.test("a missing plugin is reported with the places where plugins are looked for", async () => {
  for (const uses of ["foo", "htpp"]) {
    const workflow = flow(`  - uses: ${uses}\n`);
    const { stderr } = await runner(workflow, {}, ["flow.yml"], { RUNNER_PLUGIN_DIR: "" });
    assertStringIncludes(stderr, `(plugins are ${PLUGIN_PLACE})`);
  }
});

Deno.test("unusable plugins are reported with the other mistakes of a file", async () => {
  const steps =
    "  - uses: broken\n  - uses: mirror\n    tset: x\n  - uses: plain\n    wait: soon\n";
  const plugins = { "runner-broken.ts": "export const = 5;\n", "runner-mirror": MIRROR };
  const files = { "flow.yml": flow(steps), "plugins/runner-plain": "" };
  const all = { ...files, "plugins/runner-broken.ts": plugins["runner-broken.ts"] };
  const result = await withFiles(
    all,
    (cwd) => runCli(["flow.yml"], { cwd, env: { RUNNER_PLUGIN_DIR: "plugins" } }),
  );
  assertNoTrace(result);
  assertEquals([result.code, result.stdout], [1, ""]);
  assertMatch(result.stderr, /:6:11: error: the plugin "plugins\/runner-broken\.ts" cannot be loa/);
  assertMatch(
    result.stderr,
    /:9:11: error: the plugin "plugins\/runner-plain" is not executable\n/,
  );
  assertMatch(
    result.stderr,
    /:9:11: .*\n.*\n.*make it executable: chmod \+x plugins\/runner-plain/,
  );
  assertMatch(result.stderr, /:10:11: error: "wait" must be a duration/);
});

Deno.test("nothing but a run starts a plugin", async () => {
  const plugins = { "runner-trap": "#!/bin/sh\ntouch was-run\n" };
  for (const args of [["dag", "flow.yml"], ["--dry-run", "flow.yml"], ["check", "flow.yml"]]) {
    const files = { "flow.yml": flow("  - uses: trap\n    test: status == 0\n"), ...{} };
    await withFiles({ ...files, "plugins/runner-trap": plugins["runner-trap"] }, async (cwd) => {
      await Deno.chmod(`${cwd}/plugins/runner-trap`, 0o755);
      const { code } = await runCli(args, { cwd, env: { RUNNER_PLUGIN_DIR: "plugins" } });
      assertEquals(code, 0, args.join(" "));
      const names = [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
      assertEquals(names, ["flow.yml", "plugins"]);
    });
  }
});

Deno.test("the plugin in sh reports how much space is left", async () => {
  const steps = `  - uses: disk
    with: { path: / }
    test: res.free_kb > 0 && res.used_percent <= 100
  - uses: disk
    with: { path: /no/such/folder }
`;
  const { code, stdout } = await withExamples(flow(steps));
  assertEquals(code, 1);
  assertMatch(stdout, /1\. ✓ disk(?: \(\d.*\))?\n/);
  assertStringIncludes(stdout, 'the plugin "disk" failed: there is no /no/such/folder');
});

/** Answers a query and closes; one for "silence" is never answered. */
async function answerQuery(connection: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(100);
  const length = await connection.read(buffer) ?? 0;
  const query = new TextDecoder().decode(buffer.subarray(0, length));
  if (query === "silence\r\n") await connection.read(buffer);
  else await connection.write(new TextEncoder().encode(`found ${query}`));
  connection.close();
}

Deno.test("the plugin in TypeScript speaks to a server, and its parameters are checked", async () => {
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    const answers: Promise<void>[] = [];
    for await (const connection of server) answers.push(answerQuery(connection));
    await Promise.all(answers);
  })();
  try {
    const { port } = server.addr as Deno.NetAddr;
    const steps = `  - uses: whois
    with: { host: 127.0.0.1, port: "{{ ${port} }}", query: "{{ vars.greeting }}" }
    test: res.text == "found hello\\r\\n" && req.port == ${port}
  - uses: whois
    timeout: 200ms
    with: { host: 127.0.0.1, port: ${port}, query: silence }
`;
    const { code, stdout } = await withExamples(flow(steps));
    assertEquals(code, 1);
    assertMatch(stdout, /1\. ✓ whois(?: \(\d.*\))?\n/);
    assertStringIncludes(stdout, "the step timed out after 200ms");
  } finally {
    server.close();
    await serving;
  }
  const wrong = await withExamples(
    flow("  - uses: whois\n    with: { port: x, prot: 5, query: a }\n"),
  );
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  assertMatch(wrong.stderr, /flow\.yml:7:19: error: "port" must be an integer, not "x"/);
  assertMatch(
    wrong.stderr,
    /flow\.yml:7:22: error: unknown parameter "prot" of whois\n.*\n.*"port"\?/,
  );
});
