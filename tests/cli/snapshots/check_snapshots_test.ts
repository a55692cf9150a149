import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inPlace, workflow } from "../../support/snapshot_place.ts";

/** Snapshots that are wrong, and what check says. */
const MISTAKES: readonly (readonly [snapshot: string, message: string])[] = [
  ["snapshot: 5", '"snapshot" must be true or a map, not 5'],
  ["snapshot: { of: 1 +, name: a }", "unexpected end"],
  ['snapshot: { of: 1, ignore: ["$["] }', "invalid JSONPath"],
  ['snapshot: { of: 1, ignore: "$.a" }', '"ignore" must be a list'],
  ['snapshot: { of: 1, match: { "a": uuid } }', 'invalid JSONPath: it must start with "$"'],
  ['snapshot: { of: 1, match: { "$.a": uid } }', 'unknown rule "uid": did you mean "uuid"?'],
  ['snapshot: { of: 1, match: { "$.a": "/(/" } }', "invalid regular expression: missing closing )"],
  ['snapshot: { of: 1, match: { "$.a": 5 } }', 'a rule of "match" must be a string, not 5'],
  ["snapshot: { of: 1, name: a/b }", "the name of a snapshot is made of letters"],
  ["snapshot: { value: 1 }", 'unknown key "value" in snapshot'],
];

for (const [snapshot, message] of MISTAKES) {
  Deno.test(`check says what is wrong with ${snapshot}`, async () => {
    await inPlace({ "w.yml": workflow("1", snapshot) }, async ({ run }) => {
      const { stdout } = await run("check", "w.yml");
      assertStringIncludes(stdout, message);
    });
  });
}

Deno.test("without of, an action must give res.body", async () => {
  const shell = workflow("1", "snapshot: true").replace(
    "uses: hello",
    "uses: shell, with: { cmd: echo }",
  );
  await inPlace({ "w.yml": shell }, async ({ run }) => {
    const { stdout } = await run("check", "w.yml");
    assertStringIncludes(stdout, "the result of shell has no res.body");
    assertStringIncludes(stdout, "write what is compared: snapshot: { of: res.");
  });
  await inPlace({ "w.yml": workflow("1", "snapshot: true") }, async ({ run }) => {
    assertStringIncludes((await run("w.yml")).stdout, "the result has no res.body to compare");
  });
});

Deno.test("two steps cannot share a snapshot, and one without id needs a name", async () => {
  const step = (more: string) => `      - { uses: hello, ${more} }\n`;
  const twice = `name: n\njobs:\n  - name: j\n    id: a\n    steps:\n` +
    step("id: x, snapshot: { of: 1 }") + step("snapshot: { of: 1, name: X }") +
    step("snapshot: { of: 1 }");
  await inPlace({ "w.yml": twice }, async ({ run }) => {
    const { code, stdout } = await run("check", "w.yml");
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'two steps have the snapshot "a.X"');
    assertStringIncludes(stdout, "the snapshot of a step without id has no name");
    assert(!(await run("w.yml")).stdout.includes("✓"));
  });
});

Deno.test("check takes a snapshot for a test, which sees the outputs of its step", async () => {
  const file = `name: n
jobs:
  - name: j
    steps:
      - uses: shell
        id: a
        with: { cmd: "true" }
        outputs: { x: res.code }
        snapshot: { of: outputs.a.x }
      - { uses: hello, id: b, retry: { max_attempts: 2 }, snapshot: { of: 1 } }
`;
  await inPlace({ "w.yml": file }, async ({ run }) => {
    assertEquals((await run("check", "w.yml")).stdout, "1 workflow checked: ok\n");
  });
});
