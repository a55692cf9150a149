import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { RunnerError } from "../../src/base/errors.ts";
import type { Dict } from "../../src/base/value/value.ts";
import type { PieceHeader } from "../../src/run/event.ts";
import { Masker } from "../../src/secrets/masker.ts";
import { readOutputsFile, renderOutputsFile } from "../../src/spread/outputs_file.ts";
import { hashWorkflow } from "../../src/spread/run_file.ts";
import { makeSeal } from "../../src/spread/seal.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { hostWith } from "../support/load_files.ts";
import { withFiles } from "../support/temp_dir.ts";

const KEY = "0123456789abcdef0123456789abcdef";

const HEADER: PieceHeader = {
  schema: "runner.events/1",
  run: "r1",
  workflow: "abc",
  created: 1,
  jobs: ["load"],
  host: "a",
  part: { index: 1, of: 2 },
};

/** Keys that JSON pointers and JavaScript treat in their own ways, and numbers that JSON lacks. */
const VALUES: Dict = {
  "a/b": { "c~d": { password: "hidden-one" }, "~1": "open" },
  list: ["open", "has hunter2-value in it", [{ token: ["hidden-two", 0, false] }]],
  api_key: { limit: Infinity, none: null, empty: "" },
  numbers: [NaN, Infinity, -Infinity, 0.5, 2 ** 53],
  ...JSON.parse('{ "__proto__": { "secret": "hidden-three", "open": 1 } }'),
};

async function render(header: PieceHeader, values: Dict, key?: string): Promise<string> {
  const secrets = new Masker();
  secrets.add("hunter2-value");
  const seal = key === undefined ? undefined : await makeSeal(key);
  const results = { jobs: {}, outputs: { step: values }, rounds: {} };
  const jobs = Object.fromEntries(
    header.jobs.map((id) => [id, { state: "passed", failed: 0 } as const]),
  );
  return await renderOutputsFile(header, { ...results, jobs }, { secrets, seal });
}

async function read(text: string, key: string) {
  const opening = { seal: await makeSeal(key), secrets: new Masker() };
  return await readOutputsFile({ file: "outputs.json", text }, opening);
}

Deno.test("outputs are read as they were written, and secret ones are not in the text", async () => {
  const text = await render(HEADER, VALUES, KEY);
  assertEquals(/hidden|hunter2/.exec(text), null);
  const { outputs } = await read(text, KEY);
  assertEquals(Object.entries(outputs.step!), Object.entries(VALUES));
  assertEquals(JSON.stringify(outputs.step), JSON.stringify(VALUES));
});

Deno.test("without a key the error names all outputs that are secret", async () => {
  await assertRejects(
    () => render(HEADER, VALUES),
    RunnerError,
    "secret outputs cannot be written to a file as plain text: step.a/b.c~d.password, " +
      "step.list.1, step.list.2.0.token.0, step.list.2.0.token.1, step.list.2.0.token.2, " +
      "step.api_key.limit, step.__proto__.secret",
  );
});

Deno.test("sealed values open for the key, the run, the job and the part that they are of", async () => {
  const text = await render(HEADER, VALUES, KEY);
  const changes: readonly (readonly [from: string, to: string])[] = [
    ['"run": "r1"', '"run": "r2"'],
    ['"index": 1', '"index": 2'],
    ['"load": {', '"other": {'],
    ['"sealed": "', '"sealed": "AAAA'],
  ];
  for (const [from, to] of changes) {
    const changed = text.replace(from, to);
    assertEquals(changed === text, false);
    await assertRejects(() => read(changed, KEY), RunnerError, "cannot be opened");
  }
  await assertRejects(
    () => read(text, KEY.toUpperCase()),
    RunnerError,
    "the sealed values of 'outputs.json' cannot be opened",
  );
});

const FILES = {
  "flow.yml": "name: F\njobs:\n  - name: A\n    steps:\n" +
    "      - { name: in, uses: embedded, with: { path: jobs/in.yml } }\n",
  "jobs/in.yml": "name: in\nsteps:\n  - { name: in, uses: hello }\n",
};

async function hashOf(files: Readonly<Record<string, string>>): Promise<string> {
  return await withFiles(files, async (directory) => {
    const { workflow } = await loadWorkflow(`${directory}/flow.yml`, hostWith());
    return await hashWorkflow(workflow);
  });
}

Deno.test("the hash of a workflow is that of its texts, wherever they are", async () => {
  const hash = await hashOf(FILES);
  assertEquals(await hashOf(FILES), hash);
  const windows = Object.entries(FILES).map(([name, text]) =>
    [name, text.replaceAll("\n", "\r\n")] as const
  );
  assertEquals(await hashOf(Object.fromEntries(windows)), hash);
});

Deno.test("an edit of a job file, and another place of it, change the hash", async () => {
  const hash = await hashOf(FILES);
  const inner = FILES["jobs/in.yml"];
  assertNotEquals(await hashOf({ ...FILES, "jobs/in.yml": `${inner}# edited\n` }), hash);
  const moved = FILES["flow.yml"].replace("jobs/in.yml", "jobs2in.yml");
  assertNotEquals(await hashOf({ "flow.yml": moved, "jobs2in.yml": inner }), hash);
});
