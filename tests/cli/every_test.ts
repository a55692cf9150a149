import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RepeatedRun } from "../support/run/repeated_run.ts";
import type { CliResult } from "../support/run/run_cli.ts";
import { runHere } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const MINUTE = 60_000;

function workflow(status = 0): string {
  return `name: W
jobs:
  - name: Shop
    steps:
      - { id: hi, uses: hello, test: res.status == ${status} }
`;
}

/** The lines of runs, without their durations. */
function linesOf({ stdout }: CliResult): string[] {
  return stdout.split("\n").filter((line) => /^20\d\d-/.test(line))
    .map((line) => line.replace(/ {2}[\d.]+m?s/, ""));
}

Deno.test("--every runs again a minute after the start of the last run, with some jitter", async () => {
  await withFiles({ "w.yml": workflow() }, async (cwd) => {
    const watch = new RepeatedRun((count, watch) => count === 300 && watch.send("SIGTERM"));
    const result = await watch.run(cwd, "--state", "s.json");
    assertEquals([result.code, result.stderr], [0, ""]);
    assertEquals(linesOf(result).length, 300);
    assertEquals(result.stdout.split("\n").length, 301);
    assertMatch(linesOf(result)[0]!, /^2026-01-31T00:00:00Z {2}passed {2}1 job$/);
    assert(watch.pauses.every((pause) => pause >= MINUTE && pause <= 1.1 * MINUTE));
    assert(new Set(watch.pauses).size > 100);
    const { streak } = JSON.parse(Deno.readTextFileSync(`${cwd}/s.json`)).runs["w.yml"];
    assertEquals(streak, 300);
  });
});

Deno.test("--every reads files again, and goes on with the last good version", async () => {
  const edits = [workflow(), "name: [", workflow(1), workflow(1), workflow()];
  await withFiles({ "w.yml": edits[0]! }, async (cwd) => {
    const watch = new RepeatedRun((count, watch) => {
      if (count === edits.length) watch.send("SIGTERM");
      else Deno.writeTextFileSync(`${cwd}/w.yml`, edits[count]!);
    });
    const result = await watch.run(cwd);
    assertEquals(result.code, 0);
    assertEquals(linesOf(result).map((line) => line.slice(22)), [
      "passed  1 job",
      "passed  1 job  the file is invalid: its last good version ran",
      "failed  1 job  Shop: passed → failed",
      "failed  1 job",
      "passed  1 job  Shop: failed → passed",
    ]);
    assertStringIncludes(result.stdout, 'this "[" is not closed');
    // The whole report where a run failed or changed.
    assertEquals(result.stdout.split("test is false").length > 2, true);
    assertEquals(result.stdout.split("✓ Shop").length, 3);
  });
});

Deno.test("a file that is invalid from the start does not run again and again", async () => {
  await withFiles({ "w.yml": "name: [" }, async (cwd) => {
    const { code, stderr } = await new RepeatedRun(() => {}).run(cwd);
    assertEquals(code, 1);
    assertStringIncludes(stderr, "w.yml");
  });
});

Deno.test("--every needs an interval, and no other way to run again", async () => {
  await withFiles({ "w.yml": workflow() }, async (cwd) => {
    for (
      const [args, message] of [
        [["--every", "soon"], "option --every"],
        [["--every", "1ms"], 'option --every must be at least 10ms, not "1ms"'],
        [["--every", "1m", "--watch"], "cannot be combined"],
      ] as const
    ) {
      const { code, stderr } = await runHere([...args, "w.yml"], { cwd });
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
  });
});

/** Runs a workflow whose requests a function answers; its cleanup asks for `/end`. */
async function runAsked(
  answer: (path: string, watch: RepeatedRun) => Promise<void> | void,
  onPause: (count: number, watch: RepeatedRun) => void = () => {},
) {
  const seen: string[] = [];
  const watch = new RepeatedRun(onPause);
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    seen.push(pathname);
    await answer(pathname, watch);
    return new Response("ok");
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  const text = `name: W
jobs:
  - name: Shop
    steps: [{ uses: http, with: { get: "${url}/a" } }, { uses: http, with: { get: "${url}/b" } }]
    finally: [{ uses: http, with: { get: "${url}/end" } }]
`;
  try {
    return await withFiles({ "w.yml": text }, async (cwd) => {
      const result = await watch.run(cwd, "--state", "s.json");
      const kept = await Deno.readTextFile(`${cwd}/s.json`).catch(() => "{}");
      return { result, seen, kept: JSON.parse(kept) };
    });
  } finally {
    await server.shutdown();
  }
}

Deno.test("SIGTERM ends after the run under way, with its finally", async () => {
  const { result, seen, kept } = await runAsked((path, watch) => {
    if (path === "/a") watch.send("SIGTERM");
  });
  assertEquals([result.code, seen], [0, ["/a", "/b", "/end"]]);
  assertMatch(linesOf(result).join(), /Z {2}passed {2}1 job$/);
  assertEquals(kept.runs["w.yml"].state, "passed");
});

for (const signals of [["SIGTERM", "SIGTERM"], ["SIGINT"], ["SIGHUP"]] as const) {
  Deno.test(`${signals.join(" and ")} interrupts the run under way, whose finally runs`, async () => {
    const hanging = Promise.withResolvers<void>();
    const { result, seen, kept } = await runAsked(async (path, watch) => {
      if (path === "/end") hanging.resolve();
      if (path !== "/a") return;
      for (const signal of signals) {
        watch.now += 1000;
        watch.send(signal);
      }
      await hanging.promise;
    });
    assertEquals([result.code, seen], [0, ["/a", "/end"]]);
    assertStringIncludes(result.stdout, `interrupted by ${signals.at(-1)}`);
    // It says nothing about what it tests.
    assertEquals(kept.runs, undefined);
  });
}

Deno.test("a run that takes longer than the interval is followed at once", async () => {
  const { result } = await runAsked(
    (path, watch) => void (path === "/a" && (watch.now += 1.5 * MINUTE)),
    (count, watch) => count === 3 && watch.send("SIGTERM"),
  );
  const [first, second] = linesOf(result);
  assertMatch(first!, /T00:00:00Z {2}passed {2}1 job/);
  assertMatch(
    second!,
    /T00:01:30Z {2}passed {2}1 job {2}.*late: the run before took longer than 1m/,
  );
});
