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

/** Libraries that only some workflows use, by a test that uses them. */
const USERS: readonly (readonly [test: string, packages: readonly string[]])[] = [
  [`schema(1, {type: "integer"})`, ["ajv", "ajv-formats"]],
  [`json_path([1], "$[0]") == [1]`, ["json-p3"]],
  [`xpath("<a/>", "//a") == [""]`, ["htmlparser2", "xpath"]],
  [`css("<a>", "a") == [""]`, ["htmlparser2", "css-select"]],
  [`"a" matches "a"`, ["re2js"]],
];

/** Features that a run without their keys does not load. */
const FEATURES = /^run\/snapshots\/|^openapi\/|check_contract|check_snapshots/;

Deno.test("a plain run loads nothing of the assertions that it does not use", async () => {
  await withFiles({ "plain.yml": PLAIN }, async (cwd) => {
    const { modules, packages } = await loadedModules(cwd, "plain.yml");
    assertEquals(modules.filter((path) => FEATURES.test(path)), []);
    assertEquals(packages.filter((name) => !PLAIN_PACKAGES.includes(name)), []);
  });
});

Deno.test("a run loads the libraries of the functions that it uses", async () => {
  for (const [test, needed] of USERS) {
    const workflow = `name: w
jobs: [{ name: j, steps: [{ uses: hello, test: '${test}' }] }]
`;
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      const { packages } = await loadedModules(cwd, "w.yml");
      for (const name of needed) assert(packages.includes(name), `${name} of ${packages}`);
    });
  }
});
