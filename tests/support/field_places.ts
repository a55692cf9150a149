/**
 * Values of every type, and every key of the file format that can take one.
 *
 * @module
 */
import { ACTIONS } from "../../src/actions/registry.ts";
import { WORKFLOW } from "../../src/workflow/decode/key_tree.ts";
import { tablesOf } from "../../src/workflow/names.ts";

/** The keys of a map by the title of their table in the reference. */
function keysOf(title: string): readonly string[] {
  const table = tablesOf(WORKFLOW.form).find(({ key }) => key?.title === title);
  return table!.fields!.map(({ name }) => name);
}

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

/** A document with a mapping of each kind; its keys replace KEYS. */
const STEP = "name: n\njobs:\n- name: j\n  steps:\n";
const PLACES: readonly (readonly [fields: readonly string[], yaml: string, others: string])[] = [
  [keysOf("Workflow"), "KEYS", "name: n\njobs: [{name: a, steps: [{uses: hello}]}]"],
  [
    keysOf("Job"),
    "name: n\njobs:\n-\n  KEYS\n",
    "name: j\n  steps: [{uses: hello}]",
  ],
  [keysOf("repeat"), `${STEP}  - uses: hello\n  repeat:\n    KEYS\n`, "count: 1"],
  [keysOf("matrix"), `${STEP}  - uses: hello\n  matrix:\n    KEYS\n`, "env: [a]"],
  [keysOf("Step"), `${STEP}  -\n    KEYS\n`, "uses: hello\n    id: a"],
  [
    keysOf("retry"),
    `${STEP}  - uses: hello\n    retry:\n      KEYS\n`,
    "max_attempts: 1",
  ],
  [
    keysOf("test and expect"),
    `${STEP}  - uses: hello\n    test:\n    - KEYS\n`,
    "that: vars.x == 1",
  ],
  [ACTIONS.map(({ name }) => name), `${STEP}  - uses: hello\n  defaults:\n    KEYS\n`, ""],
];

const LOADED = await Promise.all(ACTIONS.map(({ load }) => load()));

/** The parameters of each action. */
const PARAMETERS: typeof PLACES = LOADED.map(({ name, parameters }) => [
  parameters?.map((parameter) => parameter.name) ?? ["anything"],
  `${STEP}  - uses: ${name}\n    with:\n      KEYS\n`,
  "",
]);

/** Of parameters that are alike but for their names, the first. */
function unlikeParameters(): typeof PLACES {
  const seen = new Set<string>();
  return LOADED.map(({ parameters = [] }, index) => {
    const unlike = parameters.filter(({ name: _, summary: __, ...shape }) =>
      seen.size < seen.add(JSON.stringify(shape)).size
    );
    const [, yaml, others] = PARAMETERS[index]!;
    return [unlike.map((parameter) => parameter.name), yaml, others];
  });
}

/** The mapping with one key of this value, and the others that it needs. */
function withKey(yaml: string, others: string, key: string, value: string): string {
  const indent = /^( *)KEYS/m.exec(yaml)?.[1] ?? "";
  const rest = others.split(/\n */).filter((line) => line !== "" && !line.startsWith(`${key}:`));
  return yaml.replace("KEYS", () => [...rest, `${key}: ${value}`].join(`\n${indent}`));
}

/**
 * A workflow for each value under each key; the other keys are valid. Of the parameters of actions
 * all, or one of each shape.
 */
export function workflowsOfFields(parameters: "all" | "unlike"): readonly string[] {
  return [...PLACES, ...parameters === "all" ? PARAMETERS : unlikeParameters()].flatMap((
    [keys, yaml, others],
  ) => keys.flatMap((key) => VALUES.map((value) => withKey(yaml, others, key, value))));
}
