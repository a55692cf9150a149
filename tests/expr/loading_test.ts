import { assert, assertEquals } from "@std/assert";
import { loadedModules } from "../support/loaded_modules.ts";
import { withFiles } from "../support/temp_dir.ts";

const PLAIN = `name: plain
vars: { order: { id: 1, tags: [a] } }
jobs:
  - name: j
    steps:
      - uses: echo
        with: { message: "{{ upper(vars.order.tags[0]) }}" }
        test: res.message == "A" && match_json(vars.order, {id: 1, tags: ["a"]})
`;

/** Packages that a plain run loads: expressions, YAML, and the width of characters. */
const PLAIN_PACKAGES = ["acorn", "get-east-asian-width", "js-yaml"];

/** What only some workflows use, by a test that uses it. */
const USERS: readonly (readonly [part: RegExp, test: string, packages?: readonly string[]])[] = [
  [/^expr\/functions\/times\//, `date("2026-01-02") < now()`],
  [/^expr\/functions\/jwt\//, `jwt("e30.e30.").claims == {}`],
  [/^expr\/json_schema\/|validate_call/, `schema(1, {type: "integer"})`, ["ajv", "ajv-formats"]],
  [/^expr\/functions\/json_path/, `json_path([1], "$[0]") == [1]`, ["json-p3"]],
  [/functions\/jmespath/, `jmespath({a: 1}, "a") == 1`, ["@jmespath-community/jmespath"]],
  [/^expr\/functions\/markup\/x/, `xpath("<a/>", "//a") == [""]`, ["htmlparser2", "xpath"]],
  [/markup\/select_html/, `css("<a>", "a") == [""]`, ["css-select"]],
];

/** Features that a run without their keys does not load. */
const FEATURES = /^run\/snapshots\/|^openapi\/|check_contract|check_snapshots|coverage/;

Deno.test("a plain run loads nothing of the assertions that it does not use", async () => {
  await withFiles({ "plain.yml": PLAIN }, async (cwd) => {
    const { own, packages } = await loadedModules(cwd, "plain.yml");
    const unused = own.filter((path) =>
      FEATURES.test(path) || USERS.some(([part]) => part.test(path))
    );
    assertEquals(unused, []);
    assertEquals(packages.filter((name) => !PLAIN_PACKAGES.includes(name)), []);
  });
});

Deno.test("a run loads the code of the functions that it uses", async () => {
  for (const [part, test, needed = []] of USERS) {
    const workflow = `name: w
jobs: [{ name: j, steps: [{ uses: hello, test: '${test}' }] }]
`;
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      const { own, packages } = await loadedModules(cwd, "w.yml");
      assert(own.some((path) => part.test(path)), `${part} of ${own.join("\n")}`);
      for (const name of needed) assert(packages.includes(name), `${name} of ${packages}`);
    });
  }
});
