import { assert, assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { LoadError } from "../../src/base/errors.ts";
import type { Diagnostic } from "../../src/base/diagnostic.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { readFiles } from "../../src/workflow/read_files.ts";
import { readYaml } from "../../src/base/yaml/read_yaml.ts";
import { validateAll } from "../support/programs/ajv.ts";
import { workflowsOfFields } from "../support/field_places.ts";
import { hostWith } from "../support/load_files.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/", import.meta.url));
const CONFORMANCE = fromFileUrl(new URL("../conformance/", import.meta.url));
const HOST = hostWith({ RUNNER_PLUGIN_DIR: `${EXAMPLES}plugins` });

/** Mistakes that a schema can see wherever they are. */
const VISIBLE = ["missing", "empty", "type", "range", "duration"];

interface Judged {
  readonly document: unknown;
  /** The diagnostics of the loader. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Loads workflows for real. Those with invalid YAML are left out, because no schema sees them. */
async function judge(argument: string): Promise<Judged | undefined> {
  let document: unknown;
  try {
    document = (await readYaml(await readFiles(argument, HOST))).value;
  } catch (error) {
    if (error instanceof LoadError) return undefined;
    throw error;
  }
  try {
    return { document, diagnostics: (await loadWorkflow(argument, HOST)).warnings };
  } catch (error) {
    if (error instanceof LoadError) return { document, diagnostics: error.diagnostics };
    throw error;
  }
}

async function judgeAll(args: readonly string[]): Promise<ReadonlyMap<string, Judged>> {
  const judged = new Map<string, Judged>();
  for (const argument of args) {
    const one = await judge(argument);
    if (one) judged.set(argument, one);
  }
  return judged;
}

async function printedSchema(...options: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runMain(["schema", ...options]);
  assertEquals([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

/** Compares what the schema says of each document with what the loader says. */
async function compare(judged: ReadonlyMap<string, Judged>) {
  const reported = validateAll(
    await printedSchema(),
    Object.fromEntries([...judged].map(([name, { document }]) => [name, document])),
  );
  const counts = { accepted: 0, refused: 0 };
  for (const [name, { diagnostics }] of judged) {
    const isUnknownKey = ({ code }: Diagnostic) => code === "unknown-key";
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    if (errors.length === 0 && !diagnostics.some(isUnknownKey)) {
      assertEquals(reported[name], [], name);
      counts.accepted++;
    } else if (diagnostics.some(({ code }) => VISIBLE.includes(code))) {
      assert(
        reported[name]!.length > 0,
        `${name}: ${JSON.stringify(diagnostics.map((d) => d.message))}`,
      );
      counts.refused++;
    }
  }
  return { reported, counts };
}

async function filesIn(directory: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (isDirectory) files.push(...await filesIn(`${directory}${name}/`));
    else files.push(`${directory}${name}`);
  }
  return files;
}

Deno.test("the schema accepts every workflow that runs, and rejects the errors that it can detect", async () => {
  const workflows = (await filesIn(EXAMPLES)).filter((path) => path.endsWith(".yml"));
  for await (const { name } of Deno.readDir(CONFORMANCE)) {
    const directory = `${CONFORMANCE}${name}/`;
    const args = await Deno.readTextFile(`${directory}args`).catch(() => "workflow.yml");
    const files = args.split(/\s+/).find((word) => word.includes(".yml"))!;
    workflows.push(files.split(",").map((file) => directory + file).join(","));
  }
  workflows.push(`${EXAMPLES}merge/shared.yml,${EXAMPLES}merge/checks.yml`);
  const { reported, counts } = await compare(await judgeAll(workflows));
  assert(counts.accepted > 50 && counts.refused > 8, JSON.stringify(counts));
  const refusals = (name: string) => reported[`${CONFORMANCE}${name}/workflow.yml`]!.join("\n");
  assertMatch(refusals("rule_8_an_http_step_has_a_method"), /must match/);
  assertMatch(refusals("rule_4_a_step_has_uses"), /required property 'uses'/);
  assertMatch(refusals("unknown_keys_are_refused"), /additional properties/);
});

Deno.test("the schema agrees with the loader on every value under every key", async () => {
  // JSON has no numbers like these, and how long one may be is beyond a pattern. That the path of a
  // job file is not empty is in no table.
  const beyond = /: (\.inf|\.nan|\d{20})|path: ' ?'/;
  const texts = workflowsOfFields("unlike").filter((text) => !beyond.test(text));
  const files = Object.fromEntries(texts.map((text, index) => [`${index}.yml`, text]));
  await withFiles(files, async (directory) => {
    const judged = await judgeAll(Object.keys(files).map((name) => `${directory}/${name}`));
    const texts = new Map(
      [...judged].map(([path, one]) => [files[path.slice(directory.length + 1)]!, one]),
    );
    const { counts } = await compare(texts);
    assert(counts.accepted > 250 && counts.refused > 500, JSON.stringify(counts));
  });
});

Deno.test("parameters of a step are checked by the action's table", async (test) => {
  const job = (step: string, rest = "") => `name: n\njobs:\n- name: j\n  steps: [${step}]\n${rest}`;
  const table: [name: string, text: string, accepted: boolean][] = [
    ["a method", job("{uses: http, with: {get: http://x}}"), true],
    ["no method", job("{uses: http, with: {url: http://x}}"), false],
    ["no with", job("{uses: http}"), false],
    ["two methods", job("{uses: http, with: {get: http://x, post: http://x}}"), false],
    ["a method left empty", job("{uses: http, with: {get: http://x, post: }}"), true],
    ["a method by default", job("{uses: http}", "  defaults: {http: {get: http://x}}"), true],
    ["empty defaults", job("{uses: http}", "  defaults: {http: }"), false],
    ["defaults of another", job("{uses: http}", "  defaults: {shell: {cmd: a}}"), false],
    [
      "a bad default",
      job("{uses: http, with: {get: http://x}}", "  defaults: {http: {timeout: abc}}"),
      false,
    ],
    ["a default of nobody", job("{uses: hello}", "  defaults: {http: {timeout: abc}}"), true],
    ["an unknown parameter", job("{uses: shell, with: {cmd: a, comand: b}}"), false],
    ["a template", job("{uses: shell, with: {cmd: a, background: '{{ vars.x }}'}}"), true],
    ["one of the values", job("{uses: http, with: {get: http://x, version: '1.1'}}"), true],
    ["a value as a number", job("{uses: http, with: {get: http://x, version: 2}}"), true],
    ["another value", job("{uses: http, with: {get: http://x, version: 3}}"), false],
    ["no cmd", job("{uses: shell, with: {workdir: /}}"), false],
    ["an empty cmd", job("{uses: shell, with: {cmd: }}", "  defaults: {shell: {cmd: a}}"), false],
    ["a cmd by default", job("{uses: shell}", "  defaults: {shell: {cmd: a}}"), true],
    ["an assertion with words", job("{uses: hello, test: {that: status == 0, says: b}}"), true],
    ["some of them", job("{uses: hello, test: ['1 == 1', {that: 1 == 1}]}"), true],
    ["words alone", job("{uses: hello, test: [{says: b}]}"), false],
    ["a retry by time", job("{uses: hello, retry: {for: 2m}}"), true],
    ["a retry without limit", job("{uses: hello, retry: {interval: 1s}}"), false],
    ["an id in capitals", job("{uses: hello, id: A}"), false],
    ["an id of digits", job("{uses: hello, id: 5}"), true],
    ["keys that hold anchors", job("{uses: hello, x-a: 1}", "  x_b: 2\nx-c: 3"), true],
  ];
  const files = Object.fromEntries(table.map(([, text], index) => [`${index}.yml`, text]));
  await withFiles(files, async (directory) => {
    const judged = await judgeAll(Object.keys(files).map((name) => `${directory}/${name}`));
    const reported = validateAll(
      await printedSchema(),
      Object.fromEntries([...judged].map(([path, { document }]) => [path, document])),
    );
    for (const [index, [name, text, accepted]] of table.entries()) {
      await test.step(name, () => {
        const path = `${directory}/${index}.yml`;
        assertEquals(
          reported[path]!.length === 0,
          accepted,
          `${text}\n${reported[path]!.join("\n")}`,
        );
        const errors = judged.get(path)!.diagnostics.filter(({ severity }) => severity === "error");
        assertEquals(errors.length === 0, accepted, "the loader says otherwise");
      });
    }
  });
});

Deno.test("a plugin takes anything", async () => {
  const step = { uses: "my-plugin", with: { a: [1], b: { c: null } } };
  const documents = {
    plugin: { name: "n", jobs: [{ name: "j", steps: [step] }] },
    path: { name: "n", jobs: [{ name: "j", steps: [{ ...step, uses: "../x" }] }] },
  };
  const reported = validateAll(await printedSchema(), documents);
  assertEquals(reported.plugin, []);
  assertMatch(reported.path!.join("\n"), /uses must match pattern/);
});

Deno.test("every key and parameter is described", async () => {
  const undescribed: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (["allOf", "anyOf", "oneOf", "if"].includes(key)) continue;
      if (key === "properties") {
        for (const [name, property] of Object.entries(value as Record<string, unknown>)) {
          const described = property === false || /\/defaults$/.test(path) ||
            typeof property === "object" && property !== null && "description" in property;
          if (!described) undescribed.push(`${path}/${name}`);
          visit(property, `${path}/${name}`);
        }
      } else visit(value, `${path}/${key}`);
    }
  };
  visit(await printedSchema(), "");
  assertEquals(undescribed, []);
});

Deno.test("every pattern comes with what an editor says of a text that does not fit", async () => {
  const silent: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    // A property may have that name, too.
    const { pattern } = schema as Record<string, unknown>;
    if (typeof pattern === "string" && !("patternErrorMessage" in schema)) silent.push(path);
    for (const [key, value] of Object.entries(schema)) visit(value, `${path}/${key}`);
  };
  for (const option of [[], ["--job"], ["--suite"]]) visit(await printedSchema(...option), "");
  assertEquals(silent, []);
});

Deno.test("--job prints the schema of a job file", async () => {
  const documents = {
    job: { name: "j", steps: [{ uses: "hello" }] },
    workflow: { name: "n", jobs: [{ name: "j", steps: [{ uses: "hello" }] }] },
  };
  const reported = validateAll(await printedSchema("--job"), documents);
  assertEquals(reported.job, []);
  assert(reported.workflow!.length > 0);
});

Deno.test("schema takes no files", async () => {
  const { code, stdout, stderr } = await runMain(["schema", "a.yml"]);
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^runner: error: unexpected argument "a.yml"\n/);
});
