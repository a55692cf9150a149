import { assertEquals } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { runMain } from "../../support/run/run_main.ts";
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

Deno.test("a value that shares its parts without end fails every step that would write it out", async () => {
  const steps = [
    `{uses: shell, with: {cmd: "true", env: {A: "{{ ${SHARING} }}"}}}`,
    `{uses: http, with: {post: "http://127.0.0.1:1", body: "{{ ${SHARING} }}"}}`,
    `{uses: echo, with: {message: "{{ ${SHARING} }}"}}`,
    `{uses: hello, with: {a: [{b: "{{ ${SHARING} }}"}]}}`,
    `{uses: hello, vars: {a: "{{ ${SHARING} }}"}}`,
    `{uses: hello, iteration: [{a: "{{ ${SHARING} }}"}]}`,
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
