import { assertEquals } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withRig } from "../../support/run/rig.ts";

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
    test: ${hasAll("vars")} && ${hasAll("res", 10)} && vars.polluted == nil
  - name: nothing is inherited
    uses: hello
    with: {nested: {}}
    test: |
      all(${JSON.stringify(NAMES)}, !(# in res) && res.nested[#] == nil && get(res, #) == nil) &&
      res.isPrototypeOf == nil && vars.propertyIsEnumerable == nil
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
    test: vars.toString == "s" && vars.valueOf == 9 && vars.__proto__.a == 1 && vars.a == nil
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
