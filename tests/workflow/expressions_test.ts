import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describeText, explainText, loadText } from "../support/load_files.ts";

/** A workflow with these lines as keys of a step; they begin in line 7, column 5. */
function step(lines: string): string {
  const indented = lines.replaceAll("\n", "\n    ");
  return `name: x
jobs:
- name: a
  steps:
  - uses: hello
    id: s
    ${indented}
`;
}

/** Where each error is, as `line:column marked text`. */
async function errorsIn(yaml: string): Promise<readonly string[]> {
  const messages = (await explainText(yaml)).split("\n");
  return messages.flatMap((line, index) => {
    const [, position] = /^flow\.yml:(\d+:\d+): error/.exec(line) ?? [];
    if (position === undefined) return [];
    const [shown = "", carets = ""] = messages.slice(index + 1);
    const from = carets.indexOf("^");
    return `${position} ${shown.slice(from, from + /\^+/.exec(carets)![0].length)}`;
  });
}

Deno.test("a mistake in an expression is marked where it is written", async () => {
  const cases: readonly (readonly [lines: string, ...places: readonly string[]])[] = [
    ["test: foo == 1", "7:11 foo"],
    ["test: 'res.body == ''a'' && foo'", "7:33 foo"],
    ['test: "res.body == \\"a\\" && foo"', "7:33 foo"],
    ["test: >\n  res.code == 200 &&\n  foo\n  == 1", "9:7 foo"],
    ["test: |\n  res.code == 200\n  && foo", "9:10 foo"],
    ["test: res.code == 200 &&\n  foo", "8:7 foo"],
    ["test: nope(1)", "7:11 nope"],
    ["test: len(foo) == bar", "7:15 foo", "7:23 bar"],
    ["test: let a = 1; a == b", "7:27 b"],
    ["test: let a = a; a == 1", "7:19 a"],
    ["test: 'filter(res.body, foo > # && .x)'", "7:29 foo"],
    ["test: res.foo.bar[baz]", "7:23 baz"],
    ["skipif: foo", "7:13 foo"],
    ["echo: a {{ foo }} b {{ bar }}", "7:16 foo", "7:28 bar"],
    ['name: "{{ foo }}"', "7:15 foo"],
    ['wait: "{{ foo }}"', "7:15 foo"],
    ['with: {a: [1, {b: "x {{ foo }}"}]}', "7:29 foo"],
    ['vars: {a: {b: "{{ foo }}"}}', "7:23 foo"],
    ['iteration: [{a: 1}, {a: "{{ foo }}"}]', "7:33 foo"],
    ["outputs: {a: foo, b: bar}", "7:18 foo", "7:26 bar"],
    ['test: res.body matches "("', '7:28 "("'],
    ['test: res.body matches "^a+$"'],
    ["test: $env.vars.x == 1"],
    ["test: vars.a && res && req && rt && status == 0 && outputs.a && repeat_index == 0"],
    ["test: '{foo: 1}.foo == 1'"],
  ];
  for (const [lines, ...messages] of cases) {
    assertEquals(await errorsIn(step(lines)), messages, lines);
  }
});

Deno.test("names are those of the place", async () => {
  const here = "the names here are vars, outputs, needs, run, repeat_index, iteration_index, trace";
  assertEquals(
    await explainText(step('vars: {a: "{{ res.code }}"}\necho: "{{ rez }}"\ntest: env.A')),
    `workflow file 'flow.yml' has 3 errors
flow.yml:7:19: error: unknown name "res" in the vars of a step
  7 |     vars: {a: "{{ res.code }}"}
    |                   ^^^ ${here}
flow.yml:8:15: error: unknown name "rez" in a step
  8 |     echo: "{{ rez }}"
    |               ^^^ did you mean "res"?
flow.yml:9:11: error: unknown name "env" in a step
  9 |     test: env.A
    |           ^^^ unlike in GitHub Actions, environment variables are read in the vars of the workflow: NAME: "{{NAME}}"`,
  );
  assertEquals(
    await explainText(`name: x
vars:
  a: "{{ vars.b }}"
  b: ["{{ outputs.c }}", "{{ ANY ?? OTHER }}", "{{ random_str(8) }}"]
jobs:
- name: "{{ vars.a }} {{ repeat_index }} {{ outputs }}"
  skipif: vars.a || outputs.b || res
  steps: [{uses: hello}]
`),
    `workflow file 'flow.yml' has 5 errors
flow.yml:3:10: error: unknown name "vars" in the vars of the workflow
  3 |   a: "{{ vars.b }}"
    |          ^^^^ vars cannot use each other: they see environment variables, by bare name
flow.yml:4:11: error: unknown name "outputs" in the vars of the workflow
  4 |   b: ["{{ outputs.c }}", "{{ ANY ?? OTHER }}", "{{ random_str(8) }}"]
    |           ^^^^^^^ vars are evaluated before the first job: there are no outputs yet
flow.yml:6:26: error: unknown name "repeat_index" in the name of a job
  6 | - name: "{{ vars.a }} {{ repeat_index }} {{ outputs }}"
    |                          ^^^^^^^^^^^^ a job has one name for all its rounds; the names of its steps see repeat_index
flow.yml:6:45: error: unknown name "outputs" in the name of a job
  6 | - name: "{{ vars.a }} {{ repeat_index }} {{ outputs }}"
    |                                             ^^^^^^^ the only name here is vars
flow.yml:7:34: error: unknown name "res" in a job
  7 |   skipif: vars.a || outputs.b || res
    |                                  ^^^ the names here are vars, outputs, needs`,
  );
});

Deno.test("an unknown name is reported with a suggestion", async () => {
  const hints: readonly (readonly [expression: string, hint: string])[] = [
    ["outputs.a-2-b.id == 1", 'a hyphen is a minus; for one key write ["a-2-b"]'],
    ["outputs.create-user.id == 1", 'a hyphen is a minus; for one key write ["create-user"]'],
    ["response.code == 200", "the result of the action is res"],
    ["jobs.a.b", "what other jobs publish is in outputs"],
    [
      'API_KEY == ""',
      'environment variables are read in the vars of the workflow: API_KEY: "{{API_KEY}}"',
    ],
  ];
  for (const [expression, hint] of hints) {
    assertStringIncludes(await explainText(step(`test: '${expression}'`)), `^ ${hint}`);
  }
});

Deno.test("a variable without 'vars.' is reported as a variable", async () => {
  const yaml = "name: x\nvars: {user: 1}\n" + step('echo: "{{ user }}"').replace("name: x\n", "");
  assertStringIncludes(await explainText(yaml), "^ write vars.user");
});

Deno.test("braces in a bare expression are reported as needless", async () => {
  for (const lines of ['test: "{{ res.code == 200 }}"', 'outputs: {a: "{{ res }}"}']) {
    assertMatch(await explainText(step(lines)), /already: leave out \{\{ and \}\}/);
  }
  assertEquals(await describeText(step("test: 'res.body contains \"{{\"'")), []);
});

Deno.test("an expression that a comment cuts off is reported", async () => {
  const hint = /" #" begins a comment in YAML: put the whole value in quotes/;
  assertMatch(await explainText(step("test: filter(res.body, # > 1)")), hint);
  assertMatch(await explainText(step('test: res.body contains "issue #5"')), hint);
  assertEquals(await describeText(step("test: res.code == 200 # fine")), []);
  assertEquals((await explainText(step("test: foo # is unknown"))).includes("comment"), false);
});

Deno.test("an expression that a comma cuts off is reported", async () => {
  const yaml = "name: x\njobs:\n- {name: a, steps: [{uses: hello, test: get(res, 1)}]}\n";
  assertMatch(await explainText(yaml), /a "," ends the value: put the whole value in quotes/);
});

Deno.test("an expression in quotes that stops in its middle was not cut by YAML", async () => {
  const yaml = `name: x\njobs: [{name: j, steps: [{uses: hello, test: "1 ==" , id: a}]}]\n`;
  const messages = await explainText(yaml);
  assertMatch(messages, /unexpected end of the expression/);
  assertEquals(messages.includes("ends the value"), false, messages);
});

Deno.test("a repeated expression is reported once for each place", async () => {
  const steps = Array.from({ length: 50 }, () => "*s").join(", ");
  const yaml = `x: &s {uses: hello, test: foo}
name: x
jobs: [{name: a, steps: [${steps}]}, {name: b, steps: [{uses: hello, test: foo}]}]
`;
  assertEquals((await errorsIn(yaml)).map((position) => position.split(":")[0]), ["1", "3"]);
});

Deno.test("an error in the defaults of a job is reported once, in the defaults", async () => {
  const yaml = `name: x
jobs:
- name: a
  defaults: {hello: {a: "{{ foo }}"}}
  steps: [{uses: hello}, {uses: hello, with: {b: 1}}, {uses: hello, with: {a: 1}}]
`;
  assertEquals(await errorsIn(yaml), ["4:29 foo"]);
});

Deno.test("equal texts share one tree", async () => {
  const { workflow } = await loadText(step("test: res.code == 200\nskipif: res.code == 200"));
  const [first] = workflow.jobs[0]?.steps ?? [];
  assertEquals(first?.test?.[0]?.expression === first?.skipif, true);
});
