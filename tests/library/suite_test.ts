import { assertEquals } from "@std/assert";
import { withProgram } from "../support/run/run_program.ts";

const flow = (name: string, test: string) =>
  `name: ${name}\njobs: [{ name: Job, tags: [${name}], steps: [{ uses: hello, test: ${test} }] }]\n`;
const FILES = {
  "f/a.yml": flow("a", "1 == 1"),
  "f/b.yml": flow("b", "1 == 2"),
  "f/c.yml": "name: [",
};

Deno.test("loadSuite() and runSuite() run the workflows of a directory, also those that fail", () =>
  withProgram({
    files: FILES,
    program: `
      import { loadSuite, makeReport, runSuite } from "@runner/runner";
      const suite = await loadSuite("f");
      console.log(suite.workflows.map(({ name, problem }) => name ?? problem?.name).join(" "));
      const junit = await makeReport("junit");
      let xml = "";
      const running = runSuite(suite, { workers: 1 });
      for await (const event of running) {
        xml += junit(event);
        if (event.type === "suite_finished") console.log(JSON.stringify(event.workflows));
      }
      console.log(await running.passed, xml.match(/<testsuite /g)?.length);
      const some = runSuite(await loadSuite(["f/a.yml", "f/b.yml"], { tags: "a" }));
      console.log(await some.passed);
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout.split("\n")], [0, "", [
      "a b LoadError",
      '{"passed":1,"failed":2,"skipped":0}',
      "false 3",
      "true",
      "",
    ]]);
  }));

Deno.test("loadSuite() reads the env files of a suite file", () =>
  withProgram({
    files: {
      "a.yml": flow("a", "vars.x == '1 of file and 2 given'").replace("jobs:", "vars: {}\njobs:"),
      "suite.yml":
        'workflows: [a.yml]\nenv_file: .vars\nvars: { x: "{{ONE}} of file and {{TWO}} given" }\n',
      ".vars": "ONE=1\nTWO=1\n",
    },
    program: `
      import { loadSuite, runSuite } from "@runner/runner";
      const suite = await loadSuite("suite.yml", { environment: { TWO: "2" } });
      console.log(await runSuite(suite).passed);
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout], [0, "", "true\n"]);
  }));

Deno.test("runSuite() holds snapshots as run() does", () =>
  withProgram({
    files: {
      "a.yml": flow("a", "1 == 1").replace("test: 1 == 1", "id: s, snapshot: { of: vars.x }")
        .replace("jobs:", "vars: { x: 1 }\njobs:"),
    },
    env: { CI: "" },
    program: `
      import { loadSuite, runSuite } from "@runner/runner";
      const suite = await loadSuite("a.yml");
      console.log(await runSuite(suite, { snapshots: "check" }).passed);
      console.log(await runSuite(suite, { snapshots: "write" }).passed);
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout], [0, "", "false\ntrue\n"]);
  }));

Deno.test("readEvents() and mergeEvents() make one run of the shards", () =>
  withProgram({
    files: FILES,
    program: `
      import { loadSuite, makeReport, mergeEvents, readEvents, runSuite } from "@runner/runner";
      const shard = async (index: number) => {
        const report = await makeReport("ndjson");
        let text = "";
        const suite = await loadSuite("f", { shard: { index, of: 2 } });
        for await (const event of runSuite(suite)) text += report(event);
        return await readEvents(text);
      };
      const events = await mergeEvents([await shard(2), await shard(1)]);
      const last = events.at(-1);
      if (last?.type === "suite_finished") console.log(JSON.stringify(last.workflows));
      await mergeEvents([await shard(1)]).catch((error) => console.log(error.message));
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout], [
      0,
      "",
      '{"passed":1,"failed":2,"skipped":0}\nshard 2 of 2 is missing\n',
    ]);
  }));
