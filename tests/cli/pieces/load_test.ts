import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { RunEvent } from "../../../src/run/event.ts";
import type { SignalName } from "../../../src/host/host.ts";
import { runHere, runMain } from "../../support/run/run_main.ts";
import { programEnv, theProgram } from "../../support/run/run_cli.ts";
import { rawServer, response } from "../../support/servers/raw_server.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** The events that a run has written to a file. */
function eventsIn(path: string): RunEvent[] {
  return Deno.readTextFileSync(path).trim().split("\n").map((line) => JSON.parse(line));
}

function only<T extends RunEvent["type"]>(events: readonly RunEvent[], type: T) {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
}

Deno.test("processes do together what one does: rows, counts, outputs, secrets, thresholds", async () => {
  const asked = new Map<string, number>();
  const users = new Set<string>();
  await using server = withServer((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/login") return new Response("key-of-login");
    asked.set(pathname, (asked.get(pathname) ?? 0) + 1);
    users.add(searchParams.get("user")!);
    if (pathname === "/row/7") return new Response("say opensesame9", { status: 500 });
    return new Response(request.headers.get("x-key") === "key-of-login" ? "ok" : "wrong");
  });
  const rows = Array.from({ length: 300 }, (_, index) => index);
  const yaml = `
name: w
vars: { password: opensesame9 }
jobs:
  - name: Login
    id: login
    steps: [{ uses: http, id: sign, with: { get: "${server.url}/login" }, outputs: { key: res.body } }]
  - name: Load
    id: load
    needs: [login]
    load:
      rate: 300/s
      for: 1m
      warm_up: 200ms
      data: [${rows}]
      each: once
      expect: [stats.count == 240, stats.failed <= 1, stats.p95 < 0, stats.dropped == 0]
    steps:
      - uses: http
        id: ask
        with:
          get: ${server.url}/row/{{vars.item}}?user={{round.user}}
          headers: { x-key: "{{outputs.sign.key}}" }
        test: res.body == "ok"
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const args = ["w.yml", "--processes", "2", "--report", `ndjson=${cwd}/w.ndjson`];
    const { code, stdout } = await runMain(args, { cwd });
    assertEquals(code, 1);
    assertMatch(stdout, /✗ stats\.p95 < 0/);
    assertEquals([...asked.values()], rows.map(() => 1));
    const events = eventsIn(`${cwd}/w.ndjson`);
    const seconds = only(events, "load_second");
    const measured = seconds.filter(({ phase }) => phase !== "warm_up");
    assertEquals(measured.reduce((sum, { rounds }) => sum + rounds.passed + rounds.failed, 0), 240);
    assertEquals(seconds.filter(({ from }) => from === 0).length, 1);
    assertEquals([seconds[0]?.from, seconds[0]?.asked, seconds[1]?.from], [0, 300, 200]);
    const [ended, ...more] = only(events, "load_ended");
    assertEquals(more, []);
    assertEquals(ended?.stats.count, 240);
    assertEquals(ended?.thresholds.map(({ passed }) => passed), [true, true, false, true]);
    const finished = only(events, "job_finished").find(({ job }) => job === "load");
    assertEquals(finished?.failures.map(({ field }) => field), ["load.expect.2"]);
    assertEquals(JSON.stringify(events).includes("opensesame9"), false);
  });
});

Deno.test("a share of each user, and stop_if looks at the rounds of all processes", async () => {
  const paths: string[] = [];
  await using server = withServer((request) => {
    paths.push(new URL(request.url).pathname);
    return new Response("ok");
  });
  const steps = (path: string) =>
    `steps: [{ uses: http, with: { get: "${server.url}/${path}" }, test: res.code == 200 }]`;
  const yaml = `
name: w
jobs:
  - name: Users
    load: { users: 2, count: 31 }
    ${steps("user/{{round.user}}")}
  - name: Rate
    load: { rate: 40/s, for: 1m, stop_if: stats.count > 30, expect: stats.failed == 0 }
    ${steps("rate")}
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml", "--processes", "3"], { cwd });
    const of = (path: string) => paths.filter((each) => each === path).length;
    assertEquals([of("/user/0"), of("/user/1"), paths.length], [16, 15, 31 + of("/rate")]);
    assertStringIncludes(stdout, "31 rounds in");
    assertMatch(stdout, /ended early: stop_if is true: stats\.count is \d+/);
    assertEquals(code, 1);
  });
});

Deno.test("an interruption ends all processes, and what was measured is printed", async () => {
  let interrupt: (signal: SignalName) => void = () => {};
  let count = 0;
  await using server = withServer(() => {
    if (++count === 50) interrupt("SIGINT");
    return new Response("ok");
  });
  const yaml = `
name: w
jobs:
  - name: Users
    load: { users: 4, for: 1h, expect: stats.failed == 0 }
    steps: [{ uses: http, with: { get: "${server.url}" }, test: res.code == 200 }]
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const { code, stdout } = await runHere(["w.yml", "--processes", "2"], { cwd }, {
      signals: {
        listen(hear) {
          interrupt = hear;
          return () => {};
        },
      },
    });
    assertEquals(code, 1);
    assertMatch(stdout, /\d+ rounds in .* by 4 users/);
    assertStringIncludes(stdout, "ended early: interrupted by SIGINT");
    assert(count >= 50);
  });
});

const LOAD = (url: string) => `
name: w
jobs:
  - name: Load
    id: load
    load: { rate: 200/s, for: 300ms, expect: [stats.count == 60, stats.p95 < 0] }
    steps: [{ uses: http, with: { get: "${url}" }, test: res.code == 200 }]
`;

/** The lines of a file up to the last second of a load job. */
function withoutEnd(path: string): string {
  const lines = Deno.readTextFileSync(path).split("\n");
  return lines.slice(0, lines.findIndex((line) => line.includes('"load_ended"'))).join("\n") + "\n";
}

Deno.test("parts of a load job are one again, and red where one is lost", async () => {
  await using server = withServer(() => new Response("ok"));
  await withFiles({ "w.yml": LOAD(server.url), "R/.keep": "" }, async (cwd) => {
    const run = async (...args: string[]) => await runHere(args, { cwd });
    await run("prepare", "w.yml", "--out", "R/run.json");
    for (const part of [1, 2]) {
      const piece = await run(
        ...["w.yml", "--run", "R/run.json", "--only", "load", "--rounds", `${part}/2`],
        ...["--report", `ndjson=R/${part}.ndjson`],
      );
      assertEquals(piece.code, 0);
    }
    const merge = async () => {
      const { code, stdout } = await run(
        ...["report", "merge", "R/run.json", "R", "--report", "ndjson=merged.ndjson"],
      );
      const events = eventsIn(`${cwd}/merged.ndjson`);
      const [ended, ...more] = only(events, "load_ended");
      const seconds = only(events, "load_second");
      assertEquals(seconds.filter(({ from }) => from === 0).length, 1);
      const [finished] = only(events, "job_finished");
      assertEquals(more, []);
      return { code, stdout, ended: ended!, fields: finished!.failures.map(({ field }) => field) };
    };
    const whole = await merge();
    assertEquals([whole.code, whole.ended.stats.count, whole.fields], [1, 60, ["load.expect"]]);
    assertEquals(whole.ended.thresholds.map(({ passed }) => passed), [true, false, true]);
    Deno.writeTextFileSync(`${cwd}/R/2.ndjson`, withoutEnd(`${cwd}/R/2.ndjson`));
    const torn = await merge();
    assertEquals([torn.code, torn.ended.thresholds, torn.fields], [1, [], [""]]);
    assertStringIncludes(torn.stdout, "'R/2.ndjson' ends in the middle");
  });
});

Deno.test("users who begin together never wait for each other's connections", async () => {
  await using server = withServer(() => new Response("ok"));
  const race = (name: string, users: number) =>
    `  - name: ${name}
    load: { users: ${users}, count: ${users}, together: true }
    steps: [{ uses: http, with: { get: "${server.url}" }, test: res.code == 200 }]
`;
  const files = {
    "two.yml": `name: w\njobs:\n${race("One", 40)}${race("Other", 40)}`,
    "many.yml": `name: w\njobs:\n${race("Many", 200)}`,
  };
  await withFiles(files, async (cwd) => {
    const [program, args] = theProgram();
    const run = async (file: string) => {
      // 56 connections.
      const line = ["-c", 'ulimit -n 120 && exec "$@"', "sh", program, ...args, file];
      const command = new Deno.Command("sh", { args: line, cwd, env: programEnv() });
      const { code, stdout, stderr } = await command.output();
      return [code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)] as const;
    };
    const [code, text] = await run("two.yml");
    assertEquals(code, 0, text);
    assertMatch(
      text,
      /(One|Other): only \d+ of 40 users begin together: the others wait for a conn/,
    );
    const [refused, why] = await run("many.yml");
    assertEquals(refused, 1);
    assertStringIncludes(why, "200 users cannot begin together: at most 56 connections are open");
  });
});

Deno.test("requests that were sent again are counted and said", async () => {
  // Each connection ends with its third request.
  await using server = rawServer(async (connection) => {
    for (let count = 0; await connection.request() && count < 2; count++) {
      await connection.send(response("200 OK", "x"));
    }
  });
  const yaml = `
name: w
jobs:
  - name: Shop
    load: { users: 1, count: 10, expect: [stats.resent == 0, stats.steps.ask.resent > 0] }
    steps: [{ uses: http, id: ask, with: { get: "${server.url}" }, test: res.code == 200 }]
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    const resent = server.requests.length - 10;
    assertEquals([code, resent > 0], [1, true]);
    assertMatch(stdout, new RegExp(`10 rounds in .* ${resent} sent again +0 failed\\n`));
    assertMatch(stdout, new RegExp(`✗ stats\\.resent == 0 +${resent}\\n`));
    assertMatch(stderr, new RegExp(`warning: Shop: ${resent} requests? (?:were|was) sent again: `));
  });
});
