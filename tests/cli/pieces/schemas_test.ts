import { assertEquals } from "@std/assert";
import { validateAll } from "../../support/programs/ajv.ts";
import { CHECKOUT } from "../../support/documents.ts";
import { runHere } from "../../support/run/run_main.ts";
import { RUNNER_KEY } from "../../support/run/run_pieces.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FLOW = `name: Flow
description: everything that the files can hold
vars: { api_token: "abcdefghij", limit: "{{1/0}}" }
jobs:
  - name: First
    id: first
    tags: [smoke]
    on_failure: stop
    repeat: { count: 4, async: true, interval: 1ms, expect: stats.failed == 0 }
    steps:
      - { id: a, name: a, uses: hello, test: true, outputs: { n: "1", token: "'tok-abcdefgh'" } }
    finally:
      - { name: end, uses: hello }
  - name: Second
    needs: [first]
    when: always
    skipif: vars.limit == 0
    steps:
      - { name: in, uses: embedded, with: { path: job.yml } }
finally:
  - { name: last, uses: hello }
`;

const JOB = "name: inner\\nsteps:\\n  - { name: in, uses: hello }\\n".replaceAll("\\n", "\n");

const SUITE = "name: Suite\nworkflows: [{ path: flows, tags: [nightly] }]\nsetup: flow.yml\n";
const FLOWS = { "flows/a.yml": FLOW };

Deno.test("run files, outputs files and dag --json are as their schemas say", async () => {
  await withFiles({
    "flow.yml": FLOW,
    "job.yml": JOB,
    "suite.yml": SUITE,
    "flows/job.yml": JOB,
    ...FLOWS,
  }, async (cwd) => {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(args, { cwd, env: { RUNNER_KEY } });
      assertEquals([code, stderr], [0, ""]);
      return stdout;
    };
    await run("prepare", "flow.yml", "--out", "run.json", "--start-in", "0s");
    const piece = ["flow.yml", "--run", "run.json", "--outputs", "outputs.json"];
    await run(...piece, "--only", "first", "--rounds", "1/2");
    await run("prepare", "suite.yml", "--out", "suite.json");
    const dag = JSON.parse(await run("dag", "--json", "flow.yml"));
    const read = (file: string) => JSON.parse(Deno.readTextFileSync(`${cwd}/${file}`));
    const documents: Readonly<Record<string, unknown>> = {
      "dag.schema.json": dag,
      "run-file.schema.json": read("run.json"),
      "outputs-file.schema.json": read("outputs.json"),
      "suite-run-file.schema.json": read("suite.json"),
    };
    for (const [file, document] of Object.entries(documents)) {
      const schema = JSON.parse(await Deno.readTextFile(`${CHECKOUT}docs/${file}`));
      assertEquals(validateAll(schema, { document }), { document: [] }, file);
      const [wrong] = Object.values(validateAll(schema, { wrong: { jobs: 1 } }));
      assertEquals(wrong!.length > 0, true);
    }
    assertEquals(dag.jobs[1].ancestors, ["first"]);
    assertEquals(dag.jobs[0].repeat, {
      count: 4,
      async: true,
      interval: 0.001,
      expect: ["stats.failed == 0"],
    });
  });
});
