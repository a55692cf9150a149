import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Action, Dict } from "../../../src/action/action.ts";
import { loadPlugins, type Plugins } from "../../../src/actions/plugin/load_plugins.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { hostWith } from "../../support/load_files.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

type Files = Readonly<Record<string, string>>;

/** Looks for plugins in a directory of these files, all of them executable. */
function load<T>(
  files: Files,
  names: readonly string[],
  use: (plugins: Plugins, directory: string) => T | Promise<T>,
): Promise<T> {
  return withFiles(files, async (directory) => {
    for (const name of Object.keys(files)) await Deno.chmod(`${directory}/${name}`, 0o755);
    return await use(
      await loadPlugins(names, hostWith({ RUNNER_PLUGIN_DIR: directory })),
      directory,
    );
  });
}

/** Loads a module as the plugin "foo". */
function loadModule<T>(text: string, use: (action: Action) => T | Promise<T>): Promise<T> {
  return load({ "runner-foo.js": text }, ["foo"], async ({ actions, problems }) => {
    const action = actions.get("foo");
    assert(action, JSON.stringify([...problems]));
    return await use(action);
  });
}

async function run(action: Action, params: Dict = {}, before?: (context: TestContext) => void) {
  await using context = actionContext();
  const act = await action.load();
  const running = act(params, context);
  before?.(context);
  return await running;
}

/** A module that makes the action "foo" of these parts. */
function record(more: string): string {
  return "export default ({ action, text, either, list, secret, host, port }) => " +
    `action({ name: "foo", summary: "Does a thing", ${more} });\n`;
}

/** Sends a message to the program. */
const POST = "process.getBuiltinModule('node:worker_threads').parentPort.postMessage";

const RUN = "run: async () => ({ res: { a: 1 } })";

Deno.test("plugins are found by their names, a module before a program", async () => {
  const files = {
    "runner-foo": "#!/bin/sh\n",
    "runner-bar": "#!/bin/sh\n",
    "runner-bar.js": record(RUN).replace('"foo"', '"bar"'),
    "other": "",
    "runner-sub/x": "",
  };
  await load(files, ["foo", "bar", "baz", "sub", "../other", ""], (plugins, directory) => {
    assertEquals([...plugins.actions.keys()].sort(), ["bar", "foo"]);
    assertEquals(plugins.actions.get("bar")!.summary, "Does a thing");
    assertEquals(plugins.actions.get("foo")!.summary, `The plugin ${directory}/runner-foo`);
    assertEquals(plugins.problems.size, 0);
    assertEquals(new Set(plugins.names), new Set(["foo", "bar"]));
    assertEquals(plugins.location, `plugins are looked for in "${directory}"`);
  });
});

Deno.test("a configured plugin directory must exist, the one in the home directory need not", async () => {
  await withFiles({ ".runner/plugins/runner-foo": "" }, async (home) => {
    await Deno.chmod(`${home}/.runner/plugins/runner-foo`, 0o755);
    const look = (env: Record<string, string>) => loadPlugins(["foo"], hostWith(env));
    assertEquals((await look({ HOME: home })).actions.size, 1);
    assertEquals((await look({ HOME: home, RUNNER_PLUGIN_DIR: "" })).actions.size, 1);
    const location = "plugins are looked for in ~/.runner/plugins";
    assertEquals((await look({ HOME: home })).location, location);
    assertEquals((await look({ HOME: `${home}/no` })).location, location);
    assertEquals((await look({})).location, "plugins are looked for where RUNNER_PLUGIN_DIR says");
    const missing = await look({ HOME: home, RUNNER_PLUGIN_DIR: "/no/such" });
    assertEquals(missing.location, 'RUNNER_PLUGIN_DIR "/no/such" is not a directory');
    assertEquals(missing.actions.size, 0);
  });
});

Deno.test("a program that is not executable is a problem", async () => {
  await withFiles({ "runner-foo": "" }, async (directory) => {
    await Deno.chmod(`${directory}/runner-foo`, 0o644);
    const { problems } = await loadPlugins(["foo"], hostWith({ RUNNER_PLUGIN_DIR: directory }));
    assertEquals(problems.get("foo"), {
      message: `the plugin "${directory}/runner-foo" is not executable`,
      hint: `make it executable: chmod +x ${directory}/runner-foo`,
    });
  });
});

Deno.test("a module is an action like those that are built in", async () => {
  const text = record(
    'params: { p: either(text("P"), list(text("P"), "Ps")).required(), q: text("Q").default("z") }, ' +
      'res: { a: "int" }, oneOf: ["p"], example: "res.a == 1", ' +
      "run: async (_, { p, q }) => ({ res: { p, q }, brief: 'fine' })",
  );
  await loadModule(text, async (action) => {
    const { summary, parameters, responseFields, alternatives, exampleTest } = action;
    assertEquals([summary, responseFields], ["Does a thing", [{
      name: "a",
      type: "int",
      summary: "a",
    }]]);
    assertEquals(parameters, [
      { name: "p", type: ["string", "list"], summary: "P", required: true },
      { name: "q", type: "string", summary: "Q", default: "z" },
    ]);
    assertEquals([alternatives, exampleTest], [[{ names: ["p"], required: true }], "res.a == 1"]);
    const { req, res, status, brief } = await run(action, { p: ["v"] });
    assertEquals([req, res, status, brief], [{ p: ["v"] }, { p: ["v"], q: "z" }, 0, "fine"]);
    const wrong = await assertRejects(() => run(action, { p: {} }), StepError);
    assertMatch(wrong.message, /^cannot run foo: "p" must be a string or a list, not a map$/);
  });
});

Deno.test("the rules of a module check its parameters when a workflow is loaded, its functions in the run", async () => {
  const text = record(
    'params: { p: text("P").as((p, param) => { if (p === "good") return p; ' +
      'throw param.wrong(`invalid p "${p}"`, "write good") }), s: text("S").secret(), ' +
      'm: map({ n: integer("N").required() }, "M"), c: choice(["a", "b"], "C"), ' +
      'l: list(map({ n: integer("N") }, "N"), "L") }, atMostOne: ["p", "c"], ' +
      'check: ({ s }, param) => s === "no" && param.of("s").wrong("no s"), ' +
      `expectsResult: ({ p }) => p === "good", ${RUN}`,
  ).replace("host, port", "map, integer, choice");
  await loadModule(text, async (action) => {
    const { problems, expectsResult, parameters } = action;
    const messages = (params: Dict) => problems!(params).map(({ message }) => message);
    assertEquals(messages({ p: "{{vars.p}}", s: "s", m: { n: "1" }, l: [{ n: 1 }] }), []);
    assertEquals(messages({ p: "bad", c: "a" }), ['"p" and "c" cannot be combined']);
    assertEquals(messages({ p: [], m: {}, c: "d", l: [{ n: "x" }], x: 1 }), [
      'unknown parameter "x" of foo',
      '"p" must be a string, not a list',
      '"m" needs "n"',
      'invalid value "d" for "c"',
      '"l[0].n" must be an integer, not "x"',
      '"p" and "c" cannot be combined',
    ]);
    assertEquals(parameters!.map(({ name, hide }) => [name, hide?.("text", "***")]), [
      ["p", undefined],
      ["s", "***"],
      ["m", undefined],
      ["c", undefined],
      ["l", undefined],
    ]);
    const good = { p: "good" };
    assertEquals(expectsResult!(good), false);
    await run(action, good);
    assertEquals([expectsResult!(good), expectsResult!({})], [true, false]);
    const refused = await assertRejects(() => run(action, { p: "bad" }), StepError);
    assertEquals([refused.message, refused.hint], [
      'cannot run foo: invalid p "bad"',
      "write good",
    ]);
    const unfit = await assertRejects(() => run(action, { s: "no" }), StepError);
    assertEquals(unfit.message, "cannot run foo: no s");
  });
});

Deno.test("steps of a module share a connection, and its permissions are checked", async () => {
  const text = record(
    "params: { host: host().required(), port: port().required() }, res: {}, " +
      "target: ({ host, port }) => ({ product: 'foo', host, port }), " +
      "connection: { by: ['host', 'port'], close: (it) => { throw new Error(`used ${it.used}`) }, " +
      "open: async (_, attempt) => { await attempt.socket(); return { used: 0 } } }, " +
      "run: async (it) => ({ res: { used: ++it.used } })",
  );
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const params = { host: "127.0.0.1", port: (server.addr as Deno.NetAddr).port };
  await loadModule(text, async (action) => {
    const context = actionContext();
    const act = await action.load();
    assertEquals((await act(params, context)).res, { used: 1 });
    assertEquals((await act(params, context)).res, { used: 2 });
    (await server.accept()).close();
    server.close();
    const message = `cannot connect to foo at 127.0.0.1 port ${params.port}: `;
    const narrow = { ...context, permissions: { net: [] } };
    const other = { ...params, host: "localhost" };
    const refused = await assertRejects(async () => await act(other, narrow), StepError);
    assertMatch(refused.message, /^cannot connect to foo at localhost port \d+: --allow-net does/);
    const fresh = actionContext();
    const failed = await assertRejects(async () => await act(params, fresh), StepError);
    assertEquals(
      failed.message,
      `${message}127.0.0.1 port ${params.port} refused the connection (ECONNREFUSED)`,
    );
    await fresh[Symbol.asyncDispose]();
    await context[Symbol.asyncDispose]();
    assertMatch(context.notes.join(), /^warning: cannot close .*: used 2$/);
  });
});

Deno.test("a module that is not a plugin is reported with the reason", async (test) => {
  const table: [name: string, text: string, message: RegExp][] = [
    [
      "syntax",
      "export const a =\n  ;\n",
      /cannot be loaded: .*Expression expected \(.*foo\.js:2:3\)$/,
    ],
    ["throws", '\nthrow new Error("no way");\n', /cannot be loaded: no way \(.*foo\.js:2:7\)$/],
    ["throws text", 'throw "no way";\n', /cannot be loaded: no way$/],
    ["imports", 'await import("./none.js");\n', /cannot be loaded: .*none\.js/],
    ["exports nothing", "const a = 1;\n", /exports no function by default$/],
    ["exports a record", "export default {};\n", /exports no function by default$/],
    ["makes nothing", "export default () => {};\n", /makes no action$/],
    ["makes a record", "export default () => ({ name: 'foo' });\n", /makes no action$/],
    ["makes it badly", "export default ({ action }) => action();\n", /cannot be loaded: Cannot/],
    ["name", record(RUN).replace('"foo"', '"bar"'), /the name "foo", not "bar"$/],
    ["no name", record(`name: undefined, ${RUN}`), /the name "foo", not nothing$/],
    ["summary", record(`summary: 5, ${RUN}`), /must say in one line/],
    ["no run", record(""), /must have a function as "run"$/],
    ["run", record("run: 5"), /must have a function as "run"$/],
    [
      "answers by itself",
      `${POST}({ id: 1, json: "5" });\n`,
      /cannot be loaded: it sent a message/,
    ],
    ["a parameter", record(`params: { p: "text" }, ${RUN}`), /give its parameter "p" a rule/],
  ];
  for (const [name, text, message] of table) {
    await test.step(name, async () => {
      await load({ "runner-foo.js": text }, ["foo"], ({ actions, problems }, directory) => {
        assertEquals(actions.size, 0);
        const shown = problems.get("foo")!.message;
        assertMatch(shown, message);
        assert(shown.startsWith(`the plugin "${directory}/runner-foo.js" `), shown);
        for (const trace of ["\n", "file://", "\x1b", " at async"]) {
          assert(!shown.includes(trace), shown);
        }
      });
    });
  }
});

Deno.test("a mistake of a module in a step is a readable error", async (test) => {
  const table: [name: string, load: string, message: RegExp][] = [
    ["throws", "() => { throw new TypeError('oops') }", /foo" failed: oops \(.*:1:\d+\)$/],
    ["rejects", "async () => { throw 'text' }", /foo" failed: text$/],
    ["gives nothing", "() => {}", /must answer with a mapping, not nothing$/],
    ["gives a list", "() => ({ res: [] })", /must answer with a mapping as "res", not a list$/],
    ["gives a text", "() => ({ res: {}, status: 'ok' })", /a whole number as "status", not "ok"$/],
    ["gives a circle", "() => { const a = {}; a.a = a; return { res: a } }", /not plain data/],
    ["gives an error", "() => ({ error: 'busy' })", /foo" failed: busy$/],
  ];
  for (const [name, code, message] of table) {
    await test.step(name, async () => {
      await loadModule(record(`run: ${code}`), async (action) => {
        const { message: shown } = await assertRejects(() => run(action), StepError);
        assertMatch(shown, message);
      });
    });
  }
});

Deno.test("the result of a module is converted to plain data", async () => {
  const result = "{ res: { at: new Date(0), f() {}, n: NaN, u: undefined }, status: 0, " +
    'brief: "fine", elapsed: 12 }';
  await loadModule(record(`run: () => (${result})`), async (action) => {
    const { res, brief, elapsed } = await run(action);
    assertEquals(res, { at: "1970-01-01T00:00:00.000Z", n: null });
    assertEquals([brief, elapsed], ["fine", 12]);
  });
});

Deno.test("a module that does not listen is left when its time is over", async () => {
  await loadModule(record("run: () => new Promise(() => {})"), async (action) => {
    const reason = new StepError("the step timed out after 1s");
    const failed = await assertRejects(() => run(action, {}, (context) => context.stop(reason)));
    assertEquals((failed as Error).message, reason.message);
  });
});

Deno.test("a module that handles the signal finishes before it is abandoned", async () => {
  const code =
    "run: (_, _params, { signal, context: { log, warn } }) => new Promise((_, reject) => " +
    "{ log('begun'); signal.addEventListener('abort', () => setTimeout(() => " +
    "{ warn('has ended'); reject(new Error('cut')) })) })";
  await loadModule(record(code), async (action) => {
    const reason = new StepError("over");
    let notes: readonly string[] = [];
    const stop = (context: TestContext) => {
      ({ notes } = context);
      Object.assign(context, { log: () => context.stop(reason) });
    };
    await assertRejects(() => run(action, {}, stop), StepError, "over");
    assertEquals(notes, ["warning: has ended"]);
  });
});

Deno.test("a module cannot end the program, and fails its step if it tries", async (test) => {
  const endings: readonly (readonly [name: string, code: string, message: RegExp])[] = [
    ["exits", "() => Deno.exit(0)", /^the plugin "foo" failed: it ended itself with exit code 0$/],
    [
      "exits later",
      "() => new Promise(() => setTimeout(() => Deno.exit(3)))",
      /ended itself with exit code 3$/,
    ],
    ["exits as a program of Node", "() => process.exit(4)", /ended itself with exit code 4$/],
    [
      "rejects what nobody awaits",
      "() => new Promise(() => void Promise.reject(new Error('lost')))",
      /^the plugin "foo" failed: lost \(.*foo\.js:1:\d+\)$/,
    ],
    [
      "throws in a timer",
      "() => new Promise(() => setTimeout(() => { throw new Error('late') }))",
      /^the plugin "foo" failed: late \(/,
    ],
    ...[
      "Object.create(null)",
      "{ toString() { throw 1; } }",
      "Object.defineProperty(new Error('a'), 'message', { get() { throw 1; } })",
      "(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()",
      "Object.assign(new Error('a'), { name: 'StepError', hint: { toJSON() { throw 1; } } })",
    ].map((thrown) =>
      [
        `throws ${thrown}`,
        `() => { throw ${thrown}; }`,
        /^the plugin "foo" failed: it threw what cannot be described$/,
      ] as const
    ),
    [
      "answers with too many levels",
      "() => ({ res: { a: JSON.parse('['.repeat(600) + ']'.repeat(600)) } })",
      /^the plugin "foo" failed: it sent a message that cannot be read$/,
    ],
    ...[
      "null",
      "5",
      "{ id: 2 }",
      "{ id: 2, json: '{}' }",
      "{ id: 2, json: '{' }",
      "{ id: 2, json: '5', isError: true }",
      "{ id: 2, json: '{}', isError: true }",
      "{ id: 2, method: 5, json: '[]' }",
      "{ id: 2, method: 'toString', json: '[]' }",
      "{ id: 2, method: 'log', json: '{}' }",
      "{ id: 0, method: 'fail', json: '[]' }",
      "{ id: 0, method: 'fail', json: '[{\"message\": [], \"stack\": 5}]' }",
    ].map((message) =>
      [
        `sends ${message} itself`,
        `() => new Promise(() => ${POST}(${message}))`,
        /^the plugin "foo" (?:failed: |answered with|must answer with)/,
      ] as const
    ),
  ];
  for (const [name, code, message] of endings) {
    await test.step(name, async () => {
      await loadModule(record(`run: ${code}`), async (action) => {
        const { message: shown } = await assertRejects(() => run(action), StepError);
        assertMatch(shown, message);
      });
    });
  }
  await load({ "runner-foo.js": "Deno.exit(0);\n" }, ["foo"], ({ problems }) => {
    assertMatch(
      problems.get("foo")!.message,
      /cannot be loaded: it ended itself with exit code 0$/,
    );
  });
});

Deno.test("a module that never returns is ended with the run", async () => {
  // Deno cannot end a thread that computes, which would take a core from all tests after this one.
  const stuck = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
  await loadModule(
    record(`run: (_, _params, { context }) => { context.log('begun'); ${stuck}; }`),
    async (action) => {
      const reason = new StepError("the step timed out after 1s");
      const stop = (context: TestContext) =>
        void Object.assign(context, { log: () => context.stop(reason) });
      await assertRejects(() => run(action, {}, stop), StepError, "timed out");
    },
  );
});

Deno.test("a module keeps resources for a run, and closes them when it ends", async () => {
  const code = "run: async (_, _params, { context: { scope } }) => { " +
    "const pool = await scope.run.resource('pool', async () => ({ used: 0 }), " +
    "(pool) => { throw new Error(`used ${pool.used} times`) }); " +
    "pool.used++; return { res: { used: pool.used }, status: 0 } }";
  await loadModule(record(code), async (action) => {
    const context = actionContext();
    const act = await action.load();
    assertEquals((await act({}, context)).res, { used: 1 });
    assertEquals((await act({}, context)).res, { used: 2 });
    await context[Symbol.asyncDispose]();
    assertEquals(context.notes.length, 1);
    assertMatch(context.notes[0]!, /cannot close "pool": used 2 times$/);
  });
});

const PLUGIN = `import process from "node:process";
console.log("loaded");
export default ({ action }) => action({
  name: "chat",
  summary: "Prints",
  async run() {
    const token = Deno.env.get("A_TOKEN");
    const bytes = (text) => new TextEncoder().encode(text);
    console.log("log %s", token, { n: 1 });
    console.error("error", token);
    console.table([{ token }]);
    Deno.stdout.writeSync(bytes("half of a line: super"));
    await Deno.stdout.write(bytes("secret\\n"));
    await new Response("stream " + token + "\\n").body.pipeTo(Deno.stderr.writable, { preventClose: true });
    await new Promise((resolve) => process.stdout.write("process " + token + "\\n", resolve));
    process.stderr.write("no end of a line " + token);
    return { res: {} };
  },
});
`;
const FILES = {
  "runner-chat.js": PLUGIN,
  "w.yml": "name: n\njobs: [{name: j, steps: [{uses: chat, test: status == 0}]}]\n",
};
const ENV = { A_TOKEN: "supersecret" };

Deno.test("the output of a module is part of the verbose report, without secrets", async () => {
  await withFiles(FILES, async (cwd) => {
    const env = { ...ENV, RUNNER_PLUGIN_DIR: cwd };
    const { stderr } = await runCli(["-v", "w.yml"], { cwd, env });
    const lines = [...stderr.matchAll(/^debug: j › chat: (.*)$/gm)].map(([, line]) => line);
    assertEquals(lines.filter((line) => !line!.startsWith("┌")), [
      "loaded",
      "log *** { n: 1 }",
      "error ***",
      "half of a line: ***",
      "stream ***",
      "process ***",
      "no end of a line ***",
    ]);
    assertMatch(stderr, /│ +0 +│ +'?\*\*\*'? +│/);
  });
});

Deno.test("the output of a module is not mixed with reports", async () => {
  await withFiles(FILES, async (cwd) => {
    const env = { ...ENV, RUNNER_PLUGIN_DIR: cwd };
    const { stdout, stderr } = await runMain(["--report", "json=-", "w.yml"], { cwd, env });
    assertEquals([JSON.parse(stdout).state, stderr], ["passed", ""]);
  });
});
