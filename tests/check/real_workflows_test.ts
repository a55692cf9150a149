import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { FINDING_FORMATS } from "../../src/check/formats.ts";
import { CHECKS } from "../../src/check/checks.ts";
import { COMMANDS } from "../../src/cli/registry.ts";
import { runMain } from "../support/run/run_main.ts";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly severity: string;
  readonly code: string;
}

async function findIn(...paths: readonly string[]): Promise<readonly Finding[]> {
  const { stdout, stderr } = await runMain(["check", "--format=json", ...paths], { cwd: ROOT });
  assertEquals(stderr, "");
  return JSON.parse(stdout);
}

const CODES = CHECKS.flatMap(({ codes }) => codes.map(({ code }) => code));

Deno.test("the examples have no mistakes, but for results that they leave untested on purpose", async () => {
  const merged = "examples/merge/shared.yml,examples/merge/checks.yml";
  const found = await findIn("examples/*.yml", merged);
  assertEquals(found.map(({ file, severity, code }) => `${file} ${severity} ${code}`), [
    "examples/failing.yml hint untested-result",
    "examples/shell.yml hint untested-result",
  ]);
});

Deno.test("no workflow that runs well has an error", async () => {
  const directory = `${ROOT}tests/conformance`;
  const good = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) =>
    hasWorkflow(`${directory}/${name}`) && !hasArguments(`${directory}/${name}`) &&
    Deno.readTextFileSync(`${directory}/${name}/expected.txt`).endsWith("exit 0\n")
  );
  assertEquals(good.length >= 20, true);
  const found = await findIn(...good.map((name) => `tests/conformance/${name}/workflow.yml`));
  assertEquals(found.filter(({ severity }) => severity === "error"), []);
  // These have each what they are about.
  const warned = found.filter(({ severity, code }) =>
    severity === "warning" && CODES.includes(code)
  );
  assertEquals(
    warned.map(({ file, line, code }) => `${file.split("/").at(-2)}:${line} ${code}`).sort(),
    [
      "a_job_sees_vars_and_its_skipif_outputs_too:4 undefined-var",
      "durations_are_texts_or_numbers_of_seconds:12 pointless-retry",
      "durations_are_texts_or_numbers_of_seconds:43 pointless-retry",
      "repeat_runs_a_job_several_times:24 no-rounds",
    ],
  );
});

function hasWorkflow(directory: string): boolean {
  return [...Deno.readDirSync(directory)].some(({ name }) => name === "workflow.yml");
}

function hasArguments(directory: string): boolean {
  return [...Deno.readDirSync(directory)].some(({ name }) => name === "args" || name === "env");
}

Deno.test("every check has its own codes, each with a sentence", () => {
  assertEquals(new Set(CODES).size, CODES.length);
  for (const { code, summary } of CHECKS.flatMap(({ codes }) => codes)) {
    assertEquals(/^[a-z]+(?:-[a-z]+)+$/.test(code) && /^[A-Z].*\.$/.test(summary), true, code);
  }
});

Deno.test("the command line knows the formats that there are", () => {
  const { options = [] } = COMMANDS.find(({ name }) => name === "check") ?? {};
  const { choices } = options.find(({ name }) => name === "format") ?? {};
  assertEquals(choices, FINDING_FORMATS.map(({ name }) => name));
});
