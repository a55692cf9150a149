import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { until } from "../support/run/processes.ts";
import { type Rig, withRig } from "../support/run/rig.ts";
import { startCli, theProgram } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory, REPORT_FILES } from "../support/run/run_reports.ts";
import { echoServer } from "../support/servers/echo_sockets.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";
import { assertPassed } from "../support/assert_passed.ts";

/** Runs a workflow whose only job has these steps. */
async function runSteps(
  steps: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
) {
  const workflow = `name: n
vars: {url: "{{URL}}", token: "{{API_TOKEN ?? 'token-of-nobody'}}", last: 3}
jobs:
  - name: j
    steps:
${steps}`;
  return await withFiles({ "w.yml": workflow }, async (cwd) => {
    const result = await runMain([...args, "w.yml"], { cwd, env });
    return { ...result, reports: args.includes("--report-dir") ? readDirectory(`${cwd}/r`) : {} };
  });
}

Deno.test("until sees vars, outputs, message and what came so far", async () => {
  await using server = echoServer();
  const { code, stdout } = await runSteps(
    `      - uses: echo
        id: before
        with: { message: x }
        outputs: { n: "2" }
      - uses: websocket
        with:
          url: "{{vars.url}}"
          send: many 9
          until: message.n == vars.last && outputs.before.n == 2 && len(res.messages) == 3
        test: res.message.n == 3 && req.send == "many 9"
`,
    { env: { URL: server.url } },
  );
  assertEquals(code, 0, stdout);
});

Deno.test("a step that says what must come needs no test", async () => {
  await using server = echoServer();
  const steps = `      - uses: websocket
        with: { url: "{{vars.url}}", send: x, expect: x }
      - uses: websocket
        with: { url: "{{vars.url}}", send: x }
`;
  const { stdout } = await runSteps(steps, { env: { URL: server.url } });
  assertStringIncludes(stdout, "1. ✓ websocket");
  assertStringIncludes(stdout, "2. ○ websocket");
});

Deno.test("an until that cannot be evaluated is marked where it is written", async () => {
  await using server = echoServer();
  await using events = withServer(() =>
    new Response("data: x\n\n", { headers: { "content-type": "text/event-stream" } })
  );
  const { code, stdout } = await runSteps(
    `      - uses: websocket
        with: { url: "{{vars.url}}", send: x, until: message.a.b }
      - uses: websocket
        with: { url: "{{vars.url}}", send: x, until: message }
      - uses: sse
        with: { url: "${events.url}", until: message.data }
`,
    { env: { URL: server.url } },
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout, "w.yml:7:62: a string has no .a");
  assertStringIncludes(stdout, "w.yml:9:54: until must be true or false, it is string");
  assertStringIncludes(stdout, "until must be true or false, it is string");
  assert(!stdout.includes("internal error"), stdout);
});

Deno.test("check finds mistakes in steps about streams", async () => {
  const { code, stdout } = await runSteps(
    `      - uses: websocket
        with: { url: "ftp://x", send: { base64: "!" }, until: "mesage.a == outputs.", max_messages: 0 }
      - uses: websocket
        with: { url: "ws://x", until: "mesage.a", insecure: true, subprotocols: [a, b c] }
      - uses: sse
        with: { url: "x", until: " ", max_events: 0, body: 1, json: 2 }
      - uses: sse
        with: { url: "http://x", until: "res.evnts == []" }
`,
    { args: ["check"] },
  );
  assertEquals(code, 1);
  for (
    const phrase of [
      'invalid URL of a WebSocket "ftp://x"',
      '"base64" in "send" is not base64',
      '"max_messages" must be at least 1, not 0',
      'unknown name "mesage" in "until"',
      'the key is "tls": tls: { verify: false }',
      'invalid name of a subprotocol "b c"',
      'invalid URL "x"',
      '"until" is empty',
      '"max_events" must be at least 1, not 0',
      'two bodies, "body" and "json"',
    ]
  ) assertStringIncludes(stdout, phrase);
});

Deno.test("a dry run shows what would be sent, without secrets", async () => {
  const { stdout } = await runSteps(
    `      - uses: websocket
        with:
          url: wss://ann:t0p-secret@shop.test/
          headers: { x-api-key: key-123456 }
          send: [{ token: "{{vars.token}}" }]
          until: message.done
`,
    { args: ["--dry-run"], env: { API_TOKEN: "very-secret-token" } },
  );
  assertStringIncludes(stdout, "until: message.done");
  assert(!/t0p-secret|key-123456|very-secret/.test(stdout), stdout);
});

Deno.test("no report has a secret of a stream, and all show what was exchanged", async () => {
  await using server = echoServer();
  await using events = withServer(() =>
    new Response('data: {"access_token": "issued-tok-1", "plain": "visible"}\n\n', {
      headers: { "content-type": "text/event-stream" },
    })
  );
  const { stdout, reports } = await runSteps(
    `      - uses: websocket
        with:
          url: "{{vars.url}}"
          auth: { bearer: "{{vars.token}}" }
          send: { token: "{{vars.token}}", password: hidden-pass-1, text: readable }
          expect: { text: readable }
        test: res.message.text == "other"
      - uses: websocket
        with: { url: "{{vars.url}}", send: "say {{vars.token}}", expect: never, timeout: 1s }
      - uses: sse
        with: { url: "${events.url}", headers: { x-api-key: key-123456 } }
        test: len(res.events) == 2
`,
    {
      args: ["--report-dir", "r", "-v"],
      env: { URL: server.url, API_TOKEN: "very-secret-token" },
    },
  );
  assert(Object.keys(reports).length >= 7);
  for (const [name, text] of Object.entries({ stdout, ...reports })) {
    const found = /very-secret-token|hidden-pass-1|issued-tok-1|key-123456/.exec(text);
    assertEquals(found?.[0], undefined, name);
  }
  for (const name of ["junit.xml", "report.html", "summary.md"]) {
    assertStringIncludes(reports[name]!, "readable", name);
    assertStringIncludes(reports[name]!, "visible", name);
  }
});

Deno.test("Ctrl-C closes a WebSocket", async () => {
  await using server = echoServer();
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - uses: websocket
        with: { url: "${server.url}", send: silent, expect: never }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const closing = server.nextClose();
    const child = startCli(["w.yml"], { cwd });
    await server.heard;
    child.kill("SIGINT");
    assertEquals(await closing, 1001);
    const { code, stdout } = await child.output();
    assertEquals(code, 1);
    assertStringIncludes(new TextDecoder().decode(stdout), "interrupted");
  });
});

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
    ["busy › entries (entry 1)", "skipped", why],
    ["busy › entries (entry 2)", "skipped", why],
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
  const workflow = "name: n\njobs: [{ name: j, steps: [{ uses: hello, " +
    `with: { text: "${"x".repeat(100)}" }, iteration: "{{1..300}}" }] }]\n`;
  await withFiles({ "w.yml": workflow, "reports/junit.xml": "of an earlier run" }, async (cwd) => {
    const [program, before] = theProgram();
    // Blocks of 512 bytes that a file may have.
    const limited = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", limited, "sh", program, ...before, ...ALL, "w.yml"],
      cwd,
    }).output();
    assertEquals(code, 1);
    assertPassed(new TextDecoder().decode(stdout));
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
