import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CHECKOUT } from "../../support/documents.ts";
import { validateAll } from "../../support/programs/ajv.ts";
import { withRun } from "../../support/run/prepared_run.ts";
import { runHere } from "../../support/run/run_main.ts";
import { RUNNER_KEY } from "../../support/run/run_pieces.ts";
import { withFiles } from "../../support/temp_dir.ts";

const flow = (name: string) =>
  `name: ${name}
jobs:
  - { name: First, id: first, steps: [{ name: a, uses: hello, test: true }] }
  - name: Second
    id: second
    needs: [first]
    repeat: { count: 2, async: true }
    steps: [{ name: b, uses: hello, test: true }]
`;

const FILES = { "flow.yml": flow("Flow"), "flows/a.yml": flow("A"), "flows/b.yml": flow("B") };

type Run = (...args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;

/** Runs something in processes whose events are R/1.ndjson and R/2.ndjson. */
type Layout = (run: Run, id: string) => Promise<void>;

const LAYOUTS: Readonly<Record<string, Layout>> = {
  async "pieces of a workflow"(run, id) {
    await run("prepare", "flow.yml", "--out", "R/run.json", "--id", id);
    const piece = ["flow.yml", "--run", "R/run.json", "--inputs", "R", "--report"];
    await run(...piece, "ndjson=R/1.ndjson", "--only", "first", "--outputs", "R/outputs.json");
    await run(...piece, "ndjson=R/2.ndjson", "--only", "second");
  },
  async "pieces of a suite"(run, id) {
    await run("prepare", "flows", "--out", "R/run.json", "--id", id);
    for (const [at, name] of ["a", "b"].entries()) {
      await run(
        ...["flows", "--run", "R/run.json", "--only", `flows/${name}.yml`],
        ...["--report", `ndjson=R/${at + 1}.ndjson`],
      );
    }
  },
  async "shards"(run) {
    for (const at of [1, 2]) {
      await run("flows", "--shard", `${at}/2`, "--report", `ndjson=R/${at}.ndjson`);
    }
  },
};

/** A text with one of its lines damaged, for each line and kind of damage. */
function* damaged(text: string): Iterable<readonly [what: string, text: string]> {
  const lines = text.trimEnd().split("\n");
  for (const [at, line] of lines.entries()) {
    const next = lines[at + 1];
    const half = line.slice(0, line.length / 2);
    const changes: Readonly<Record<string, readonly string[]>> = {
      deleted: [],
      blank: [""],
      repeated: [line, line],
      cut: [half],
      garbage: ["?"],
      ...next === undefined ? {} : { swapped: [next, line] },
    };
    for (const [what, instead] of Object.entries(changes)) {
      const rest = lines.slice(at + (what === "swapped" ? 2 : 1));
      yield [what, [...lines.slice(0, at), ...instead, ...rest, ""].join("\n")];
    }
    yield ["last", [...lines.slice(0, at), half].join("\n")];
    if (at > 0) yield ["gone from there", [...lines.slice(0, at), ""].join("\n")];
  }
  yield ["empty", ""];
}

for (const [title, layout] of Object.entries(LAYOUTS)) {
  Deno.test(`${title} are not green with any line of their events damaged`, async () => {
    await withFiles(FILES, async (cwd) => {
      const run: Run = (...args) => runHere(args, { cwd });
      await layout(run, "r1");
      const runFile = title === "shards" ? [] : ["R/run.json"];
      const merge = () => run("report", "merge", ...runFile, "R");
      const good = await merge();
      assertEquals([good.code, good.stderr], [0, ""], good.stdout);
      for (const name of ["R/1.ndjson", "R/2.ndjson"]) {
        const path = `${cwd}/${name}`;
        const text = Deno.readTextFileSync(path);
        for (const [what, bad] of damaged(text)) {
          Deno.writeTextFileSync(path, bad);
          const { code, stdout, stderr } = await merge();
          assertEquals(code, 1, `${what} ${bad}\n${stdout}`);
          assertMatch(
            stdout + stderr,
            /not an event of a run|found event \d+ in place|ends in the middle|has no events of/,
          );
        }
        Deno.removeSync(path);
        assertEquals((await merge()).code, 1, `${name} is missing`);
        Deno.writeTextFileSync(path, text);
      }
      Deno.copyFileSync(`${cwd}/R/1.ndjson`, `${cwd}/R/3.ndjson`);
      const twice = await merge();
      assertEquals([twice.code, twice.stdout], [0, good.stdout]);
      assertMatch(twice.stderr, /more than once|was left out/);
      const other = Deno.readTextFileSync(`${cwd}/R/2.ndjson`);
      Deno.writeTextFileSync(`${cwd}/flows/b.yml`, `${flow("B")}# edited\n`);
      await layout(run, "r2");
      Deno.writeTextFileSync(`${cwd}/R/2.ndjson`, other);
      const mixed = await merge();
      assertEquals(mixed.code, 1, mixed.stdout);
      assertMatch(mixed.stderr, /is of another (run|suite)/);
    });
  });
}

Deno.test("a piece that only its last event says has failed is not green without it", async () => {
  const flow = `name: F
jobs:
  - name: J
    id: j
    steps:
      - name: warns that not all rows are kept
        uses: db
        with: { dsn: ":memory:", query: select 1 union select 2, max_rows: 1 }
        test: true
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const run: Run = (...args) => runHere(args, { cwd });
    await run("prepare", "flow.yml", "--out", "R/run.json");
    const piece = ["flow.yml", "--run", "R/run.json", "--only", "j", "--report"];
    assertEquals((await run(...piece, "ndjson=R/e.ndjson", "--strict")).code, 1);
    const path = `${cwd}/R/e.ndjson`;
    const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
    assertStringIncludes(lines.pop()!, '"interrupted":"--strict: 1 warning"');
    Deno.writeTextFileSync(path, `${lines.join("\n")}\n`);
    const { code, stdout } = await run(
      "report",
      "merge",
      "R/run.json",
      "R",
      "--report",
      "junit=R/junit.xml",
    );
    assertEquals(code, 1);
    assertStringIncludes(stdout, "'R/e.ndjson' ends in the middle: its process was killed");
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/R/junit.xml`), "ends in the middle");
  });
});

Deno.test("of a run that was killed, reports have what its events say, and are not green", async () => {
  const flow = `name: F
jobs:
  - name: Load
    load: { users: 2, count: 40, expect: stats.failed < 9 }
    steps: [{ name: a, uses: hello, test: round.index != 3 }]
  - { name: Later, needs: [job_0], steps: [{ uses: hello, test: "true" }] }
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const run: Run = (...args) => runHere(args, { cwd });
    const good = await run("flow.yml", "--report", "ndjson=e.ndjson");
    const merge = () => run("report", "merge", "e.ndjson", "--report-dir", "R");
    const whole = await merge();
    const withoutNext = (text: string) => text.replace(/^(Reports|Time) .*\n/gm, "");
    assertEquals([whole.code, withoutNext(whole.stdout)], [0, withoutNext(good.stdout)]);
    const lines = Deno.readTextFileSync(`${cwd}/e.ndjson`).split("\n");
    const at = lines.findLastIndex((line) => line.includes('"type":"load_second"'));
    Deno.writeTextFileSync(`${cwd}/e.ndjson`, lines.slice(0, at + 1).join("\n") + "\n{");
    const { code, stdout } = await merge();
    assertEquals(code, 1);
    assertMatch(
      stdout,
      /40 rounds in .* 1 failed \(2.5 %\)\n +ended early: its process was lost\n/,
    );
    assertStringIncludes(
      stdout,
      "Reason     'e.ndjson' ends in the middle: its process was killed or its machine was lost",
    );
    assertMatch(stdout, /^Jobs +1 failed · 1 skipped \(2\)$/m);
    const read = (name: string) => Deno.readTextFileSync(`${cwd}/R/${name}`);
    assertMatch(read("junit.xml"), /<testsuites name="F" .* errors="1" skipped="1"/);
    assertStringIncludes(read("report.html"), "<title>✗ F");
    assertEquals(JSON.parse(read("report.json")).jobs[0].load.stats.count, 40);
  });
});

const FLOW = `name: Flow
description: everything that the files can hold
vars: { api_token: "abcdefghij", limit: "{{1/0}}" }
jobs:
  - name: First
    id: first
    tags: [smoke]
    on_failure: stop
    repeat: { count: 4, async: true, interval: 1ms }
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
    const documents: readonly (readonly [schema: string, document: unknown])[] = [
      ["dag.schema.json", dag],
      ["run-file.schema.json", read("run.json")],
      ["run-file.schema.json", read("suite.json")],
      ["outputs-file.schema.json", read("outputs.json")],
    ];
    for (const [file, document] of documents) {
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
    });
  });
});

const INPUTS_FLOW = `name: Flow
jobs:
  - { name: One, id: one, steps: [{ id: a, uses: hello, outputs: { file: "'first'" } }] }
  - { name: Two, id: two, steps: [{ id: b, uses: hello, outputs: { file: "'second'" } }] }
  - { name: Three, id: three, steps: [{ id: c, uses: hello, outputs: { extra: "3" } }] }
  - { name: Middle, id: middle, needs: [two, one], steps: [{ uses: hello }] }
  - name: Last
    id: last
    needs: [middle]
    steps:
      - uses: echo
        with: { message: "{{outputs.file}} {{outputs.b.file}} {{outputs.extra ?? 'unseen'}}" }
        echo: "saw {{res.message}}"
`;

Deno.test("a job sees the outputs of all before it, whichever ended first, and no others", async () => {
  for (const order of [["one", "two", "three"], ["three", "two", "one"]]) {
    await withFiles({ "flow.yml": INPUTS_FLOW }, async (cwd) => {
      const run = async (...args: string[]) => {
        const { code, stdout, stderr } = await runHere(args, { cwd });
        assertEquals([code, stderr], [0, ""]);
        return stdout;
      };
      await run("prepare", "flow.yml", "--out", "R/run.json");
      let said = "";
      for (const id of [...order, "middle", "last"]) {
        said = await run(
          ...["flow.yml", "--run", "R/run.json", "--only", id, "--inputs", "R"],
          ...["--outputs", `R/${id}/outputs.json`],
        );
      }
      assertStringIncludes(said, "saw first second unseen");
      // Files do not grow along the graph.
      const { outputs } = JSON.parse(Deno.readTextFileSync(`${cwd}/R/middle/outputs.json`));
      assertEquals(outputs, {});
    });
  }
});

Deno.test("secret outputs need the key that all pieces have", async () => {
  await withRun(async ({ cwd, piece }) => {
    assertStringIncludes(
      await piece("first", "--only", "first"),
      "secret outputs cannot be written to a file as plain text: a.api_token\n  set RUNNER_KEY",
    );
    assertEquals([...Deno.readDirSync(`${cwd}/R/first`)].map(({ name }) => name), [
      "events.ndjson",
    ]);
  }, {} as { RUNNER_KEY: string });
  await withRun(async ({ cwd, piece }) => {
    await piece("first", "--only", "first", "--only", "load");
    const last = ["flow.yml", "--run", "R/run.json", "--only", "last", "--inputs", "R"];
    const said = async (env: Record<string, string>) => (await runHere(last, { cwd, env })).stderr;
    assertEquals(
      await said({}),
      "runner: error: 'R/first/outputs.json' has sealed values, and RUNNER_KEY is not set\n" +
        "  set it to the value that it had where the file was made\n",
    );
    assertStringIncludes(
      await said({ RUNNER_KEY: RUNNER_KEY.replace("0", "9") }),
      "the sealed values of 'R/first/outputs.json' cannot be opened",
    );
    assertStringIncludes(await said({ RUNNER_KEY: "short" }), "RUNNER_KEY is too short");
    // The values of one piece do not open as those of another.
    const text = Deno.readTextFileSync(`${cwd}/R/first/outputs.json`);
    Deno.writeTextFileSync(
      `${cwd}/R/first/outputs.json`,
      text.replace('"run": "r1",', '"run": "r1",\n "part": { "index": 1, "of": 1 },').replace(
        '"load":',
        '"other":',
      ),
    );
    assertStringIncludes(await said({ RUNNER_KEY }), "cannot be opened");
  });
});

Deno.test("values that only an expression marks as secret stay hidden in every piece", async () => {
  const flow = `name: Flow
vars: { plain: "{{secret('hunter2-value')}}" }
jobs:
  - name: "First {{vars.plain}}"
    id: first
    steps:
      - { id: a, name: a, uses: hello, outputs: { mark: "secret('other-value')", again: vars.plain } }
  - name: Second
    id: second
    needs: [first]
    steps:
      - { name: b, uses: echo, with: { message: "{{outputs.a.mark}} {{vars.plain}}" }, test: "false" }
`;
  await withRun(async ({ cwd, run, piece }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json");
    await piece("first", "--only", "first");
    await piece("last", "--only", "second");
    const events = Deno.readTextFileSync(`${cwd}/R/last/events.ndjson`);
    assertStringIncludes(events, "*** ***");
    for (const name of ["run.json", "first/outputs.json", "last/events.ndjson"]) {
      const text = Deno.readTextFileSync(`${cwd}/R/${name}`);
      assertEquals(/hunter2-value|other-value/.exec(text.replace(flow, "")), null, name);
    }
  });
});

Deno.test("an expect that is false when parts are merged shows no secret", async () => {
  const flow = `name: F
vars: { api_token: tok-abcdefgh, plain: "{{secret('hunter2-value')}}" }
jobs:
  - name: Load
    id: load
    load: { rate: 1000/s, count: 2, expect: [vars.api_token == nil, vars.plain == nil] }
    steps: [{ uses: hello }]
`;
  await withRun(async ({ cwd, run, piece, merge }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json", "--id", "r1");
    await piece("load1", "--only", "load", "--rounds", "1/2");
    await piece("load2", "--only", "load", "--rounds", "2/2");
    const merged = await merge();
    assertStringIncludes(merged, "expect is false: vars.api_token is ***");
    assertStringIncludes(merged, "expect is false: vars.plain is ***");
  });
});

Deno.test("an expect that is false when parts are merged may be an allowed failure", async () => {
  const flow = `name: F
vars: { env: staging }
jobs:
  - name: Load
    id: load
    allow_failure: vars.env == "staging"
    load: { rate: 1000/s, count: 2, expect: stats.passed == 2 }
    steps: [{ uses: assert, test: round.index == 0 }]
`;
  await withRun(async ({ cwd, run, piece, merge }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json", "--id", "r1");
    await piece("load1", "--only", "load", "--rounds", "1/2");
    await piece("load2", "--only", "load", "--rounds", "2/2");
    const merged = await merge();
    assertStringIncludes(merged, "! Load ");
    assertStringIncludes(merged, "✗ stats.passed == 2  1\n");
  });
});
