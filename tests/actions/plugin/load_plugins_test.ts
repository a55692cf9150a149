import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Action, Dict } from "../../../src/action/action.ts";
import { loadPlugins, type Plugins } from "../../../src/actions/plugin/load_plugins.ts";
import { LoadError, StepError } from "../../../src/base/errors.ts";
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

function record(more: string): string {
  return `export const action = { name: "foo", summary: "Does a thing", ${more} };\n`;
}

const RUN = "load: () => Promise.resolve((params) => ({ req: params, res: { a: 1 }, status: 0 }))";

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
  const text = 'export default { name: "foo", summary: "x", ' +
    `parameters: [{ name: "p", type: ["string", "list"], summary: "y", required: true }], ${RUN} };`;
  await loadModule(text, async (action) => {
    assertEquals(action.parameters?.map(({ name }) => name), ["p"]);
    const { req, res, status } = await run(action, { p: "v" });
    assertEquals([req, res, status], [{ p: "v" }, { a: 1 }, 0]);
  });
  await load({ "runner-foo.js": record(RUN) }, ["foo"], ({ actions }) => {
    assertEquals(actions.get("foo")?.summary, "Does a thing");
  });
});

Deno.test("functions of a record that cannot leave its worker change nothing else", async () => {
  const text = record(
    'parameters: [{ name: "p", type: "string", summary: "y", hide: (value) => value }], ' +
      `problems: () => [], explainer: () => {}, omitsNilIn: () => ["p"], ${RUN}`,
  );
  await loadModule(text, ({ parameters, problems, explainer, omitsNilIn }) => {
    assertEquals(parameters![0]!.hide!("text", "***"), "***");
    assertEquals([problems, explainer, omitsNilIn!({})], [undefined, undefined, ["p"]]);
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
    ["exports nothing", "const a = 1;\n", /exports neither "action" nor a default$/],
    ["function", "export default () => {};\n", /exports a function where an action should be$/],
    ["null", "export const action = null;\n", /exports nothing where an action should be$/],
    ["name", record(RUN).replace('"foo"', '"bar"'), /the name "foo", not "bar"$/],
    ["no name", `export default { summary: "", ${RUN} }`, /the name "foo", not nothing$/],
    ["summary", `export default { name: "foo", ${RUN} }`, /must say in one line/],
    ["no load", record(""), /has no "load" that brings its code$/],
    ["load", record("load: 5"), /must have a function as "load", not 5$/],
    ["check", record(`check: {}, ${RUN}`), /must have a function as "check", not a map$/],
    ["parameters", record(`parameters: {}, ${RUN}`), /a list as "parameters", not a map$/],
    ["a parameter", record(`parameters: [{}], ${RUN}`), /must give parameter 1 a "name"$/],
    [
      "its summary",
      record(`parameters: [{ name: "p", type: "string" }], ${RUN}`),
      /must give its parameter "p" a "summary"$/,
    ],
    [
      "its type",
      record(`parameters: [{ name: "p", summary: "", type: "text" }], ${RUN}`),
      /must give its parameter "p" a "type" of string, number, /,
    ],
    ["alternatives", record(`alternatives: [1], ${RUN}`), /a list of \{ names \}/],
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
    [
      "throws",
      "async () => () => { throw new TypeError('oops') }",
      /foo" failed: oops \(.*:1:\d+\)$/,
    ],
    ["rejects", "async () => async () => { throw 'text' }", /foo" failed: text$/],
    ["cannot load", "() => { throw new Error('gone') }", /foo" cannot be loaded: gone \(/],
    ["loads no function", "async () => 5", /must load a function/],
    ["gives nothing", "async () => () => {}", /must answer with a mapping, not nothing$/],
    ["gives no status", "async () => () => ({ req: {}, res: {} })", /answered without "status"$/],
    ["gives a circle", "async () => () => { const a = {}; a.a = a; return a }", /not plain data/],
    ["gives an error", "async () => () => ({ error: 'busy' })", /foo" failed: busy$/],
  ];
  for (const [name, code, message] of table) {
    await test.step(name, async () => {
      await loadModule(record(`load: ${code}`), async (action) => {
        const { message: shown } = await assertRejects(() => run(action), StepError);
        assertMatch(shown, message);
      });
    });
  }
});

Deno.test("the result of a module is converted to plain data", async () => {
  const result = "{ req: {}, res: { at: new Date(0), f() {}, n: NaN, u: undefined }, status: 0, " +
    'brief: "fine", elapsed: 12 }';
  await loadModule(record(`load: async () => () => (${result})`), async (action) => {
    const { res, brief, elapsed } = await run(action);
    assertEquals(res, { at: "1970-01-01T00:00:00.000Z", n: null });
    assertEquals([brief, elapsed], ["fine", 12]);
  });
});

Deno.test("a module that does not listen is left when its time is over", async () => {
  await loadModule(record("load: async () => () => new Promise(() => {})"), async (action) => {
    const reason = new StepError("the step timed out after 1s");
    const failed = await assertRejects(() => run(action, {}, (context) => context.stop(reason)));
    assertEquals((failed as Error).message, reason.message);
  });
});

Deno.test("a module that handles the signal finishes before it is abandoned", async () => {
  const code = "load: async () => (_, { signal, log, warn }) => new Promise((_, reject) => " +
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
    [
      "says that it has ended",
      "() => new Promise(() => process.getBuiltinModule('node:worker_threads')" +
      ".parentPort.postMessage({ type: 'exit', id: 0, text: '7' }))",
      /ended itself with exit code 7$/,
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
    [
      "answers with too many levels",
      "() => ({ res: { a: JSON.parse('['.repeat(600) + ']'.repeat(600)) } })",
      /^the plugin "foo" answered with something that is nested too deeply$/,
    ],
    ...[
      "null",
      "5",
      "{ type: 'thrown' }",
      "{ type: 'thrown', id: 2, text: 'x', hint: 5 }",
      "{ type: 'value', id: '2', text: '{}' }",
      "{ type: 'value', id: 2, text: '{' }",
      "{ type: 'other', id: 2, text: '' }",
      "{ type: 'log', id: 2, text: {} }",
    ].map((message) =>
      [
        `sends ${message} itself`,
        "() => new Promise(() => process.getBuiltinModule('node:worker_threads')" +
        `.parentPort.postMessage(${message}))`,
        /^the plugin "foo" (?:failed: it sent a message that cannot be read|answered with)/,
      ] as const
    ),
  ];
  for (const [name, code, message] of endings) {
    await test.step(name, async () => {
      await loadModule(record(`load: async () => ${code}`), async (action) => {
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
  await loadModule(
    record("load: async () => (_, { log }) => { log('begun'); for (;;); }"),
    async (action) => {
      const reason = new StepError("the step timed out after 1s");
      const stop = (context: TestContext) =>
        void Object.assign(context, { log: () => context.stop(reason) });
      await assertRejects(() => run(action, {}, stop), StepError, "timed out");
    },
  );
});

Deno.test("a module keeps resources for a run, and closes them when it ends", async () => {
  const code = "load: async () => async ({ n }, { scope, warn }) => { " +
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

Deno.test("mistakes of check and merge of a module are reported", async () => {
  const checkOf = async (code: string) =>
    await loadModule(record(`check: ${code}, ${RUN}`), ({ check }) => check!({}));
  assertEquals(await checkOf("() => [{ path: ['p'], message: 'no p' }]"), [
    { path: ["p"], message: "no p" },
  ]);
  assertMatch(
    (await checkOf("() => { throw new Error('x') }"))[0]!.message,
    /^the plugin "foo" cannot check its parameters: x \(/,
  );
  for (const code of ["() => 5", "() => [5]", "() => [{ message: 'm' }]"]) {
    assertMatch((await checkOf(code))[0]!.message, /must give a list of \{ path, message \}/);
  }
  for (const code of ["() => { throw new Error('x') }", "() => 5"]) {
    await loadModule(record(`merge: ${code}, ${RUN}`), async ({ merge }) => {
      await assertRejects(async () => await merge!({}, {}), LoadError, "cannot merge defaults: ");
    });
  }
});

const PLUGIN = `import process from "node:process";
console.log("loaded");
export const action = {
  name: "chat",
  summary: "Prints",
  load: async () => async () => {
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
    return { res: {}, status: 0 };
  },
};
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
