import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { until } from "../support/run/processes.ts";
import { type Rig, withRig } from "../support/run/rig.ts";
import { startCli, theProgram } from "../support/run/run_cli.ts";
import { readDirectory, REPORT_FILES } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

/** Three jobs: one that is done, one in the midst of something, one that waits for that. */
const WORKFLOW = `name: n
jobs:
  - name: done
    steps: [{ name: quick, uses: http, with: { get: "{url}/quick" }, test: res.code == 200 }]
  - name: busy
    id: busy
    steps:
      - { name: hangs, uses: http, with: { get: "{url}/hang" } }
      - { name: entries, uses: hello, iteration: [{ a: 1 }, { a: 2 }] }
  - name: later
    needs: [busy]
    steps: [{ name: never, uses: hello }]
`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly reports: Readonly<Record<string, string>>;
}

/** Starts a workflow with every report, performs an action when it hangs, and waits for its end. */
function runUntil(
  args: readonly string[],
  act: (child: Deno.ChildProcess, directory: string, rig: Rig) => void | Promise<void>,
  env: Readonly<Record<string, string>> = {},
  workflow = WORKFLOW,
): Promise<Ended> {
  return withRig((rig) =>
    withFiles({ "w.yml": workflow.replaceAll("{url}", rig.url) }, async (cwd) => {
      const child = startCli([...args, "w.yml"], { cwd, env });
      const outputs = [child.stdout, child.stderr].map((output) => new Response(output).text());
      await rig.untilSeen("/hang");
      const isDone = () => eventsIn(cwd).includes('"job_finished"');
      await until(isDone, "the end of the first job");
      await act(child, cwd, rig);
      const [stdout = "", stderr = ""] = await Promise.all(outputs);
      const { code } = await child.status;
      return { code, stdout, stderr, reports: readDirectory(`${cwd}/reports`) };
    })
  );
}

function eventsIn(directory: string): string {
  return readDirectory(`${directory}/reports`)["events.ndjson"] ?? "";
}

const ALL = ["--report-dir", "reports"];

function assertTellsOfTheEnd(reports: Ended["reports"], why: string): void {
  assertEquals(Object.keys(reports).sort(), [...REPORT_FILES].sort());
  for (const [name, text] of Object.entries(reports)) assertStringIncludes(text, why, name);
  const { interrupted, jobs } = JSON.parse(reports["report.json"]!);
  assertEquals(interrupted, why);
  assertEquals(jobs.map((job: { state: string }) => job.state), ["passed", "failed", "skipped"]);
  const { tests } = JSON.parse(reports["ctrf.json"]!).results;
  const reported = tests.map((
    { name, status, message }: Record<string, string>,
  ) => [name, status, status === "skipped" ? message : ""]);
  assertEquals(reported, [
    ["done › quick", "passed", ""],
    ["busy › hangs", "failed", ""],
    ["busy › entries [entry 1]", "skipped", why],
    ["busy › entries [entry 2]", "skipped", why],
    ["later › never", "skipped", why],
  ]);
  assertStringIncludes(reports["report.tap"]!, `Bail out! ${why}\n`);
}

Deno.test("an interrupted run writes complete reports that say so", async () => {
  const { code, reports } = await runUntil(ALL, (child) => child.kill("SIGINT"));
  assertEquals(code, 1);
  assertTellsOfTheEnd(reports, "interrupted by SIGINT");
});

Deno.test("a run that times out writes complete reports that say so", async () => {
  const { code, reports } = await runUntil(ALL, () => {}, { RUNNER_TIMEOUT: "3s" });
  assertEquals(code, 1);
  assertTellsOfTheEnd(reports, "RUNNER_TIMEOUT of 3s is over");
});

Deno.test("a second signal leaves nothing that is half written", async () => {
  const stubborn = WORKFLOW.replace(/{ name: hangs.*}/, "$&") +
    "  - name: stubborn\n    steps:\n      - name: stays\n        uses: shell\n        with:\n" +
    "          cmd: \"trap '' TERM; echo there > there; while :; do sleep 1; done\"\n";
  const act = async (child: Deno.ChildProcess, directory: string, rig: Rig) => {
    await until(() => readDirectory(directory)["there"] !== undefined, "the command has started");
    child.kill("SIGINT");
    // The first signal was heard: the request has been given up, the command not yet.
    await rig.untilSeen("-/hang");
    signal(child);
  };
  const { code, reports } = await runUntil(ALL, act, {}, stubborn);
  assertEquals(code, 1);
  for (const line of reports["events.ndjson"]!.trimEnd().split("\n")) JSON.parse(line);
  // On a machine that is very busy the second signal comes when all is written.
  const names = Object.keys(reports).sort();
  assertEquals(names, names.length === 1 ? ["events.ndjson"] : [...REPORT_FILES].sort());
});

/** Sends a signal to a process, which may have ended meanwhile. */
function signal(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGINT");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

Deno.test("events are written as they happen", async () => {
  const act = (child: Deno.ChildProcess, directory: string) => {
    const events = eventsIn(directory).trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(events[0].type, "run_started");
    const done = events.filter(({ type }) => type === "step_finished");
    assertEquals(done.map(({ result }) => result.name), ["quick"]);
    // A file that is written at the end does not exist before, not even empty.
    const others = Object.keys(readDirectory(`${directory}/reports`)).filter((name) =>
      name[0] !== "."
    );
    assertEquals(others, ["events.ndjson"]);
    child.kill("SIGINT");
  };
  const { reports } = await runUntil(ALL, act);
  const events = reports["events.ndjson"]!.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(events.at(-1).type, "run_finished");
});

Deno.test("a run ends when the reader of its events is gone", async () => {
  await withRig((rig) =>
    withFiles({
      "w.yml": `name: n\njobs: [{ name: j, repeat: { count: 1000, interval: 10ms }, steps: [` +
        `{ uses: http, with: { get: "${rig.url}/asked" } }] }]\n`,
    }, async (cwd) => {
      const child = startCli(["--report", "ndjson=-,tap=reports/t", "w.yml"], { cwd });
      const stderr = new Response(child.stderr).text();
      const reader = child.stdout.getReader();
      await rig.untilSeen("/asked");
      await reader.cancel();
      assertEquals((await child.status).code, 1);
      const lost = "the report on standard output is incomplete: its reader has closed the pipe";
      assertStringIncludes(await stderr, `runner: error: ${lost} (EPIPE)\n`);
      assert(rig.seen.length < 1000);
      assertStringIncludes(readDirectory(`${cwd}/reports`).t!, "Bail out! stopped: nobody reads");
    })
  );
});

Deno.test("a pipe is written to once it has a reader", async () => {
  await withFiles(
    { "w.yml": "name: n\njobs: [{ name: j, steps: [{ uses: hello }] }]\n" },
    async (cwd) => {
      await new Deno.Command("mkfifo", { args: [`${cwd}/pipe`] }).output();
      const args = ["--report", "tap=made/t,ndjson=pipe", "w.yml"];
      const read = startCli(args, { cwd });
      const outputs = [read.stdout, read.stderr].map((output) => new Response(output).text());
      const cat = await new Deno.Command("cat", { args: ["pipe"], cwd }).output();
      assertStringIncludes(new TextDecoder().decode(cat.stdout), '"run_finished"');
      assertEquals([(await read.status).code, (await Promise.all(outputs))[1]], [0, ""]);
    },
  );
});

Deno.test("a disk that is full leaves whole events, and no document that is cut", async () => {
  const workflow = "name: n\njobs: [{ name: j, repeat: { count: 300 }, steps: [{ uses: hello, " +
    `with: { text: "${"x".repeat(100)}" } }] }]\n`;
  await withFiles({ "w.yml": workflow, "reports/junit.xml": "of an earlier run" }, async (cwd) => {
    const [program, before] = theProgram();
    // Blocks of 512 bytes that a file may have.
    const limited = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", limited, "sh", program, ...before, ...ALL, "w.yml"],
      cwd,
    }).output();
    assertEquals(code, 1);
    assertStringIncludes(new TextDecoder().decode(stdout), "All jobs succeeded");
    const reported = new TextDecoder().decode(stderr);
    const reports = readDirectory(`${cwd}/reports`);
    for (const name of ["events.ndjson", "junit.xml", "report.json"]) {
      assertStringIncludes(reported, `cannot write the report 'reports/${name}': File too large`);
    }
    const events = reports["events.ndjson"]!;
    assert(events.length > 45_000 && events.endsWith("}\n"), events.slice(-100));
    for (const line of events.trimEnd().split("\n")) JSON.parse(line);
    assertEquals(Object.keys(reports).sort(), [
      "events.ndjson",
      "junit.xml",
      "report.tap",
      "summary.md",
    ]);
    assertEquals(reports["junit.xml"], "of an earlier run");
  });
});
