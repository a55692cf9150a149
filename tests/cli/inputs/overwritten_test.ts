import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

const WORKFLOW = "name: n\njobs: [{ name: j, steps: [{ uses: hello, test: 'true' }] }]\n";
const FILES = {
  "w.yml": `name: n
vars: { a: 1 }
jobs:
  - name: j
    id: j
    steps:
      - { uses: hello, iteration: { file: rows.csv }, test: "true" }
      - { uses: embedded, with: { path: job.yml } }
`,
  "rows.csv": "a\n1\n",
  "job.yml": "name: J\nsteps: [{ uses: hello, test: 'true' }]\n",
  "v.yml": "a: 2\n",
  "vars.env": "A=1\n",
  "config.yml": "defaults: { http: { timeout: 1s } }\n",
  "api.yml":
    "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {/x: {get: {responses: {'200': {description: ok}}}}}\n",
  "flows/m.yml": WORKFLOW,
  "setup.yml": WORKFLOW,
  "s.yml": "workflows: [flows]\nsetup: setup.yml\nenv_file: vars.env\n",
};

/** What is written, and the command that reads it. */
const REFUSED: readonly (readonly [out: string, args: string])[] = [
  ["w.yml", "prepare w.yml --out OUT"],
  ["rows.csv", "prepare w.yml --out OUT"],
  ["s.yml", "prepare s.yml --out OUT"],
  ["flows/m.yml", "prepare s.yml --out OUT"],
  ["v.yml", "prepare w.yml --var-file v.yml --out OUT"],
  ["vars.env", "prepare w.yml --env-file vars.env --out OUT"],
  ["w.yml", "w.yml --run run.json --only j --outputs OUT"],
  ["run.json", "w.yml --run run.json --only j --outputs OUT"],
  ["run.json", "w.yml --run run.json --only j --report REPORT"],
  ["s.yml", "s.yml --run suite.json --setup --outputs OUT"],
  ["flows/m.yml", "s.yml --run suite.json --setup --outputs OUT"],
  ["s.yml", "s.yml --run suite.json --setup --report REPORT"],
  ["w.yml", "export gitlab w.yml --force -o OUT"],
  ["api.yml", "gen api.yml --force -o OUT"],
  ["flows/m.yml", "flows --report REPORT"],
  ["setup.yml", "s.yml --report REPORT"],
  ["vars.env", "s.yml --report REPORT"],
  ["job.yml", "w.yml --report REPORT"],
  ["rows.csv", "w.yml --report REPORT"],
  ["v.yml", "w.yml --var-file v.yml --report REPORT"],
  ["api.yml", "w.yml --openapi api.yml --report REPORT"],
  ["config.yml", "w.yml --report REPORT"],
];

Deno.test("no command writes over a file that it reads, by no path", async () => {
  await withFiles(FILES, async (cwd) => {
    const run = (args: string) =>
      runMain(args.split(" "), { cwd, env: { RUNNER_CONFIG: `${cwd}/config.yml` } });
    assertEquals((await run("prepare w.yml --out run.json")).code, 0);
    assertEquals((await run("prepare s.yml --out suite.json")).code, 0);
    const content = (name: string) => Deno.readTextFileSync(`${cwd}/${name}`);
    Deno.symlinkSync(".", `${cwd}/here`);
    for (const [out, args] of REFUSED) {
      const before = content(out);
      for (const path of [out, `here/${out}`, `${cwd}/${out}`]) {
        for (const format of args.includes("REPORT") ? ["json", "ndjson"] : [""]) {
          const line = args.replace("OUT", path).replace("REPORT", `ndjson=new,${format}=${path}`);
          const { code, stderr } = await run(line);
          assertEquals([code, content(out)], [1, before], line);
          assertStringIncludes(stderr, `'${path}': th`, line);
        }
      }
    }
    assertEquals([...Deno.readDirSync(cwd)].some(({ name }) => name === "new"), false);
  });
});

Deno.test("a report is not written over a file whose name is known only in the run", async () => {
  const text = FILES["w.yml"].replace("rows.csv", '"{{vars.rows}}"').replace(
    "a: 1",
    "rows: rows.csv",
  );
  await withFiles({ ...FILES, "w.yml": text }, async (cwd) => {
    const args = ["--report", "json=rows.csv,tap=new", "w.yml"];
    const { code, stderr } = await runMain(args, { cwd });
    assertEquals([code, Deno.readTextFileSync(`${cwd}/rows.csv`)], [1, FILES["rows.csv"]]);
    assertStringIncludes(stderr, "cannot write the report 'rows.csv': the run has read this file");
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/new`), "TAP version 14");
  });
});

Deno.test("a process that runs again replaces the outputs that it has left among its --inputs", async () => {
  await withFiles(FILES, async (cwd) => {
    const run = (args: string) => runMain(args.split(" "), { cwd });
    await run("prepare w.yml --out R/run.json");
    const again = "w.yml --run R/run.json --only j --inputs R --outputs R/j/outputs.json";
    for (let time = 0; time < 2; time++) assertEquals((await run(again)).code, 0);
  });
});

Deno.test("save refuses a file that the run has read, and replaces one that it has saved", async () => {
  await using server = withServer(() => new Response("a\n2\n"));
  const save = (name: string) =>
    `      - { uses: http, with: { get: "${server.url}", save: ${name} }, test: res.code == 200 }\n`;
  const read = (name: string) =>
    `      - { uses: hello, iteration: { file: ${name} }, test: "true" }\n`;
  const steps = [
    ...[read("rows.csv"), save("rows.csv"), save("w.yml")],
    ...[save("new.csv"), read("new.csv"), save("new.csv"), read("new.csv")],
  ];
  const text = `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`;
  await withFiles({ "w.yml": text, "rows.csv": "a\n1\n" }, async (cwd) => {
    for (let time = 0; time < 2; time++) {
      const { code, stdout } = await runMain(["w.yml"], { cwd });
      assertEquals([code, stdout.match(/^ +\d\. ✗/gm)?.length], [1, 2], stdout);
      assertStringIncludes(stdout, `to "${cwd}/rows.csv": the run has read this file`);
      assertEquals(Deno.readTextFileSync(`${cwd}/rows.csv`), "a\n1\n");
      assertEquals(Deno.readTextFileSync(`${cwd}/new.csv`), "a\n2\n");
    }
  });
});
