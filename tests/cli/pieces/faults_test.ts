import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startCli } from "../../support/run/run_cli.ts";
import { RUNNER_KEY } from "../../support/run/run_pieces.ts";
import { runHere } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { FLOW, withRun } from "../../support/run/prepared_run.ts";
import { assertPassed } from "../../support/assert_passed.ts";

Deno.test("a run in pieces, with the rounds of a job in two", async () => {
  await withRun(async ({ cwd, piece, merge }) => {
    assertEquals(await piece("first", "--only", "first"), "0\n");
    assertEquals(await piece("load1", "--only", "load", "--rounds", "1/2"), "0\n");
    assertEquals(await piece("load2", "--only", "load", "--rounds", "2/2"), "0\n");
    assertEquals(await piece("last", "--only", "last"), "0\n");
    assertPassed(await merge());
    const text = Deno.readTextFileSync(`${cwd}/R/first/outputs.json`);
    assertEquals([text.includes("tok-"), JSON.parse(text).outputs.a], [false, {
      n: 1,
      api_token: null,
    }]);
  });
});

Deno.test("a process replaces the outputs that it has left itself, and those of no other", async () => {
  await withRun(async ({ cwd, piece }) => {
    const error = (at: string) =>
      `1\nrunner: error: cannot write 'R/${at}/outputs.json': ` +
      "another process of this run has left it\n  write to another file\n";
    for (const _ of [1, 2]) assertEquals(await piece("first", "--only", "first"), "0\n");
    const before = Deno.readTextFileSync(`${cwd}/R/first/outputs.json`);
    const load = ["--only", "load", "--rounds"];
    assertEquals(await piece("first", ...load, "1/2"), error("first"));
    assertEquals(Deno.readTextFileSync(`${cwd}/R/first/outputs.json`), before);
    for (const _ of [1, 2]) assertEquals(await piece("load1", ...load, "1/2"), "0\n");
    assertEquals(await piece("load1", ...load, "2/2"), error("load1"));
  });
});

Deno.test("parts of two ways to split a job are not put together", async () => {
  await withRun(async ({ piece, merge }) => {
    await piece("first", "--only", "first");
    await piece("load1", "--only", "load", "--rounds", "1/2");
    await piece("load2", "--only", "load", "--rounds", "2/3");
    const last = await piece("last", "--only", "last");
    assertStringIncludes(last, 'only 1 of 3 parts of the job "load" are among the --inputs');
    const merged = await merge();
    assertStringIncludes(merged, "part 1 of 3 did not come back");
    assertStringIncludes(merged, "'R/load2/events.ndjson' counts, 'R/load1/events.ndjson' does");
  });
});

Deno.test("a part counts its own rounds", async () => {
  const flow = "name: F\njobs: [{ name: Load, id: load, " +
    "repeat: { count: 3, async: true }, " +
    "steps: [{ uses: hello, test: repeat_index < 1 }] }]\n";
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(args, { cwd });
      return `${code} ${stdout}${stderr}`;
    };
    await run("prepare", "flow.yml", "--out", "run.json");
    const piece = [
      "flow.yml",
      "--run",
      "run.json",
      "--only",
      "load",
      "--report",
      "ndjson=e.ndjson",
    ];
    assertMatch(
      await run(...piece, "--rounds", "1/2"),
      /\(2 rounds, 1 failed\)[^]*1 passed · 1 failed \(2\)/,
    );
    const whole = await run(...piece, "--rounds", "1/1");
    assertMatch(whole, /^1 [^]*\(3 rounds, 2 failed\)/);
    assertMatch(
      await run("report", "merge", "run.json", "e.ndjson"),
      /^1 [^]*\(3 rounds, 2 failed\)/,
    );
  });
});

Deno.test("what fails in each part of a job is reported once", async () => {
  const flow = "name: F\nvars: { off: maybe }\njobs: [{ name: Load, id: load, " +
    "skipif: vars.off, repeat: { count: 3, async: true }, steps: [{ uses: hello }] }]\n";
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const run = (...args: string[]) => runHere(args, { cwd });
    await run("prepare", "flow.yml", "--out", "run.json");
    const piece = ["flow.yml", "--run", "run.json", "--only", "load"];
    for (const at of [1, 2]) {
      await run(...piece, "--rounds", `${at}/2`, "--report", `ndjson=${at}.ndjson`);
    }
    const { stdout } = await run("report", "merge", "run.json", "1.ndjson", "2.ndjson", "-q");
    assertEquals(stdout.match(/skipif must be true or false/g)?.length, 1, stdout);
  });
});

Deno.test("several jobs run in one piece", async () => {
  await withRun(async ({ piece, merge }) => {
    assertEquals(await piece("first", "--only", "first", "--only", "load"), "0\n");
    assertEquals(await piece("last", "--only", "last"), "0\n");
    assertPassed(await merge());
  });
});

Deno.test("the newest of two pieces of a job counts", async () => {
  await withRun(async ({ piece, merge }) => {
    await piece("first", "--only", "first", "--only", "load");
    await piece("again", "--only", "first");
    assertStringIncludes(
      await piece("last", "--only", "last"),
      'the job "first" was run more than once: the newest outputs count',
    );
    const merged = await merge();
    assertStringIncludes(
      merged,
      "'R/again/events.ndjson' counts, 'R/first/events.ndjson' does not",
    );
    assertPassed(merged);
  });
});

Deno.test("lost and torn pieces fail their jobs", async () => {
  await withRun(async ({ cwd, run, piece, merge }) => {
    assertMatch(await merge(), /^1\n[^]*no piece of this job came back[^]*1 failed · 2 skipped/);
    assertStringIncludes(await run("report", "merge", "R"), "no event files in 'R'");
    await piece("first", "--only", "first");
    assertStringIncludes(await run("report", "merge", "R"), "and the run file is missing");
    await piece("load1", "--only", "load", "--rounds", "1/2");
    const lost = await merge();
    assertEquals(lost.startsWith("1\n"), true);
    assertStringIncludes(lost, "part 2 of 2 did not come back");
    assertStringIncludes(lost, 'needs "load", which failed');
    const events = Deno.readTextFileSync(`${cwd}/R/first/events.ndjson`);
    Deno.writeTextFileSync(`${cwd}/R/first/events.ndjson`, events.slice(0, events.length / 2));
    assertStringIncludes(
      await merge(),
      "'R/first/events.ndjson' ends in the middle: its process was killed or its machine was lost",
    );
    Deno.removeSync(`${cwd}/R/first/events.ndjson`);
    assertStringIncludes(
      await merge(),
      "no piece of this job came back: its machine was lost, or it never started",
    );
    Deno.writeTextFileSync(`${cwd}/R/first/events.ndjson`, `{"no": 1}\n${events}`);
    assertStringIncludes(await merge(), "R/first/events.ndjson:1: not an event of a run");
  });
});

Deno.test("a job with a condition is lost only if it had to start", async () => {
  const job = (id: string, when: string) =>
    `  - { name: ${id}, id: ${id}, needs: [first], when: ${when}, steps: [{ uses: hello }] }\n`;
  await withRun(async ({ cwd, run, piece, merge }) => {
    const flow = FLOW.split("  - name: Load")[0] + job("alarm", "failure") + job("tidy", "always");
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json");
    await piece("first", "--only", "first");
    assertMatch(
      await merge(),
      /^1\n[^]*- alarm \(skipped: [^]*● tidy\n {4}no piece of this job/,
    );
    await piece("last", "--only", "tidy");
    assertMatch(await merge(), /^0\n[^]*\nJobs {7}\d passed · 1 skipped /);
  });
});

Deno.test("a job whose need failed elsewhere is skipped, and its piece fails", async () => {
  await withRun(async ({ cwd, run, piece }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, FLOW.replace('"world"', '"nobody"'));
    await run("prepare", "flow.yml", "--out", "R/run.json");
    assertEquals((await piece("first", "--only", "first")).startsWith("1\n"), true);
    assertEquals(await piece("load1", "--only", "load"), "1\n");
    const { jobs } = JSON.parse(Deno.readTextFileSync(`${cwd}/R/load1/outputs.json`));
    assertEquals(jobs.load, {
      state: "skipped",
      reason: 'needs "first", which failed',
      blocked: true,
      failed: 0,
    });
  });
});

Deno.test("files that do not belong together are refused", async () => {
  await withRun(async ({ cwd, run, piece, merge }) => {
    await piece("first", "--only", "first");
    const only = ["--only", "load", "--run", "R/run.json"];
    assertEquals(
      await run("other.yml", ...only, "--inputs", "R"),
      "1\nrunner: error: 'other.yml' is not the workflow that 'R/run.json' was made of\n" +
        `  its files have the hash ${await hashIn(cwd, "other.yml")}, not ${await hashIn(
          cwd,
          "flow.yml",
        )}: all pieces need the same files\n`,
    );
    assertEquals(
      await run("flow.yml", ...only),
      '1\nrunner: error: no --inputs say what became of the job "first"\n' +
        "  give the outputs files of first, or a directory that has them\n",
    );
    await piece("load1", "--only", "load", "--rounds", "1/2");
    assertStringIncludes(
      await piece("last", "--only", "last"),
      'only 1 of 2 parts of the job "load" are among the --inputs',
    );
    await run("prepare", "flow.yml", "--out", "R/run.json", "--id", "r2");
    assertStringIncludes(
      await piece("last", "--only", "last"),
      "/outputs.json' is of another run\n  it is of r1, not of r2",
    );
    assertStringIncludes(await merge(), "'R/first/events.ndjson' is of another run");
    for (
      const [text, message] of [
        ["[", "'R/run.json' is not a valid run file: it is not JSON"],
        ["[]", "'R/run.json' is not a valid run file"],
        ['{"schema": "runner.run/2"}', 'its schema is "runner.run/2", not "runner.run/1"'],
        [
          '{"schema": "runner.run/1"}',
          "'R/run.json' is not a valid run file: \"run\" is not a text",
        ],
      ] as const
    ) {
      Deno.writeTextFileSync(`${cwd}/R/run.json`, text);
      assertStringIncludes(await piece("last", "--only", "last"), message);
    }
  });
});

async function hashIn(cwd: string, file: string): Promise<string> {
  const { hashWorkflow } = await import("../../../src/spread/run_file.ts");
  const text = Deno.readTextFileSync(`${cwd}/${file}`);
  const document = { files: [{ name: file, text }] };
  return (await hashWorkflow({ document, jobs: [] } as never)).slice(0, 12);
}

Deno.test("events and outputs that no version of the program writes are refused", async () => {
  await withRun(async ({ cwd, piece, merge }) => {
    await piece("first", "--only", "first");
    const change = (name: string, from: string | RegExp, to: string) => {
      const path = `${cwd}/R/first/${name}`;
      const text = Deno.readTextFileSync(path);
      Deno.writeTextFileSync(path, text.replace(from, to));
      return () => Deno.writeTextFileSync(path, text);
    };
    for (
      const [from, to, message] of [
        [
          "runner.events/1",
          "runner.events/2",
          'the schema "runner.events/2", not "runner.events/1"',
        ],
        ['"jobs":["first"]', '"jobs":5', 'has an invalid "piece" in its first event'],
        ['"host"', '"part":{"index":1,"of":1000000000},"host"', 'has an invalid "piece"'],
      ] as const
    ) {
      const restore = change("events.ndjson", from, to);
      assertStringIncludes(await merge(), message);
      restore();
    }
    for (
      const [from, to, message] of [
        [/\{[^]*/, "{", "is not a valid outputs file: it is not JSON"],
        ['"first": {', '"__proto__": {', "cannot be opened"],
        ['"jobs"', '"part": { "index": 3, "of": 2 }, "jobs"', 'outputs file: invalid "part"'],
        ['"outputs": {', '"outputs": { "z": 5,', 'the outputs of "z" are not a map'],
        ['"state": "passed"', '"state": "fine"', '"jobs" has an entry without state'],
      ] as const
    ) {
      const restore = change("outputs.json", from, to);
      assertStringIncludes(await piece("load1", "--only", "load"), message);
      restore();
    }
  });
});

Deno.test("options that cannot be combined are refused", async () => {
  await withRun(async ({ run }) => {
    const piece = ["flow.yml", "--run", "R/run.json"];
    const table: readonly (readonly [args: readonly string[], message: string])[] = [
      [["flow.yml", "--inputs", "R"], "option --inputs requires --run"],
      [["flow.yml", "--finally"], "option --finally requires --run"],
      [piece, "option --run requires --only"],
      [
        [...piece, "--only", "first", "--var", "who=x"],
        "options --var and --run cannot be combined",
      ],
      [[...piece, "--only", "first", "--skip", "last"], "options --skip and --run cannot be comb"],
      [[...piece, "--only", "load", "--shard", "1/2"], "option --shard is for several workflows"],
      [[...piece, "--only", "frist"], 'the run has no job "frist"\n  did you mean "first"?'],
      [[...piece, "--finally"], "the workflow has no finally that --finally could run"],
      [[...piece, "--only", "first", "--rounds", "1/2"], 'the job "first" has no repeat'],
      [[...piece, "--only", "load", "--rounds", "3/2"], "option --rounds must be a part"],
      [[...piece, "--only", "load", "--start-at", "soon"], "option --start-at must be a time"],
      [["prepare", "flow.yml"], "--out is missing"],
      [["prepare", "flow.yml", "--out", "x", "--id", "a b"], "option --id must be"],
      [["prepare", "flow.yml", "--out", "x", "--start-in", "soon"], "option --start-in"],
    ];
    for (const [args, message] of table) {
      const said = await run(...args);
      assertEquals(said.startsWith("1\nrunner: error: "), true, said);
      assertStringIncludes(said, message);
    }
  });
});

Deno.test("clocks that differ are a warning that says by how much", async () => {
  await withRun(async ({ cwd, piece, merge }) => {
    await piece("first", "--only", "first");
    await piece("load1", "--only", "load");
    await piece("last", "--only", "last");
    const file = `${cwd}/R/load1/events.ndjson`;
    const early = Deno.readTextFileSync(file).replace(
      /"time":(\d+)/g,
      (_, time) => `"time":${Number(time) - 10_000}`,
    );
    Deno.writeTextFileSync(file, early);
    const merged = await merge();
    assertMatch(
      merged,
      /"load" began (9\.\d|10\.0)s before "first" ended: the clocks of their machines differ/,
    );
    assertEquals(merged.startsWith("0\n"), true);
  });
});

Deno.test("parts that begin far from each other are a warning", async () => {
  await withRun(async ({ cwd, run, piece, merge }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, FLOW.replace("count: 4", "interval: 1ms, count: 4"));
    await run("prepare", "flow.yml", "--out", "R/run.json");
    await piece("first", "--only", "first");
    await piece("load1", "--only", "load", "--rounds", "1/2");
    await piece("load2", "--only", "load", "--rounds", "2/2");
    const file = `${cwd}/R/load2/events.ndjson`;
    const late = Deno.readTextFileSync(file).replace(
      /"time":(\d+)/g,
      (_, time) => `"time":${Number(time) + 10_000}`,
    );
    Deno.writeTextFileSync(file, late);
    assertMatch(
      await merge(),
      /the parts of "load" began \d+(\.\d+)?s apart, and its rounds are to start every 1ms: let/,
    );
  });
});

Deno.test("a piece that is killed fails its job, and those after it are skipped", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  await using server = withServer(() => (asked.resolve(), answer.promise));
  const flow = FLOW.replace(
    'uses: hello, test: vars.who == "world"',
    `uses: http, with: { get: "${server.url}" }, test: true`,
  );
  await withRun(async ({ cwd, run, merge }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json");
    const child = startCli([
      ...["flow.yml", "--run", "R/run.json", "--only", "first"],
      ...["--outputs", "R/first/outputs.json", "--report", "ndjson=R/first/events.ndjson"],
    ], { cwd, env: { RUNNER_KEY } });
    await asked.promise;
    child.kill("SIGKILL");
    await Promise.all([child.status, child.stdout.cancel(), child.stderr.cancel()]);
    answer.resolve(new Response("late"));
    const merged = await merge();
    assertEquals(merged.startsWith("1\n"), true);
    assertMatch(
      merged,
      /ends in the middle: its process was killed|no piece of this job came back/,
    );
    assertStringIncludes(merged, 'needs "first", which failed');
  });
});
