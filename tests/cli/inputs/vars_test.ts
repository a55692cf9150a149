import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseJson } from "../../../src/base/value/parse_json.ts";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { withRig } from "../../support/run/rig.ts";
import { type CliResult, runCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FLOW = `name: n
vars:
  base: "{{BASE ?? ''}}/v1"
  must: "x{{MISSING}}y"
  db: {host: "{{DB_HOST ?? 'local'}}", port: 5432, "a.b": 1, opts: {}}
  hosts: [a, b]
  empty:
  n: 1
jobs:
  - name: j
    steps:
      - {uses: hello, echo: "=={{toJSON(vars)}}=="}
`;

type Files = Readonly<Record<string, string>>;

/** Runs the flow with that and prints its vars. */
function run(args: readonly string[], files: Files = {}, env: Files = {}): Promise<CliResult> {
  return withFiles({ "w.yml": FLOW, ...files }, (cwd) => runMain([...args, "w.yml"], { cwd, env }));
}

/** The vars that a step saw. */
async function varsOf(args: readonly string[], files?: Files, env?: Files) {
  const result = await run(["--var", "must=set", ...args], files, env);
  assertEquals([result.code, result.stderr], [0, ""]);
  return parseJson(/==(.*)==/s.exec(result.stdout)![1]!) as Record<string, unknown>;
}

const GIVEN = {
  base: "/v1",
  must: "set",
  db: { host: "local", port: 5432, "a.b": 1, opts: {} },
  hosts: ["a", "b"],
  empty: null,
  n: 1,
};

Deno.test("--var sets a var, typed as YAML types a scalar", async (test) => {
  const table: [text: string, value: unknown][] = [
    ["5", 5],
    ["-1.5e3", -1500],
    ["0x1F", 31],
    ["true", true],
    ["null", null],
    ["~", null],
    ["", ""],
    ["text", "text"],
    ['"5"', "5"],
    ["'5'", "5"],
    ['"a\\tb"', "a\tb"],
    ['"a" or "b"', '"a" or "b"'],
    ["01234", "01234"],
    ["12345678901234567890", 12345678901234567890n],
    ["2024-01-02", "2024-01-02"],
    ["a: b", "a: b"],
    ["[1, 2]", "[1, 2]"],
    ["{a: 1}", "{a: 1}"],
    ["a # b", "a # b"],
    ["- x", "- x"],
    ["-", "-"],
    ["---", "---"],
    ["*x", "*x"],
    ["yes", "yes"],
    ["a=b", "a=b"],
    [" 5 ", " 5 "],
    ["{{NAME}}", "{{NAME}}"],
    ["a\nb", "a\nb"],
  ];
  const names = table.map((_, index) => `v${index}`);
  const flow = `name: n\nvars: {${names.map((name) => `${name}: 0`).join(", ")}}\n` +
    FLOW.slice(FLOW.indexOf("jobs:"));
  const vars = await varsOf(
    ["--var", "must=1", ...table.flatMap(([text], index) => ["--var", `v${index}=${text}`])],
    { "w.yml": flow.replace("vars: {", "vars: {must: 0, ") },
  );
  for (const [index, [text, value]] of table.entries()) {
    await test.step(JSON.stringify(text), () => assertEquals(vars[`v${index}`], value));
  }
});

Deno.test("--var name:=json replaces a value with any data", async (test) => {
  const table: [arg: string, changed: Record<string, unknown>][] = [
    ['hosts:=["c", {"d": null}]', { hosts: ["c", { d: null }] }],
    ['db:={"host": "h"}', { db: { host: "h" } }],
    ["db:={}", { db: {} }],
    ['n:="1"', { n: "1" }],
    ["n:=12345678901234567890", { n: 12345678901234567890n }],
    ["db.opts.deep.er:=[1]", { db: { ...GIVEN.db, opts: { deep: { er: [1] } } } }],
  ];
  for (const [arg, changed] of table) {
    await test.step(arg, async () => {
      assertEquals(await varsOf(["--var", arg]), { ...GIVEN, ...changed });
    });
  }
});

Deno.test("a dotted name reaches inside, and leaves all else as it is", async (test) => {
  const table: [args: string[], changed: Record<string, unknown>][] = [
    [["db.port=1"], { db: { ...GIVEN.db, port: 1 } }],
    [["db.host=h", "db.port=2"], { db: { ...GIVEN.db, host: "h", port: 2 } }],
    [["db.a.b=2"], { db: { ...GIVEN.db, "a.b": 2 } }],
    [["db.opts.x=1", "db.opts.y=2"], { db: { ...GIVEN.db, opts: { x: 1, y: 2 } } }],
    [["empty.x=1"], { empty: { x: 1 } }],
    [["n=2", "n=3"], { n: 3 }],
  ];
  for (const [args, changed] of table) {
    await test.step(args.join(" "), async () => {
      const vars = await varsOf(args.flatMap((arg) => ["--var", arg]));
      assertEquals(vars, { ...GIVEN, ...changed });
    });
  }
});

Deno.test("the default of a var is not evaluated if the var is set", async () => {
  const { code, stderr } = await run([]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "would leave a gap");
  assertEquals((await run(["--var", "must=1"])).code, 0);
  assertEquals((await run(["--var-file", "v.yml"], { "v.yml": "must: 1" })).code, 0);
});

Deno.test("--var-file is merged into the vars, --var wins over it", async () => {
  const files = {
    "a.yml": "# first\nn: 2\ndb: {port: 1, opts: {x: 1}}\nempty: {a: 1}\nhosts: [c]\n",
    "b.json": '{\n\t"n": 3,\n\t"db": {\n\t\t"opts": {"y": "\\u00e9\\/"}\n\t}\n}\n',
  };
  const both = ["--var-file", "a.yml", "--var-file=b.json"];
  assertEquals(await varsOf([...both, "--var", "db.port=9"], files), {
    ...GIVEN,
    n: 3,
    db: { ...GIVEN.db, port: 9, opts: { x: 1, y: "é/" } },
    empty: { a: 1 },
    hosts: ["c"],
  });
  assertEquals((await varsOf([...both, "--var", "n=4"], files)).n, 4);
  assertEquals((await varsOf(["--var-file=b.json", "--var-file=a.yml"], files)).n, 2);
});

Deno.test("braces in a var file are text, and warned of", async () => {
  const { code, stdout, stderr } = await run(["--var-file", "v.yml"], {
    "v.yml": 'must: "{{BASE}}"\nn: 010\n',
  });
  assertEquals(code, 0);
  assertStringIncludes(stdout, '"must": "{{BASE}}"');
  assertStringIncludes(stderr, "v.yml:1:7: warning: braces in a var file are plain text");
  assertStringIncludes(stderr, "v.yml:2:4: warning: 010 is read as 8");
});

Deno.test("a --var that sets nothing is an error", async (test) => {
  const table: [arg: string, message: string, hint: string][] = [
    ["bsae=1", 'unknown variable "bsae"', 'did you mean "base"?'],
    ["zzzzz=1", 'unknown variable "zzzzz"', "are base, must, db, hosts, empty, n"],
    ["db.hots=1", 'unknown variable "db.hots"', 'did you mean "db.host"?'],
    ["vars.n=1", 'unknown variable "vars"', 'leave "vars." out'],
    ["hosts.0=1", 'the var "hosts" is a list, and nothing inside of it can be set', "give all"],
    ["base.x=1", 'the var "base" is a template, and nothing inside', "give all of it"],
    ["n.x=1", 'the var "n" is not a map, and nothing inside', "give all of it"],
    ["n", 'needs a name and a value, and got only "n"', "write --var name=value"],
    ["=1", 'cannot set ""', "write --var name=value"],
    ["db..port=1", 'cannot set "db..port"', "write --var name=value"],
    ["n:={a", "n:= is not valid JSON", "--var n=text"],
    ["n:=", "n:= is not valid JSON", "--var n=text"],
    ["__proto__.x=1", 'unknown variable "__proto__"', "the vars of the workflow are"],
    ["constructor=1", 'unknown variable "constructor"', "the vars of the workflow are"],
  ];
  for (const [arg, message, hint] of table) {
    await test.step(arg, async () => {
      const result = await run(["--var", "must=1", "--var", arg]);
      assertEquals([result.code, result.stdout], [1, ""]);
      const [first = "", second = ""] = result.stderr.split("\n");
      assertStringIncludes(first, "runner: error: option --var");
      assertStringIncludes(first, message);
      assertStringIncludes(second, hint);
      assertNoTrace(result);
    });
  }
});

Deno.test("all mistakes of a var file are reported together, with their places", async (test) => {
  const table: [text: string | undefined, shown: string[]][] = [
    [undefined, ["var file 'v.yml' not found"]],
    ["", ["var file 'v.yml' is empty", "write {} for no vars at all"]],
    ["# nothing\n", ["var file 'v.yml' is empty"]],
    ["[1]\n", ["v.yml' has 1 error", "v.yml:1:1: error: a var file must be a map of names"]],
    ["text\n", ['v.yml:1:1: error: a var file must be a map of names to values, not "text"']],
    ["a: [1\nb: 2\n", ["YAML syntax error at line 1", "v.yml:1:4"]],
    ["n: {{X}}\n", ["v.yml:1:4: error: YAML reads {{ }} without quotes as a map"]],
    ["n: &a [*a]\n", ["v.yml:1:7: error: an alias refers to itself"]],
    ["n: 1\nn: 2\n", ["YAML syntax error at line 2"]],
    ["n: \0\n", [
      "cannot read var file 'v.yml': it is not UTF-8 text: the byte at offset 3 is 0x00",
    ]],
    [
      "n: 1\ntoken: 1\ndb:\n  hots: 1\n",
      [
        "var file 'v.yml' has 2 errors",
        'v.yml:2:1: error: unknown variable "token"',
        'v.yml:4:3: error: unknown variable "db.hots"',
        '    |   ^^^^ did you mean "db.host"?',
      ],
    ],
  ];
  for (const [text, shown] of table) {
    await test.step(JSON.stringify(text) ?? "missing", async () => {
      const files: Record<string, string> = text === undefined ? {} : { "v.yml": text };
      const result = await run(["--var-file", "v.yml"], files);
      assertEquals([result.code, result.stdout], [1, ""]);
      for (const part of shown) assertStringIncludes(result.stderr, part);
      assertNoTrace(result);
    });
  }
});

const SECRET = "hunter2-hunter2";

Deno.test("values of secret names are masked, from wherever they come", async (test) => {
  const flow = `name: "n"
vars: {api_token: x, auth: {user: x}, plain: "{{DB_PASSWORD ?? ''}}"}
jobs:
  - name: j {{vars.api_token}}
    steps:
      - {uses: shell, echo: "{{toJSON(vars)}}", with: {cmd: "echo '{{toJSON(vars)}}'; exit 1"}, test: status == 0}
`;
  const ways: [args: string[], files: Record<string, string>][] = [
    [["--var", `api_token=${SECRET}`], {}],
    [["--var", `auth.user=${SECRET}`], {}],
    [["--var", `auth:={"user": "${SECRET}"}`], {}],
    [["--var-file", "v.yml"], { "v.yml": `auth: {user: ${SECRET}}\n` }],
    [["--env-file", "v.env"], { "v.env": `DB_PASSWORD=${SECRET}\n` }],
  ];
  for (const [args, files] of ways) {
    for (const flags of [[], ["-v"], ["--dry-run"], ["--list"], ["--only", "nope"]]) {
      await test.step([...args, ...flags].join(" ").replace(SECRET, "…"), async () => {
        const { code, stdout, stderr } = await withFiles(
          { "w.yml": flow, ...files },
          (cwd) => runMain([...args, ...flags, "w.yml"], { cwd }),
        );
        const looks = flags.includes("--dry-run") || flags.includes("--list");
        assertEquals(code, looks ? 0 : 1);
        assert(!(stdout + stderr).includes(SECRET), stdout + stderr);
        if (flags.length === 0) assertStringIncludes(stdout, "***");
      });
    }
  }
});

Deno.test("no error shows a secret that was given", async (test) => {
  const table: [args: string[], files: Record<string, string>][] = [
    [["--var", `tokn=${SECRET}`, "--var", `api_token=${SECRET}`], {}],
    [["--var", `api_token:=${SECRET}`], {}],
    [["--var-file", "v.yml"], { "v.yml": `api_token: [${SECRET}\n` }],
    [["--var-file", "v.yml"], { "v.yml": `api_token: "${SECRET}" x\n` }],
    [["--var-file", "v.yml"], { "v.yml": `api_token: ${SECRET}\n` }],
    [["--env-file", "v.env"], { "v.env": `API_TOKEN="${SECRET}\n` }],
    [["--env-file", "v.env"], { "v.env": `export API_TOKEN='${SECRET}' x\n` }],
    [["--env-file", "v.env", "--only", SECRET], { "v.env": `API_TOKEN=${SECRET}\n` }],
  ];
  for (const [args, files] of table) {
    await test.step(
      [...args, ...Object.values(files)].join(" ").replaceAll(SECRET, "…"),
      async () => {
        const { code, stdout, stderr } = await run(args, files);
        assertEquals(code, 1);
        assert(stderr.includes("runner: error:") && !(stdout + stderr).includes(SECRET), stderr);
      },
    );
  }
});

/** Shows a variable in `vars` and in a shell step. */
const ENV_FILE_FLOW = `name: n
vars: {a: "{{A ?? 'nil'}}", b: "{{B ?? 'nil'}}"}
jobs:
  - name: j
    steps:
      - uses: shell
        with: {cmd: "echo $A"}
        echo: "a={{vars.a}} b={{vars.b}} shell={{trim(res.stdout)}}="
`;

function runWithEnvFile(
  args: readonly string[],
  files: Record<string, string>,
  env: Record<string, string>,
) {
  return withFiles(
    { "w.yml": ENV_FILE_FLOW, ...files },
    (cwd) => runCli([...args, "w.yml"], { cwd, env }),
  );
}

Deno.test("--env-file feeds what vars see, and the real environment wins", async (test) => {
  const files = { "1.env": "A=one\nB=one\n", "2.env": "B=two\n" };
  const table: [args: string[], env: Record<string, string>, echo: string][] = [
    [[], {}, "a=nil b=nil shell=="],
    [["--env-file", "1.env"], {}, "a=one b=one shell=="],
    [["--env-file", "1.env", "--env-file", "2.env"], {}, "a=one b=two shell=="],
    [["--env-file", "1.env"], { A: "real" }, "a=real b=one shell=real="],
    [["--env-file", "1.env"], { A: "" }, "a= b=one shell=="],
    [["--env-file", "1.env", "--var", "a=set"], { A: "real" }, "a=set b=one shell=real="],
  ];
  for (const [args, env, echo] of table) {
    await test.step(`${args.join(" ")} ${JSON.stringify(env)}`, async () => {
      const { code, stdout } = await runWithEnvFile(args, files, env);
      assertEquals(code, 0);
      assertStringIncludes(stdout, echo);
    });
  }
});

Deno.test("variables of the program itself are not read from a file", async () => {
  const { code, stdout } = await runWithEnvFile(
    ["--env-file", "e"],
    { e: "RUNNER_OUTPUT=loud\nA=1\n" },
    {},
  );
  assertEquals(code, 0);
  assertStringIncludes(stdout, "a=1");
});

Deno.test("every mistake of an env file is reported with its place", async () => {
  const e = "A=1\n1A=2\nB=\"never\nNOEQ\nC-D*=1\nE='x' y\nF=fine\n";
  const result = await runWithEnvFile(["--env-file", "e"], { e }, {});
  assertEquals([result.code, result.stdout], [1, ""]);
  assertEquals(
    result.stderr,
    `runner: error: env file 'e' has 5 errors
e:2:1: error: this is not the name of a variable
  2 | **=*
    | ^ write NAME=value
e:3:3: error: this quote is never closed
  3 | B=******
    |   ^ close it after the value
e:4:1: error: there is no "=" after "NOEQ"
  4 | ****
    | ^^^^ write NAME=value
e:5:1: error: a name has no "*" in it
  5 | ****=*
    | ^^^ write NAME=value
e:6:6: error: text after the closing quote
  6 | E=*** *
    |      ^ put all of the value in quotes
`,
  );
});

Deno.test("a bad line of an env file shows no more than a name", async () => {
  const e = "GITHUB PAT ghp_0123456789\nexport FOO bar-value-x\nghp_abcdefghij\nmy horse is bay\n" +
    'X="unclosed-value\n';
  const { stderr } = await runWithEnvFile(["--env-file", "e"], { e }, {});
  assertStringIncludes(stderr, 'there is no "=" after "FOO"');
  for (const word of ["ghp_", "PAT", "bar-value", "horse", "unclosed"]) {
    assertEquals(stderr.includes(word), false, stderr);
  }
});

Deno.test("an unreadable env file is reported like a workflow file", async (test) => {
  await test.step("missing", async () => {
    const { code, stderr } = await runWithEnvFile(["--env-file", "nope"], {}, {});
    assertEquals([code, stderr], [1, "runner: error: env file 'nope' not found\n"]);
  });
  await test.step("a directory", async () => {
    const result = await runWithEnvFile(["--env-file", "d"], { "d/x": "" }, {});
    assertEquals(result.code, 1);
    assertStringIncludes(result.stderr, "cannot read env file 'd': it is a directory");
    assertNoTrace(result);
  });
  await test.step("no text", async () => {
    const { code, stderr } = await runWithEnvFile(["--env-file", "b"], { b: "A=\0" }, {});
    assertEquals(code, 1);
    assertStringIncludes(stderr, "cannot read env file 'b': it is not UTF-8 text");
  });
});

/** Names that every object of JavaScript knows; here they are names like others. */
const NAMES = ["constructor", "toString", "hasOwnProperty", "valueOf", "__proto__"];

/** A flow mapping that gives each name a value. */
function mapping(value: (name: string, index: number) => string): string {
  return `{${NAMES.map((name, index) => `${name}: ${value(name, index)}`).join(", ")}}`;
}

/** An expression that is true when each name of `owner` has its index as value, plus `add`. */
function hasAll(owner: string, add = 0): string {
  const parts = NAMES.flatMap((name, index) => [
    `${owner}.${name} == ${index + add}`,
    `${owner}["${name}"] == ${index + add}`,
  ]);
  return parts.join(" && ");
}

const STEPS = `
  - name: vars
    uses: hello
    with: ${mapping((_, index) => `${index + 10}`)}
    test: ${hasAll("vars")} && ${hasAll("res", 10)} && (vars.polluted ?? nil) == nil
  - name: nothing is inherited
    uses: hello
    with: {nested: {}}
    test: |
      all(${JSON.stringify(NAMES)}, !(# in res) && res.nested[#] == nil && get(res, #) == nil) &&
      res.isPrototypeOf == nil && (vars.propertyIsEnumerable ?? nil) == nil
  - name: outputs
    id: constructor
    uses: hello
    outputs: ${mapping((_, index) => `${index + 20}`)}
    test: ${hasAll("outputs.constructor", 20)}
  - name: step ids
    id: valueof
    uses: hello
    outputs: {__proto__: '{polluted: 1}', polluted: '2'}
    test: outputs.valueof.polluted == 2 && outputs.constructor.toString == 21 && outputs.toString == 21
  - name: step vars
    uses: hello
    vars: {toString: s, polluted: 3}
    iteration: [{__proto__: {a: 1}, valueOf: 9}]
    test: vars.toString == "s" && vars.valueOf == 9 && vars.__proto__.a == 1 && (vars.a ?? nil) == nil
  - name: environment
    uses: shell
    with: {cmd: 'echo "$constructor $toString $__proto__"', env: ${
  mapping((_, index) => `${index}`)
}}
    test: res.stdout == "0 1 4\\n"
  - name: headers and query and body
    uses: http
    with:
      post: "{url}/echo"
      headers: ${mapping((name) => `${name}-x`)}
      query: ${mapping((_, index) => `${index}`)}
      body: ${mapping((_, index) => `${index + 30}`)}
    test: |
      let sent = fromJSON(res.body.body);
      ${hasAll("sent", 30)} &&
      res.body.headers.constructor == "constructor-x" && res.body.headers.__proto__ == "__proto__-x" &&
      res.body.url contains "constructor=0" && res.body.url contains "__proto__=4"
`;

Deno.test("names of JavaScript's objects are names like others, everywhere", async () => {
  await withRig(async (rig) => {
    const yaml = `name: n
vars: ${mapping((_, index) => `${index}`)}
jobs:
- name: j
  id: __proto__
  defaults: {hello: {}}
  steps:${STEPS.replaceAll("{url}", rig.url)}
- {name: k, id: constructor, needs: [__proto__], steps: [{uses: hello, test: outputs.constructor.valueOf == 23}]}
- {name: l, id: toString, needs: [constructor, __proto__], steps: [{uses: hello, test: "true"}]}
`;
    const result = await withFiles({ "w.yml": yaml }, (cwd) => runMain(["w.yml"], { cwd }));
    assertNoTrace(result);
    assertEquals([result.code, result.stderr], [0, ""], result.stdout);
  });
});

Deno.test("names of JavaScript's objects are not functions, actions, jobs or names of a step", async () => {
  const yaml = `name: n
jobs:
- name: j
  needs: [${NAMES.join(", ")}]
  steps:
${NAMES.map((name) => `  - {uses: ${name}}\n  - {uses: hello, test: ${name}()}\n`).join("")}
${NAMES.map((name) => `  - {uses: hello, test: ${name} == 1}\n`).join("")}
`;
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runMain(["w.yml"], { cwd }));
  assertNoTrace(result);
  assertEquals([result.code, result.stdout], [1, ""]);
  const messages = [...result.stderr.matchAll(/^w\.yml:\S+ error: (.*)$/gm)].map(([, reported]) =>
    reported
  );
  assertEquals(messages, [
    ...NAMES.map((name) => `unknown job "${name}" in needs of "j"`),
    ...NAMES.flatMap((name) => [`unknown action "${name}"`, `unknown function "${name}"`]),
    ...NAMES.map((name) => `unknown name "${name}" in a step`),
  ]);
});

const CONFIG = `name: By default
description: From the configuration
vars:
  where: config
  only: here
x-step: &greeting
  uses: hello
jobs:
  - name: never
    steps: [{ uses: hello, test: "false" }]
`;

const CONFIG_FLOW = `vars:
  where: workflow
jobs:
  - name: j
    steps:
      - uses: echo
        with: { message: "{{ vars.where }} {{ vars.only ?? 'nothing' }}" }
        echo: "{{ res.message }}"
`;

function runner(
  args: readonly string[],
  env: Record<string, string>,
  files: Record<string, string | Uint8Array> = {},
) {
  const all = { "flow.yml": CONFIG_FLOW, "config.yml": CONFIG, "sub/x.yml": "", ...files };
  return withFiles(all, (cwd) => runMain(args, { cwd, env }));
}

Deno.test("RUNNER_CONFIG gives the top-level keys that a workflow does not have", async () => {
  const { code, stdout, stderr } = await runner(["flow.yml"], { RUNNER_CONFIG: "config.yml" });
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "By default\nFrom the configuration\n");
  // A key is replaced as a whole.
  assertStringIncludes(stdout, "workflow nothing");
});

Deno.test("RUNNER_CONFIG holds for every command that loads a workflow", async () => {
  const env = { RUNNER_CONFIG: "config.yml" };
  const table: [args: string[], shown: string][] = [
    [["dag", "--json", "flow.yml"], '"By default"'],
    [["--dry-run", "flow.yml"], "By default"],
    [["--list", "flow.yml,config.yml"], "never"],
    [["flow.yml,config.yml"], "never"],
  ];
  for (const [args, shown] of table) {
    assertStringIncludes((await runner(args, env)).stdout, shown, args.join(" "));
  }
  assertEquals((await runner(["check", "flow.yml"], env)).code, 0);
  assertEquals((await runner(["check", "flow.yml"], {})).code, 1);
});

Deno.test("an anchor of RUNNER_CONFIG can be used in a workflow", async () => {
  const flow = "name: n\njobs:\n  - name: j\n    steps:\n      - *greeting\n";
  const env = { RUNNER_CONFIG: "config.yml" };
  const { code, stderr } = await runner(["flow.yml"], env, { "flow.yml": flow });
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("a mistake in RUNNER_CONFIG is reported in its file", async () => {
  const env = { RUNNER_CONFIG: "config.yml" };
  const wrong = await runner(["flow.yml"], env, { "config.yml": "name: n\ndescription: [a]\n" });
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  assertEquals(wrong.stderr.split("\n").slice(0, 2), [
    "runner: error: workflow file 'flow.yml' has 1 error",
    'config.yml:2:14: error: "description" must be a string, not a list',
  ]);
  const broken = await runner(["flow.yml"], env, { "config.yml": "name: n\n  vars: x\n" });
  assertEquals([broken.code, broken.stdout], [1, ""]);
  assertMatch(broken.stderr, /^runner: error: YAML syntax error at line 2\nconfig\.yml:2:/);
});

Deno.test("a RUNNER_CONFIG that cannot be read is an error that names it", async (test) => {
  const table: [path: string, message: string, hint: string][] = [
    ["none.yml", "RUNNER_CONFIG file 'none.yml' not found", "none.yml"],
    ["flow.yml/x", "RUNNER_CONFIG file 'flow.yml/x' not found", "flow.yml/x"],
    ["sub", "cannot read RUNNER_CONFIG file 'sub': it is a directory", "x.yml"],
    [
      "binary",
      "cannot read RUNNER_CONFIG file 'binary': it is not UTF-8 text: the byte at offset 0 is 0x00",
      "UTF-8",
    ],
  ];
  for (const [path, message, hint] of table) {
    await test.step(path, async () => {
      const { code, stdout, stderr } = await runner(["flow.yml"], { RUNNER_CONFIG: path }, {
        binary: new Uint8Array([0, 255, 1]),
      });
      assertEquals([code, stdout, stderr.split("\n")[0]], [1, "", `runner: error: ${message}`]);
      assertStringIncludes(stderr, hint);
    });
  }
});

Deno.test("an empty RUNNER_CONFIG is ignored", async () => {
  const { code, stderr } = await runner(["flow.yml"], { RUNNER_CONFIG: "" });
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'the workflow needs "name"');
});

/** What a step says of each of its entries, from the program itself. */
async function sayOf(
  iteration: string,
  says: string,
  files: Files = {},
  env: Files = {},
): Promise<readonly string[]> {
  const text = `name: n
vars: { letters: [x, y], wrong: 5, empty: [] }
jobs: [{ name: j, steps: [{ uses: hello, echo: ${
    JSON.stringify(says)
  }, iteration: ${iteration} }] }]
`;
  return await withFiles({ "w.yml": text, ...files }, async (cwd) => {
    const { stdout, stderr } = await runMain(["w.yml"], { cwd, env });
    return `${stderr}${stdout}`.split("\n").flatMap((line) =>
      /^ *(?:= |w\.yml:)/.test(line) ? line.trim() : []
    );
  });
}

Deno.test("iteration by matrix runs all combinations, of lists in the file and of the run", async () => {
  const says = "= {{iteration_index}} {{vars.a}} {{vars.b}}";
  const lists: readonly (readonly [iteration: string, said: readonly string[]])[] = [
    ["{ matrix: { a: [1, 2], b: [{ c: 3 }, \"{{upper('d')}}\"] } }", [
      '0 1 {"c":3}',
      "1 1 D",
      '2 2 {"c":3}',
      "3 2 D",
    ]],
    ['{ matrix: { a: "{{vars.letters}}", b: [1, 2] }, parallel: 3 }', [
      "0 x 1",
      "1 x 2",
      "2 y 1",
      "3 y 2",
    ]],
    ["{ matrix: { a: [1, 2], b: [3], exclude: [{ a: 1 }], include: [{ a: 4, b: 5 }] } }", [
      "0 2 3",
      "1 4 5",
    ]],
    ['{ matrix: { a: "{{vars.letters}}", b: [1], exclude: [{ a: x }] } }', ["0 y 1"]],
    [
      '{ matrix: { a: [1], b: [2], exclude: "{{vars.empty}}", include: "{{vars.empty}}" } }',
      ["0 1 2"],
    ],
  ];
  for (const [iteration, said] of lists) {
    assertEquals(await sayOf(iteration, says), said.map((line) => `= ${line}`));
  }
  const wrong = await sayOf('{ matrix: { a: [1], b: "{{vars.wrong}}" } }', says);
  assertEquals(wrong[0], 'w.yml:3:129: "b" of the matrix must be a list with values');
  assertEquals(await sayOf('{ matrix: { a: "{{vars.empty}}", b: [1] } }', says), []);
  const lost = await sayOf('{ matrix: { a: "{{vars.empty}}", include: [{ b: 1 }] } }', says);
  assertStringIncludes(lost[0]!, '"a" of the matrix must be a list with values');
  const count = `[${Array.from({ length: 5 }, (_, index) => index)}]`;
  const env = { RUNNER_MAX_REPEAT_COUNT: "24" };
  const [many] = await sayOf(`{ matrix: { a: ${count}, b: ${count} } }`, says, {}, env);
  assertStringIncludes(many!, "the matrix has more than 24 combinations");
});

Deno.test("types: auto converts the columns of a CSV file whose cells are all of a type", async () => {
  const csv = "n,price,on,code,mixed,none,big\n1,1.50,TRUE,007,1,,9007199254740993\n" +
    "-2,,false,12,x,,1\n";
  const says = "= {{omit(vars, ['letters', 'wrong', 'empty'])}}";
  const rows = async (file: string, text: string) =>
    await sayOf(`{ file: ${file}, types: auto }`, says, { [file]: text });
  assertEquals(await rows("rows.csv", csv), [
    '= {"big":9007199254740993,"code":"007","mixed":"1","n":1,"none":"","on":true,"price":1.5}',
    '= {"big":1,"code":"12","mixed":"x","n":-2,"none":"","on":false,"price":null}',
  ]);
  assertEquals(await rows("rows.json", '[{ "n": "1" }]'), ['= {"n":"1"}']);
});
