import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Expressions with what is to be marked between « and », and what is said about it. */
const MISTAKES: readonly (readonly [marked: string, message: string])[] = [
  ['res.body == «"»abc', "unterminated string"],
  ["res.body == «'»abc", "unterminated string"],
  ["res.body == «`»abc", "unterminated string"],
  ["len(res.body«»", 'unexpected end of the expression, expected "," or a closing bracket'],
  ["(res.code == 200«»", 'unexpected end of the expression, expected ")"'],
  ["res.items[0«»", 'unexpected end of the expression, expected "]"'],
  ["res.code == [1, 2«»", 'unexpected end of the expression, expected "," or a closing bracket'],
  ["res.code == 200«)»", 'unexpected ")"'],
  ["res.code == 200 «]»", 'unexpected "]"'],
  ["res.code «=» 200", 'unexpected "="'],
  ["res.code ==«=» 200", 'unexpected "=", expected a value'],
  ["res.code == «==» 200", 'unexpected "==", expected a value'],
  ["res.code «&» 1", 'unexpected "&"'],
  ["res.code + «*» 2", 'unexpected "*", expected a value'],
  ["res.code <«>» 200", 'unexpected ">", expected a value'],
  ["res.code &&«»", "unexpected end of the expression, expected a value"],
  ["res.code ? 1«»", 'unexpected end of the expression, expected ":"'],
  ["res.code == {«{» vars.x }}", 'unexpected "{", expected a name'],
  ['res.body == "a«\\d»"', "unknown escape \\d"],
  ["res.body == «“»abc”", 'unexpected "“"'],
  ["«lenn»(res.body) > 1", 'unknown function "lenn"'],
  ["«len(res, 1)» > 1", "len() takes 1 argument, got 2"],
  ["«filter(res.items)» == []", "filter() takes 2 arguments, got 1"],
  ['res.body matches «"(a"»', "invalid regular expression: missing closing )"],
  ["«#».code == 200", "# is only allowed in a predicate"],
  ["len(res.body) == «.code»", 'unexpected ".", expected a value'],
  ["res.body.«trim()» == 1", "values have no methods"],
  ["res.code == «1e999»", "this number is too large"],
  ["res.code == «12abc»", 'invalid number "12abc"'],
  ["res.body == {a: 1, «a»: 2}", 'the key "a" is repeated'],
  ["res.code «200»", 'unexpected "200"'],
  ["let vars2 = res; let «vars2» = res; vars2", '"vars2" is already defined'],
  ["«foo».bar == 1", 'unknown name "foo" in a step'],
  ["«env».HOME == 1", 'unknown name "env" in a step'],
  ['"é" == «bar»', 'unknown name "bar" in a step'],
];

/** The ways to write a text in YAML, with the text before it in a block of two lines. */
const STYLES: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  single: (text) => `'${text.replaceAll("'", "''")}'`,
  double: (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`,
  literal: (text) => `|\n      /* first */\n      ${text}`,
  folded: (text) => `>-\n      /* first */\n      ${text}`,
};

interface ReportedError {
  readonly at: string;
  readonly message: string;
  readonly marked: string;
}

/** Whether YAML reads a text as it is without quotes. */
function isPlain(text: string): boolean {
  return !/^[«"'`#[{(&*!|>%@]|: |:$| #/.test(text.replaceAll(/[«»]/g, ""));
}

/** Returns the errors expected at each line with a mark, and the text without the marks. */
function expect(
  marked: string,
  messages: readonly string[],
): [text: string, reported: ReportedError[]] {
  const reported: ReportedError[] = [];
  const lines = marked.split("\n").map((line, index) => {
    const from = line.indexOf("«");
    if (from < 0) return line;
    const message = messages[reported.length] ?? "";
    reported.push({
      at: `${index + 1}:${from + 1}`,
      message,
      marked: line.slice(from + 1, line.indexOf("»")),
    });
    return line.replace(/[«»]/g, "");
  });
  return [lines.join("\n"), reported];
}

/** The places, the messages and the text above the carets. */
function readReported(stderr: string): ReportedError[] {
  const pattern = /^w\.yml:(\d+:\d+): error: (.*)\n( +\d+ \| )(.*)\n +\| ( *)(\^+)/gm;
  return [...stderr.matchAll(pattern)].map((
    [, at = "", message = "", , text = "", indent = "", carets = ""],
  ) => ({
    at,
    message,
    marked: text.slice(indent.length, indent.length + carets.length),
  }));
}

Deno.test("a mistake in an expression is marked at its place, however it is written", async () => {
  const uses = MISTAKES.flatMap(([marked, message]) =>
    Object.entries(STYLES).flatMap(([style, write]) =>
      style === "plain" && !isPlain(marked) ? [] : [{ step: write(marked), message }]
    )
  );
  const steps = uses.map(({ step }) => `  - uses: hello\n    test: ${step}\n`).join("");
  const [yaml, expected] = expect(
    `name: n\njobs:\n- name: a\n  steps:\n${steps}`,
    uses.map(({ message }) => message),
  );
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runMain(["w.yml"], { cwd }));
  assertNoTrace(result);
  assertEquals([result.code, result.stdout], [1, ""]);
  const reported = readReported(result.stderr);
  assertEquals(
    reported.map(({ at, message }) => [at, message]),
    expected.map(({ at, message }) => [at, message]),
  );
  reported.forEach(({ at, marked }, index) => {
    // Of an escape the first character is marked, and of nothing the column where it ends.
    const wanted = expected[index]!.marked;
    const matches = wanted === "" ? marked.length <= 1 : wanted.startsWith(marked) && marked !== "";
    assertEquals(matches, true, `${at} marks ${marked} instead of ${wanted}`);
  });
});

Deno.test("a template is marked inside of its text, and so are expressions beyond all bounds", async () => {
  const steps = [
    '  - {uses: hello, name: "a {{ 1 }} b {{ 1 «~» }}"}',
    '  - uses: hello\n    with:\n      a:\n      - b: "{{ «foo» }}"',
    "  - uses: hello\n    echo: |\n      one\n      two {{ 1 + «)» }}",
    "  - uses: hello\n    echo: a «{{ }}» b",
    `  - uses: hello\n    test: ${"(".repeat(251)}«1»${")".repeat(251)}`,
    `  - uses: hello\n    test: «1»${"+1".repeat(2000)}`,
    `  - uses: hello\n    test: «x»${"x".repeat(10_000)}`,
  ];
  const [yaml, expected] = expect(
    `name: n\njobs:\n- name: a\n  steps:\n${steps.join("\n")}\n`,
    [
      'unexpected "~"',
      'unknown name "foo" in a step',
      'unexpected ")", expected a value',
      "empty expression",
      "this expression is nested more than 250 levels deep",
      "this expression has more than 2000 parts",
      "an expression is longer than 10000 characters",
    ],
  );
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runMain(["w.yml"], { cwd }));
  assertNoTrace(result);
  assertEquals(readReported(result.stderr), expected);
});

/** A list of a trillion values in forty steps. */
const SHARING = "let v0 = [1]; " +
  Array.from({ length: 40 }, (_, at) => `let v${at + 1} = [v${at}, v${at}]; `).join("") + "v40";

const TOO_LARGE = "the value is too large to be written out";

Deno.test("a value that shares its parts without end fails the step that makes it", async () => {
  const steps = [
    `{uses: echo, with: {message: "{{ ${SHARING} }}"}}`,
    `{uses: hello, id: s, outputs: {a: "${SHARING}"}}`,
    `{uses: hello, test: "${SHARING}"}`,
  ];
  const yaml = `name: n\njobs:\n- name: a\n  steps:\n${
    steps.map((step) => `  - ${step}\n`).join("")
  }`;
  const reports = ["json=r.json", "html=r.html", "junit=r.xml"].map((each) => `--report=${each}`);
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const run = await runMain(["w.yml", "-v", ...reports], { cwd });
    assertNoTrace(run);
    assertEquals(run.code, 1);
    const { jobs: [job] } = JSON.parse(await Deno.readTextFile(`${cwd}/r.json`));
    assertEquals(
      job.steps.map((step: { failures: { message: string }[] }) =>
        step.failures.map(({ message }) => message)
      ),
      steps.map(() => [TOO_LARGE]),
    );
    const dry = await runMain(["w.yml", "--dry-run"], { cwd });
    assertNoTrace(dry);
  });
});

Deno.test("a var that shares its parts without end keeps the workflow from running", async () => {
  const yaml =
    `name: n\nvars: {a: "{{ ${SHARING} }}"}\njobs:\n- name: a\n  steps: [{uses: hello}]\n`;
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runMain(["w.yml", "-v"], { cwd }));
  assertNoTrace(result);
  assertEquals([result.code, result.stderr.includes(TOO_LARGE)], [1, true]);
});

/** Returns the hint of each failure of a workflow, in the order of its steps. */
async function hintsOf(
  workflow: string,
  files: Record<string, string> = {},
  options: readonly string[] = [],
): Promise<string[]> {
  const { code, stdout } = await withFiles(
    { ...files, "w.yml": workflow },
    (cwd) => runMain(["--no-check", ...options, "w.yml"], { cwd }),
  );
  assertEquals(code, 1, stdout);
  return [...stdout.matchAll(/^ +\| +\^+ ?(.*)$/gm)].map(([, hint]) => hint!);
}

Deno.test("nil in a text names the key that is not there, and one that is near", async () => {
  const workflow = `
name: n
vars: {shop: here, db: {host: a}}
jobs:
  - name: j
    steps:
      - id: session
        uses: hello
        test: status == 0
        outputs: {token: res.nothing, user: '"ann"'}
      - uses: hello
        with: {to: "a {{vars.shpo}}"}
      - uses: hello
        with: {to: "a {{vars.db.hots}}"}
      - uses: hello
        with: {to: "a {{outputs.session.usr}}"}
      - {name: published nil, uses: hello, with: {to: "a {{outputs.session.token}}"}}
      - {name: the same flat, uses: hello, with: {to: "a {{outputs.token}}"}}
      - uses: embedded
        with: {path: job.yml, vars: {ship: here}}
`;
  const job = `name: inner\nsteps: [{uses: hello, with: {to: "a {{vars.shop}}"}}]\n`;
  assertEquals((await hintsOf(workflow, { "job.yml": job })).slice(0, 6), [
    'vars has no "shpo"; did you mean "shop"?',
    'vars.db has no "hots"; did you mean "host"?',
    'outputs.session has no "usr"; did you mean "user"?',
    'the step "session" published it as nil',
    'the step "session" published it as nil',
    'vars has no "shop"; did you mean "ship"?',
  ]);
});

Deno.test("a false test reports which parts of with are nil, and why", async () => {
  const workflow = `
name: n
vars: {password: "{{NO_SUCH_VARIABLE}}", there: null, shop: here}
jobs:
  - name: j
    defaults: {hello: {shop: "{{vars.shpo}}"}}
    steps:
      - uses: hello
        with: {shop: given, body: [{password: "{{vars.password}}"}]}
        test: status == 1
      - uses: hello
        with: {there: "{{vars.there}}", written: null}
        test: status == 1
      - uses: hello
        with: {shop: given, there: "{{vars.there}}", written: null}
        test: status == 1
`;
  assertEquals(await hintsOf(workflow), [
    "with.body.0.password is nil: vars.password reads the environment variable NO_SUCH_VARIABLE, which is not set",
    'with.shop is nil: vars has no "shpo"; did you mean "shop"?',
    "",
  ]);
});

Deno.test("the hint about a missing part of a parameter names the variable that is not set", async () => {
  const workflow = `
name: n
vars: {password: "{{NO_SUCH_VARIABLE}}"}
jobs:
  - name: j
    defaults: {http: {get: "http://127.0.0.1:1/"}}
    steps:
      - uses: http
        with: {auth: {basic: {username: ann, password: "{{vars.password}}"}}}
      - uses: http
        with: {auth: {bearer: "{{vars.password}}"}}
`;
  const why = "vars.password reads the environment variable NO_SUCH_VARIABLE, which is not set";
  assertEquals(await hintsOf(workflow), [
    `auth.basic.password is nil: ${why}`,
    `auth.bearer is nil: ${why}`,
  ]);
});

Deno.test("an invalid parameter is shown at its place, also in the defaults", async () => {
  const workflow = `
name: n
vars: {url: "{{NO_SUCH_VARIABLE}}", text: five}
jobs:
  - name: j
    defaults: {shell: {cmd: "{{vars.cmd}}"}}
    steps:
      - uses: http
        with: {get: "{{vars.url}}"}
      - uses: shell
      - uses: shell
        with: {cmd: "true", max_output: "{{vars.text}}"}
`;
  const { stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["-q", "--no-check", "w.yml"], { cwd }),
  );
  assertStringIncludes(
    stdout,
    `  w.yml:9:21: cannot run http: "get" is nil
    9 |         with: {get: "{{vars.url}}"}
      |                     ^^^^^^^^^^^^^^ vars.url reads the environment variable NO_SUCH_VARIABLE, which is not set
`,
  );
  assertStringIncludes(
    stdout,
    `  w.yml:6:29: cannot run shell: "cmd" is nil
    6 |     defaults: {shell: {cmd: "{{vars.cmd}}"}}
      |                             ^^^^^^^^^^^^^^ vars has no "cmd"
`,
  );
  assertStringIncludes(
    stdout,
    `  w.yml:12:41: cannot run shell: "max_output" must be an integer, not "five"
    12 |         with: {cmd: "true", max_output: "{{vars.text}}"}
       |                                         ^^^^^^^^^^^^^^^
`,
  );
});

Deno.test("a URL without a scheme is shown where it comes from", async () => {
  const workflow = `
name: n
vars: {api: "localhost:1"}
jobs:
  - name: j
    steps:
      - uses: http
        with: {get: "{{vars.api}}/x"}
`;
  const { stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["-q", "w.yml"], { cwd }),
  );
  assertStringIncludes(
    stdout,
    `  w.yml:8:21: cannot run http: "get" is the path "localhost:1/x", and there is no "url" to append it to
    8 |         with: {get: "{{vars.api}}/x"}
      |                     ^^^^^^^^^^^^^^^^ begin it with "http://" or "https://"
`,
  );
});

Deno.test("a test of res.status suggests res.code", async () => {
  await using server = withServer(() => new Response("fine"));
  const workflow = `
name: n
jobs:
  - name: j
    steps:
      - uses: http
        with: {get: "${server.url}"}
        test: status == 200
      - uses: shell
        with: {cmd: exit 127}
        test: status == 0
      - {name: no response of http, uses: hello, with: {headers: {}}, test: status == 1}
`;
  assertEquals(await hintsOf(workflow), [
    "status is 0 for a code from 200 to 299, otherwise 1; the code is res.code",
    "",
    "",
  ]);
});

Deno.test("a step is said to have published nil only if the output exists and is nil", async () => {
  const workflow = `
name: n
jobs:
  - name: Publish
    id: publish
    steps:
      - {id: login, uses: hello, skipif: "true", outputs: {token: '"t"'}}
      - {id: other, uses: hello, skipif: "true", outputs: {both: nil}}
      - {id: lists, uses: hello, outputs: {items: '[1, 2]', none: nil, both: nil}, test: status == 0}
  - name: Read
    needs: [publish]
    steps:
      - {uses: shell, with: {cmd: "true", env: {A: "{{outputs.login?.token}}"}}}
      - {uses: shell, with: {cmd: "true", env: {A: "{{outputs.login?.token ?? outputs.lists.none}}"}}}
      - {uses: shell, with: {cmd: "true", env: {A: "{{find(outputs.lists.items, # == 7)}}"}}}
      - {uses: shell, with: {cmd: "true{{find(outputs.lists.items, # == 7)}}"}}
      - {uses: shell, with: {cmd: "true", env: {A: "{{outputs.both}}"}}}
      - {uses: shell, with: {cmd: "true", env: {A: "{{outputs.lists.none}}"}}}
      - uses: shell
        with:
          cmd: "true"
          env: {A: "{{find(outputs.lists.items, # == 7) ?? nil}}", B: "{{outputs.lists.none ?? nil}}"}
        test: res.code == 1
`;
  assertEquals(await hintsOf(workflow), [
    'outputs has no "login"; there is "lists", "items", "none", "both"; if that is right, add ?? nil',
    "if that is right, add ?? nil",
    "find(…) found no item with # == 7; if that is right, add ?? nil",
    'find(…) found no item with # == 7; if that is right, add ?? ""',
    "if that is right, add ?? nil",
    'the step "lists" published it as nil',
    "",
  ]);
});

Deno.test("a test that is nil names the key that is not there", async () => {
  const workflow = `
name: n
vars: {user: {name: ann}}
jobs:
  - name: j
    steps:
      - {name: a, uses: hello, test: vars.user?.nam}
      - {name: b, uses: hello, test: "let x = nil; x"}
      - {name: c, uses: hello, skipif: vars.user?.active}
`;
  assertEquals(await hintsOf(workflow), [
    'vars.user has no "nam"; did you mean "name"?',
    "add ?? false where it may be missing",
    'vars.user has no "active"; there is "name"',
  ]);
});

Deno.test("nil for which there is a default hides no other hint", async () => {
  await using server = withServer(() => new Response("no", { status: 500 }));
  const workflow = `
name: n
vars: {token: "{{NO_SUCH_VARIABLE}}"}
jobs:
  - name: j
    steps:
      - uses: http
        with: {get: "${server.url}", headers: {X-Token: "{{vars.token ?? nil}}"}}
        test: status == 200
      - {name: a, uses: hello, test: upper(vars.token ?? "none") + 1 == "NONE1"}
      - {name: b, uses: hello, test: (vars.token ?? nil) == "t"}
      - {name: c, uses: hello, test: vars.token == "t"}
`;
  assertEquals(await hintsOf(workflow), [
    "status is 0 for a code from 200 to 299, otherwise 1; the code is res.code",
    "turn the other one into text with string(…)",
    "",
    "vars.token reads the environment variable NO_SUCH_VARIABLE, which is not set",
  ]);
});

Deno.test("a part that is missing in an unsuccessful result is explained by the result", async () => {
  await using server = withServer(({ url }) =>
    url.endsWith("/errors")
      ? Response.json({ data: null, errors: [{ message: "no" }] })
      : new Response("not found", { status: 404 })
  );
  const workflow = `
name: n
jobs:
  - name: j
    defaults: {http: {url: "${server.url}"}}
    steps:
      - {uses: http, with: {get: /items}, test: 'res.body.items[0].name == "tea"'}
      - {uses: http, with: {get: /items}, test: 'res.headers.ETag == "1"'}
      - {uses: http, with: {post: /errors, graphql: {query: "{a}"}}, test: res.data.a == 1}
      - {uses: http, with: {get: /items}, id: b, outputs: {id: 'res.body.id'}, test: res.code == 404}
      - {uses: db, with: {dsn: ":memory:", query: "SELECT ? AS id"}, test: 'res.rows[0].id == 1'}
      - {name: not of the result, uses: shell, with: {cmd: exit 3}, test: vars?.none == 1}
`;
  const there = '"Content-Type", "Content-Length", "Vary", "Date"';
  assertEquals((await hintsOf(workflow)).map((hint) => hint.slice(0, 40)), [
    "HTTP 404",
    `HTTP 404; res.headers has no "ETag"; there is ${there}`.slice(0, 40),
    "HTTP 200 with errors; res.data is nil",
    "HTTP 404",
    "SQLITE_RANGE",
    'vars has no "none"; it is empty',
  ]);
});

Deno.test("an error in a test says which part of its with was nil, and why", async () => {
  const workflow = `
name: n
jobs:
  - name: j
    steps:
      - {id: insert, uses: hello, outputs: {id: nil}, test: status == 0}
      - uses: db
        with: {dsn: ":memory:", query: "SELECT 1 WHERE :id = 1", params: {id: "{{outputs.insert.id}}"}}
        test: 'res.rows[0] == 1'
`;
  assertEquals(await hintsOf(workflow), [
    'with.params.id is nil: the step "insert" published it as nil',
  ]);
});

Deno.test("a variable that is not set is not blamed for a var that the step has of its own", async () => {
  const workflow = `
name: n
vars: {token: "{{NO_SUCH_VARIABLE}}"}
jobs:
  - name: j
    steps:
      - {uses: shell, vars: {token: null}, with: {cmd: "true", env: {A: "{{vars.token}}"}}}
      - {uses: shell, iteration: [{token: null}], with: {cmd: "true", env: {A: "{{vars.token}}"}}}
      - {uses: hello, vars: {token: null}, test: vars.token == 1}
      - {uses: hello, vars: {token: "a {{vars.token}}"}}
      - {uses: hello, vars: {other: null}, test: vars.token == 1}
`;
  const unset = "vars.token reads the environment variable NO_SUCH_VARIABLE, which is not set";
  assertEquals(await hintsOf(workflow), [
    "if that is right, add ?? nil",
    "if that is right, add ?? nil",
    "",
    unset,
    unset,
  ]);
});

Deno.test("a column of a file that is compared with a number says how it becomes one", async () => {
  const step = (test: string) =>
    `      - {uses: hello, iteration: {file: rows.csv}, vars: {own: "7"}, test: '${test}'}\n`;
  const tests = [
    "vars.price < 10",
    "vars.price == 4.5",
    "vars.price * 2 == 9",
    'res.nothing == nil && vars.price + 1 == "5.5"',
    "vars.own < 10",
    "vars.name == 4",
    "round(vars.price) == 4",
  ];
  const workflow = `name: n\njobs:\n  - name: j\n    steps:\n${tests.map(step).join("")}`;
  const typed =
    'columns of a file are strings: add types: { price: number }, or types: auto, to "iteration"';
  assertEquals(await hintsOf(workflow, { "rows.csv": "name,price\ntea,4.5\n" }), [
    ...Array(4).fill(typed),
    "turn the text into a number with float(…)",
    "vars.name is string, 4 is int",
    typed,
  ]);
});

Deno.test("find() that finds nothing shows the values of its condition", async () => {
  const workflow = `
name: n
vars: { name: pot, items: [{ name: mug }] }
jobs:
  - name: j
    steps:
      - uses: hello
        test: find(vars.items, .name == vars.name || .name == vars.name + "s").price == 3
`;
  const { stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["w.yml"], { cwd }),
  );
  assertStringIncludes(
    stdout,
    '.name == vars.name || .name == vars.name + "s": vars.name is "pot" (string)\n',
  );
});
