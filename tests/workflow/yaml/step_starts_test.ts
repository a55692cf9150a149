import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { readFiles } from "../../../src/workflow/read_files.ts";
import { readYaml } from "../../../src/workflow/yaml/read_yaml.ts";
import { findStepStarts } from "../../../src/workflow/yaml/step_starts.ts";
import { hostWith } from "../../support/load_files.ts";

const ROOT = fromFileUrl(new URL("../../../", import.meta.url));

/** The numbers of the steps of each job, as the value has them. */
function stepsOf(value: unknown): readonly number[] {
  const { jobs } = value as { readonly jobs?: unknown };
  if (!Array.isArray(jobs)) return [];
  return jobs.map((job) => Array.isArray(job?.steps) ? job.steps.length : 0);
}

function fits(starts: ReturnType<typeof findStepStarts>, steps: readonly number[]): boolean {
  return starts !== undefined &&
    JSON.stringify(starts.map(({ length }) => length)) === JSON.stringify(steps);
}

/** Compares what was found with what a parser knows; false where nothing, or too little, was. */
async function agrees(text: string): Promise<boolean> {
  const { value, positions } = await readYaml([{ name: "w.yml", text }]);
  const starts = findStepStarts(text);
  const steps = stepsOf(value);
  if (!fits(starts, steps)) return false;
  const known = await positions();
  // One parser reads a little that the other one, which knows places, does not.
  if (known.locate(["jobs"]).start === 0) return true;
  for (const [job, own] of starts!.entries()) {
    for (const [step, start] of own.entries()) {
      assertEquals(start, known.locate(["jobs", job, "steps", step]).start, text);
    }
  }
  return true;
}

const STEPS = [
  "- name: a\n  uses: hello",
  "- uses: hello\n  echo: |\n    - uses: x\n    steps:\n    - y\n   # no comment",
  "- { uses: hello, with: { steps: [1] } }",
  '-   "uses": hello\n    with:\n      - a\n      - b',
  "- uses: shell\n  with:\n    cmd: >-\n      jobs:\n        - steps:\n            - z",
  "- uses: hello\n\n  # - a comment\n  test: 'a\n    - b'",
];

function indent(text: string, columns: number): string {
  return text.split("\n").map((line) => line === "" ? "" : " ".repeat(columns) + line).join("\n");
}

Deno.test("findStepStarts() finds steps where a parser finds them, however they are indented", async () => {
  for (const [jobDash, stepDash] of [[0, 2], [2, 4], [2, 6], [4, 9], [1, 3]] as const) {
    const steps = indent(STEPS.join("\n"), stepDash);
    const keys = indent("description: |\n  steps:\n    - not a step\nneeds: [a]", jobDash + 2);
    const job = (first: string) => indent(`- ${first}`, jobDash);
    const text = [
      "name: n\ndescription: |\n  jobs:\n    - not a job\n# jobs:\njobs: # all of them\n",
      `${job("name: one")}\n${keys}\n${indent("steps:  # here", jobDash + 2)}\n${steps}\n`,
      `${indent("skipif: 'true'", jobDash + 2)}\n\n`,
      `${job("steps:")}\n${steps}\n${indent("name: two", jobDash + 2)}\n`,
      "vars:\n  jobs:\n    - steps:\n        - 1\n",
    ].join("");
    assert(await agrees(text), text);
    assert(await agrees(text.replaceAll("\n", "\r\n")), text);
    assert(await agrees(`---\n${text}`));
  }
});

Deno.test("findStepStarts() does not find what is laid out otherwise", async () => {
  const texts = [
    "jobs: [{ name: a, steps: [{ uses: hello }] }]\n",
    "jobs:\n  - { name: a, steps: [{ uses: hello }] }\n",
    "jobs:\n  - name: a\n    steps: [{ uses: hello }]\n",
    "jobs:\n  - name: a\n    steps:\n      -\n        uses: hello\n",
    "jobs:\n  - name: a\n    steps:\n      - &a\n        uses: hello\n      - *a\n",
    "jobs:\n  - name: a\n    steps: &a\n      - uses: hello\n  - name: b\n    steps: *a\n",
    '"jobs":\n  - name: a\n    steps:\n      - uses: hello\n',
    "jobs:\n  - name: a\n    steps:\n      - - uses: hello\n",
    "jobs:\n  - ? name\n    : a\n    steps:\n      - uses: hello\n",
    "base: &b\n  steps:\n    - uses: hello\njobs:\n  - <<: *b\n    name: a\n",
  ];
  for (const text of texts) assert(!await agrees(text), text);
  assertEquals(findStepStarts(""), []);
});

Deno.test("findStepStarts() agrees with a parser on real workflows", async () => {
  const paths = ["examples", "tests/conformance"].flatMap((folder) =>
    [...Deno.readDirSync(`${ROOT}${folder}`)].map(({ name, isDirectory }) =>
      `${ROOT}${folder}/${name}${isDirectory ? "/workflow.yml" : ""}`
    )
  );
  let [found, all] = [0, 0];
  for (const path of paths) {
    if (!/\.ya?ml$/.test(path)) continue;
    const text = await readWorkflow(path);
    if (text === undefined) continue;
    all++;
    if (await agrees(text)) found++;
  }
  assert(all > 60 && found > all * 0.8, `${found} of ${all}`);
});

/** The text of a file that has steps; undefined where it is no YAML, or none of that name. */
async function readWorkflow(path: string): Promise<string | undefined> {
  try {
    const [file] = await readFiles(path, hostWith({}));
    return stepsOf((await readYaml([file!])).value).length > 0 ? file!.text : undefined;
  } catch {
    return undefined;
  }
}
