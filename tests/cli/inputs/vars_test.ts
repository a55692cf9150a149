import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseJson } from "../../../src/base/value/parse_json.ts";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import type { CliResult } from "../../support/run/run_cli.ts";
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
    for (const more of [[], ["-v"], ["--dry-run"], ["--list"], ["--only", "nope"]]) {
      await test.step([...args, ...more].join(" ").replace(SECRET, "…"), async () => {
        const { code, stdout, stderr } = await withFiles(
          { "w.yml": flow, ...files },
          (cwd) => runMain([...args, ...more, "w.yml"], { cwd }),
        );
        const looks = more.includes("--dry-run") || more.includes("--list");
        assertEquals(code, looks ? 0 : 1);
        assert(!(stdout + stderr).includes(SECRET), stdout + stderr);
        if (more.length === 0) assertStringIncludes(stdout, "***");
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
