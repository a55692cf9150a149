import { assert, assertEquals } from "@std/assert";
import { ACTIONS } from "../../src/action/registry.ts";
import { JOB_FIELDS, REPEAT, RETRY, STEP_FIELDS, WORKFLOW } from "../../src/workflow/fields.ts";
import { explainText } from "../support/load_files.ts";

/** A value of every type that YAML has, and some that are easily mistaken for another. */
const VALUES = [
  "abc",
  "''",
  "' '",
  "5",
  "-1",
  "1.5",
  "12345678901234567890",
  ".inf",
  ".nan",
  "true",
  "~",
  "",
  "[]",
  "[~]",
  "[1, a]",
  "[[1]]",
  "[{a: 1}]",
  "{}",
  "{a: 1}",
  "{a: ~}",
  "{a: {b: [c]}}",
  "2024-01-01",
  "'{{ }}'",
  "'{{ nope'",
  "'{{ 1 + }}'",
  '"{{ vars.x }}"',
  "'\\'",
  '"\\ud800"',
];

/** Where a mapping of each kind stands: its keys go in place of KEYS. */
const STEP = "name: n\njobs:\n- name: j\n  steps:\n";
const PLACES: readonly (readonly [fields: readonly string[], yaml: string, others: string])[] = [
  [Object.keys(WORKFLOW.fields), "KEYS", "name: n\njobs: [{name: a, steps: [{uses: hello}]}]"],
  [
    Object.keys(JOB_FIELDS.fields),
    "name: n\njobs:\n-\n  KEYS\n",
    "name: j\n  steps: [{uses: hello}]",
  ],
  [Object.keys(REPEAT.fields), `${STEP}  - uses: hello\n  repeat:\n    KEYS\n`, "count: 1"],
  [Object.keys(STEP_FIELDS.fields), `${STEP}  -\n    KEYS\n`, "uses: hello\n    id: a"],
  [
    Object.keys(RETRY.fields),
    `${STEP}  - uses: hello\n    retry:\n      KEYS\n`,
    "max_attempts: 1",
  ],
  ...(await Promise.all(ACTIONS.map(({ load }) => load()))).map(({ name, parameters }) =>
    [
      parameters?.map((parameter) => parameter.name) ?? ["anything"],
      `${STEP}  - uses: ${name}\n    with:\n      KEYS\n`,
      "",
    ] as const
  ),
  [ACTIONS.map(({ name }) => name), `${STEP}  - uses: hello\n  defaults:\n    KEYS\n`, ""],
];

/** The mapping with one key of this value, and the others that it needs. */
function withKey(yaml: string, others: string, key: string, value: string): string {
  const indent = /^( *)KEYS/m.exec(yaml)?.[1] ?? "";
  const rest = others.split(/\n */).filter((line) => line !== "" && !line.startsWith(`${key}:`));
  return yaml.replace("KEYS", () => [...rest, `${key}: ${value}`].join(`\n${indent}`));
}

Deno.test("a value of any type under any key loads or is refused at its place", async () => {
  let refused = 0;
  for (const [keys, yaml, others] of PLACES) {
    for (const key of keys) {
      for (const value of VALUES) {
        const text = withKey(yaml, others, key, value);
        const told = await explainText(text);
        const first = told.split("\n").filter((line) => line.startsWith("flow.yml:"));
        assert(!/undefined|NaN,|\[object|internal/.test(told), `${text}\n${told}`);
        if (told === "") continue;
        refused++;
        assert(first.every((line) => /^flow\.yml:\d+:\d+: (error|warning): \S/.test(line)), told);
        assertEquals(first.length > 0, true, `${text}\n${told}`);
      }
    }
  }
  assert(refused > 500, `only ${refused} were refused`);
});
