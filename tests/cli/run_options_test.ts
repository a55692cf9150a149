import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { LoadError } from "../../src/base/errors.ts";
import { explainError } from "../../src/cli/messages.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { runAt } from "../support/run/run_at.ts";
import { startCli } from "../support/run/run_cli.ts";
import { Collected, runHere, runMain } from "../support/run/run_main.ts";
import { runUntilPrinted } from "../support/run/run_until_printed.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";
import { assertPassed } from "../support/assert_passed.ts";

const job = (id: string, path: string, fields = "") =>
  `  - name: ${id}\n    id: ${id}\n${fields}    steps:\n` +
  `      - {uses: http, with: {get: "{url}${path}"}, test: res.code == 200}\n`;
const needs = (...ids: string[]) => `    needs: [${ids.join(", ")}]\n`;
const flow = (...jobs: string[]) => "name: n\njobs:\n" + jobs.join("");

Deno.test("--jobs 1 runs one job after the other, in the order of the file", async () => {
  const jobs = ["a", "b", "c", "d", "e"].map((id) => job(id, `/${id}`) + step(`/${id}2`));
  const { code, seen } = await runAt(flow(...jobs), ["--jobs", "1"]);
  const inTurn = ["a", "b", "c", "d", "e"].flatMap((id) => [`/${id}`, `/${id}2`]);
  assertEquals([code, seen], [0, inTurn]);
});

const step = (path: string) => `      - {uses: http, with: {get: "{url}${path}"}}\n`;

Deno.test("jobs that a finished job unblocks start before jobs below it", async () => {
  const jobs = [
    job("last", "/last", needs("first", "third")),
    job("first", "/first"),
    job("second", "/second", needs("first")),
    job("third", "/third"),
  ];
  const { code, seen } = await runAt(flow(...jobs), ["--jobs=1"]);
  assertEquals([code, seen], [0, ["/first", "/second", "/third", "/last"]]);
});

Deno.test("--jobs 2 runs two jobs at once, and never three", async () => {
  const jobs = ["a", "b"].map((id) => job(id, "/meet/x/2") + step(`/end/${id}`));
  const { code, seen } = await runAt(flow(...jobs, job("c", "/c")), ["--jobs", "2"]);
  assertEquals([code, seen.slice(0, 2)], [0, ["/meet/x/2", "/meet/x/2"]]);
  assert(seen.indexOf("/c") > seen.findIndex((path) => path.startsWith("/end/")), seen.join());
});

/** The requests whose paths begin so, in the order in which the server saw them. */
const only = (seen: readonly string[], ...starts: string[]) =>
  seen.filter((path) => starts.some((start) => path.startsWith(start)));

Deno.test("jobs with the same lock never overlap, and others run meanwhile", async () => {
  const lock = (name: string) => `    lock: ${name}\n`;
  const held = ["a", "b"].map((id) => job(id, `/${id}1`, lock("db")) + step(`/${id}2`));
  // These two meet, so they run at the same time, and the first of them holds the lock.
  const meeting = [job("m", "/meet/x/2", lock("db")), job("n", "/meet/x/2", lock("other"))];
  const { code, seen } = await runAt(flow(...held, ...meeting));
  assertEquals([code, only(seen, "/a", "/b")], [0, ["/a1", "/a2", "/b1", "/b2"]]);
  const failing = [job("bad", "/status/500", lock("db")), job("c", "/c", lock("db"))];
  assertEquals((await runAt(flow(...failing))).seen, ["/status/500", "/c"]);
  const { seen: inMatrix } = await runAt(
    flow(
      job("m", "/{{matrix.n}}a", `${lock("db")}    matrix: { n: [1, 2] }\n`) +
        step("/{{matrix.n}}b"),
    ),
  );
  assertEquals(inMatrix, ["/1a", "/1b", "/2a", "/2b"]);
});

Deno.test("a job that waits for its lock takes no place of --jobs", async () => {
  const jobs = [
    job("holds", "/meet/x/2", "    lock: db\n"),
    job("waits", "/waits", "    lock: db\n"),
    job("other", "/meet/x/2"),
  ];
  const { code, seen } = await runAt(flow(...jobs), ["--jobs", "2"]);
  assertEquals([code, seen], [0, ["/meet/x/2", "/meet/x/2", "/waits"]]);
});

Deno.test("--fail-fast lets no job begin that waits for its lock", async () => {
  const jobs = [job("bad", "/status/500", "    lock: db\n"), job("b", "/b", "    lock: db\n")];
  const { code, stdout, seen } = await runAt(flow(...jobs), ["--fail-fast"]);
  assertEquals([code, seen], [1, ["/status/500"]]);
  assertStringIncludes(stdout, '- b (skipped: not started: --fail-fast after "bad" failed)');
});

Deno.test("what is said about a job without an id names the job", async () => {
  const one = (name: string, path: string, fields = "") =>
    job(name, path, fields).replace(/ {4}id: .*\n/, "");
  const jobs = [
    one(
      "bad",
      "/status/{{matrix.n}}",
      "    matrix: {n: [500, 501], parallel: 1, fail_fast: true}\n",
    ),
    one("blocked", "/b", needs("job_0")),
  ];
  const { stdout } = await runAt(flow(...jobs));
  assertStringIncludes(stdout, 'not started: fail_fast of the matrix after "bad (500)" failed)');
  assertStringIncludes(stdout, '- blocked (skipped: needs "bad (500)", which failed)');
  const fast = await runAt(flow(one("bad", "/status/500"), one("b", "/b")), [
    ...["--fail-fast", "--jobs", "1"],
  ]);
  assertStringIncludes(fast.stdout, '- b (skipped: not started: --fail-fast after "bad" failed)');
  assert(!/job_\d/.test(stdout + fast.stdout), stdout + fast.stdout);

  const text = "name: n\njobs:\n" +
    "- {name: A, steps: [{id: a, uses: hello, outputs: {x: '1'}}]}\n";
  const read = "- {name: B, steps: [{uses: hello, test: outputs.a.x == '1'}]}\n";
  const named = "- {name: B, needs: [A], steps: [{uses: hello}]}\n";
  for (
    const [later, hint] of [
      [read, "give that job an id, and add the id to the needs of this one"],
      [named, '"A" is the name of a job; give it an id, and write that here'],
    ] as const
  ) {
    const { stdout, stderr } = await withFiles(
      { "w.yml": text + later },
      (cwd) => runMain(["check", "w.yml"], { cwd }),
    );
    assertStringIncludes(stdout + stderr, hint);
    assert(!/job_\d/.test(stdout + stderr), stdout + stderr);
  }
});

Deno.test("jobs that do not run take no place", async () => {
  const jobs = [
    job("bad", "/status/500"),
    job("blocked", "/blocked", needs("bad")),
    job("off", "/off", '    skipif: "true"\n'),
    job("skipped", "/skipped"),
    job("good", "/good"),
  ];
  const { code, stdout, seen } = await runAt(flow(...jobs), ["--jobs", "1", "--skip", "skipped"]);
  assertEquals([code, seen], [1, ["/status/500", "/good"]]);
  assertStringIncludes(stdout, '- blocked (skipped: needs "bad", which failed)');
});

Deno.test("--fail-fast lets no job begin that waits for its place", async () => {
  const jobs = [job("bad", "/status/500"), job("b", "/b"), job("c", "/c", needs("b"))];
  const { code, stdout, seen } = await runAt(flow(...jobs), ["--jobs", "1", "--fail-fast"]);
  assertEquals([code, seen], [1, ["/status/500"]]);
  assertStringIncludes(stdout, '- b (skipped: not started: --fail-fast after "bad" failed)');
});

Deno.test("an invalid number of jobs is an error", async (test) => {
  for (const value of ["0", "-1", "1.5", "two", "1e3", "", "99999999999"]) {
    await test.step(`--jobs=${value}`, async () => {
      const { code, stdout, stderr, seen } = await runAt(flow(job("a", "/a")), [`--jobs=${value}`]);
      assertEquals([code, stdout, seen], [1, "", []]);
      assertStringIncludes(
        stderr,
        value === "" ? "--jobs needs a value" : `from 1, not "${value}"`,
      );
    });
  }
});

const get = (path: string, fields = "") =>
  `      - {uses: http, with: {get: "{url}${path}"}, test: res.code == 200${fields}}\n`;
const jobOf = (id: string, steps: string, fields = "") =>
  `  - name: ${id}\n    id: ${id}\n${fields}    steps:\n${steps}`;
/** It fails once the others have got to `/held`. */
const BAD = jobOf("bad", get("/others") + get("/bad"));

/**
 * Runs a workflow against a server that answers `/others` once `/held` was asked for so many
 * times, and `/held` once the report shows a failure. Gives the report and what was seen.
 */
async function run(yaml: string, held: number, args: readonly string[] = ["--fail-fast"]) {
  const seen: string[] = [];
  const others = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<void>();
  await using server = withServer(async (request) => {
    const { pathname } = new URL(request.url);
    seen.push(pathname);
    if (seen.filter((path) => path === "/held").length >= held) others.resolve();
    if (pathname === "/others") await others.promise;
    if (pathname === "/held") await reported.promise;
    return new Response("", { status: pathname === "/bad" ? 500 : 200 });
  });
  return await withFiles({ "w.yml": yaml.replaceAll("{url}", server.url) }, async (cwd) => {
    const child = startCli([...args, "w.yml"], { cwd });
    const errors = new Response(child.stderr).text();
    let stdout = "";
    const decoder = new TextDecoder();
    for await (const part of child.stdout) {
      stdout += decoder.decode(part, { stream: true });
      if (stdout.includes("✗")) reported.resolve();
    }
    const { code } = await child.status;
    return { code, stdout, stderr: await errors, seen };
  });
}

const WHY = '--fail-fast after "bad" failed';

Deno.test("--fail-fast begins no step and no job after the first failure", async () => {
  const yaml = flow(
    BAD + get("/bad-later"),
    jobOf(
      "other",
      get("/held") + get("/other-later") + get("/again", ", iteration: [{}, {}]"),
    ),
    jobOf("dep", get("/dep"), "    needs: [other]\n"),
    jobOf("needs-bad", get("/dep"), "    needs: [bad]\n"),
  );
  const { code, stdout, seen } = await run(yaml, 1);
  assertEquals([code, seen.sort()], [1, ["/bad", "/held", "/others"]]);
  assertStringIncludes(stdout, `   3. - http (skipped: not started: ${WHY})`);
  const other = stdout.slice(stdout.indexOf("● other\n"));
  assertStringIncludes(other, "   1. ✓ http");
  assertStringIncludes(other, `   2. - http (skipped: not started: ${WHY})`);
  assertStringIncludes(other, `(stopped: ${WHY})`);
  assertStringIncludes(stdout, '- dep (skipped: needs "other", which was skipped)');
  assertStringIncludes(stdout, '- needs-bad (skipped: needs "bad", which failed)');
  assertStringIncludes(
    stdout,
    "1 failed · 3 skipped (4)\nSteps      2 passed · 1 failed · 6 skipped (9)\n",
  );
});

Deno.test("without --fail-fast everything else runs", async () => {
  const yaml = flow(
    BAD + get("/bad-later"),
    jobOf("other", get("/held") + get("/other-later")),
  );
  const { code, seen } = await run(yaml, 1, []);
  assertEquals(code, 1);
  assertEquals(seen.sort(), ["/bad", "/bad-later", "/held", "/other-later", "/others"]);
});

Deno.test("--fail-fast begins no round and no entry", async () => {
  const repeat = (fields: string) => `    repeat: {count: 9${fields}}\n`;
  const yaml = flow(
    BAD,
    jobOf("in-turn", get("/held"), repeat("")),
    jobOf("slowly", get("/held"), repeat(", interval: 1h")),
    jobOf("at-once", get("/held") + get("/later"), repeat(", async: true")),
    jobOf("entries", get("/held", ", iteration: [{}, {}, {}]")),
  );
  const { code, stdout, seen } = await run(yaml, 1 + 1 + 9 + 1);
  assertEquals([code, seen.filter((path) => path === "/held").length], [1, 12]);
  assert(!seen.includes("/later"));
  assertStringIncludes(stdout, `(9 rounds, 8 not run) (stopped: ${WHY})`);
  assertStringIncludes(stdout, `(9 rounds, 9 cut short) (stopped: ${WHY})`);
  assertStringIncludes(stdout, "1 failed · 4 skipped");
});

Deno.test("a job that has nothing left to begin ends as it would", async () => {
  const { code, stdout } = await run(flow(BAD, jobOf("other", get("/held"))), 1);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "\nSteps      2 passed · 1 failed (3)\n");
});

Deno.test("a failed job is one that no step of it has failed, too", async () => {
  const { code, seen } = await runAt(
    flow(
      jobOf("bad", get("/bad"), "    skipif: outputs.nothing.here\n"),
      jobOf("next", get("/next"), "    needs: [first]\n"),
      jobOf("first", get("/meet/x/1")),
    ),
    ["--fail-fast"],
  );
  assertEquals([code, seen.includes("/next")], [1, false]);
});

Deno.test("a failed attempt that is retried is no failure", async () => {
  const retry = ", retry: {max_attempts: 3}";
  const { code, seen } = await runAt(
    flow(
      jobOf(
        "a",
        get("/flaky/x/3", retry) + get("/end"),
      ),
    ),
    ["--fail-fast"],
  );
  assertEquals([code, seen.at(-1)], [0, "/end"]);
});

const flowOf = (steps: string, fields = "") =>
  `name: Strict\njobs:\n  - name: j\n${fields}    steps: [${steps}]\n`;

const runStrictly = (flow: string) =>
  withFiles({ "w.yml": flow }, (cwd) => runMain(["--strict", "w.yml"], { cwd }));

Deno.test("--strict accepts a run without warnings whose steps succeed", async () => {
  const { code, stderr } = await runStrictly(flowOf("{uses: hello}"));
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("--strict makes warnings about the file errors, and runs nothing", async () => {
  const { code, stdout, stderr } = await runStrictly(flowOf("{uses: hello, outputs: {a: status}}"));
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^runner: error: 'w.yml' has 1 warning, which --strict makes errors?\n/);
  assertMatch(stderr, /w\.yml:4:\d+: error: /);
});

Deno.test("--strict fails a run in which no step runs, and says so", async () => {
  const { code, stdout } = await runStrictly(flowOf("{uses: hello}", "    skipif: 1 == 1\n"));
  assertEquals(code, 1);
  assertStringIncludes(stdout, "\nReason     --strict: no step was run\n");
});

Deno.test("--strict fails a run that warns while it runs", async () => {
  const dead = '{uses: shell, with: {cmd: "exit 2", background: true}}';
  const wait = '{uses: http, with: {get: "{url}"}}';
  const flow = flowOf(`${dead}, ${wait}`);
  const { code, stdout, stderr } = await runUntilPrinted("exit code 2", flow, ["--strict"]);
  assertEquals(code, 1);
  assertMatch(stderr, /in the background ended with exit code 2/);
  assertStringIncludes(stdout, "\nReason     --strict: 1 warning\n");
});

const FLOW = `name: n
vars: { user: "{{ random_str(20) }}" }
jobs:
- name: parallel
  repeat: { count: 3, async: true }
  steps:
  - uses: echo
    with: { message: "{{repeat_index}}: {{uuid()}} {{random_int(1000000)}} {{vars.user}}" }
    test: res.message contains "none"
- name: other
  steps:
  - uses: echo
    with: { message: "other: {{uuid()}}" }
    test: res.message contains "none"
`;

/** Returns the random values of the steps, by their places. */
function drawn(text: string): string[] {
  return [...new Set(text.match(/(?:\d|other): [\da-f]{8}-[^"\s]*(?: \d+ \w{20})?/g))].sort();
}

Deno.test("a failed run prints the seed that repeats its random values, whatever runs first", async () => {
  await withFiles({ "w.yml": FLOW }, async (cwd) => {
    const first = await runMain(["w.yml"], { cwd });
    assertEquals([first.code, drawn(first.stdout).length], [1, 4], first.stdout);
    const [, seed = ""] = /random values: --seed=(\w+) repeats them\n$/.exec(first.stderr) ?? [];
    const again = await runMain([`--seed=${seed}`, "--jobs", "1", "w.yml"], { cwd });
    assertEquals(drawn(again.stdout), drawn(first.stdout));
    const other = await runMain(["w.yml"], { cwd });
    assertNotEquals(drawn(other.stdout), drawn(first.stdout));
    const named = await runMain(["--seed", "it's 1", "w.yml"], { cwd });
    assertMatch(named.stderr, /random values: --seed='it'\\''s 1' repeats them\n$/);
  });
});

Deno.test("a seed is printed only where something was drawn and failed", async () => {
  const step = (test: string) =>
    `name: n\njobs:\n- name: j\n  steps:\n  - uses: hello\n    test: ${test}\n`;
  const files = { "a.yml": step("1 == 2"), "b.yml": step("len(uuid()) == 36") };
  await withFiles(files, async (cwd) => {
    for (const file of Object.keys(files)) {
      assertEquals((await runMain([file], { cwd })).stderr, "", file);
    }
  });
});

Deno.test("a seed repeats the random values of several workflows, each of which has its own", async () => {
  await withFiles({ "a.yml": FLOW, "b.yml": FLOW }, async (cwd) => {
    const first = await runMain(["--seed=42", "a.yml", "b.yml"], { cwd });
    assertEquals([first.code, drawn(first.stdout).length], [1, 8], first.stdout);
    assertMatch(first.stderr, /--seed=42 repeats them\n$/);
    const again = await runMain(["--seed=42", "b.yml", "a.yml"], { cwd });
    assertEquals(drawn(again.stdout), drawn(first.stdout));
  });
});

const GOOD = `name: Quiet
jobs:
  - name: fine
    steps:
      - {name: says, uses: echo, with: {message: hi}, echo: "something to say"}
`;

const QUIET_BAD = `${GOOD}  - name: steps
    steps:
      - {name: wrong, uses: hello, test: 1 == 2}
      - {name: right, uses: hello, test: 1 == 1}
  - name: rounds
    repeat: {count: 4}
    steps:
      - {name: sometimes, uses: hello, test: repeat_index != 2}
  - name: never
    skipif: vars.nothing.at.all
    steps:
      - uses: hello
`;

function printed(flow: string, ...args: string[]) {
  return withFiles({ "w.yml": flow }, (cwd) => runMain([...args, "w.yml"], { cwd }));
}

Deno.test("--quiet prints the summary alone where nothing failed", async () => {
  for (const args of [["-q"], ["--quiet", "--output=spinner"], ["-q", "--output", "stream"]]) {
    const { code, stdout, stderr } = await printed(GOOD, ...args);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^✓ Quiet\nJobs {7}1 passed \(1\)\nSteps .*\nTime {7}[\d.]+m?s\n$/);
  }
});

Deno.test("--quiet prints what failed: steps, rounds and jobs", async () => {
  const { code, stdout } = await printed(QUIET_BAD, "-q", "--no-check");
  assertEquals(code, 1);
  const titles = stdout.split("\n").filter((line) => line.startsWith("✗"));
  assertEquals(titles.toSorted(), [
    "✗ Quiet",
    "✗ never",
    "✗ rounds › sometimes: failed once, at repeat_index 2",
    "✗ steps › wrong",
  ]);
  assertStringIncludes(stdout, "  w.yml:8:42: test is false\n");
  assert(!/says|something|right|fine/.test(stdout.replace(/^ +\d+ \|.*$/gm, "")), stdout);
  assertMatch(
    stdout,
    /\n✗ Quiet\nJobs {7}\d+ passed · 3 failed \(\d+\)\nSteps .* · 2 failed · .*\nTime .*\n$/,
  );
});

Deno.test("--quiet leaves what --timing asks for", async () => {
  const { stdout } = await printed(GOOD, "-q", "--timing");
  assertMatch(
    stdout,
    /^Slowest steps\n +[\d.]+m?s {2}fine › says\nCritical path .*\n {2}fine\n\n✓ Quiet\n/,
  );
});

Deno.test("--quiet and --verbose cannot be combined, --quiet and a log level do", async () => {
  for (const args of [["-q", "-v"], ["--verbose", "--quiet"], ["-qv"]]) {
    const { code, stdout, stderr } = await printed(GOOD, ...args);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "options --quiet and --verbose cannot be combined");
  }
  await withFiles({ "w.yml": GOOD }, async (cwd) => {
    const env = { RUNNER_LOG_LEVEL: "debug" };
    const { code, stdout, stderr } = await runMain(["-q", "w.yml"], { cwd, env });
    assertEquals([code, stdout.split("\n").length], [0, 5]);
    assertStringIncludes(stderr, "fine › says");
  });
});

/** A workflow with something to warn of when it is loaded. */
const WARNING =
  "name: n\njobs:\n  - name: j\n    steps:\n      - uses: hello\n        outputs: { a: status }\n";
const WARNED = "outputs of a step without id are lost";
/** A message that is printed only with details. */
const DETAIL = "j › hello: started (hello)";

function runner(level: string, args: readonly string[] = ["flow.yml"], flow = WARNING) {
  const env = { RUNNER_LOG_LEVEL: level };
  return withFiles({ "flow.yml": flow }, (cwd) => runMain(args, { cwd, env }));
}

Deno.test("RUNNER_LOG_LEVEL selects the messages on standard error", async (test) => {
  const table: [level: string, args: string[], warned: boolean, details: boolean][] = [
    ["debug", [], true, true],
    ["info", [], true, false],
    ["", [], true, false],
    ["warn", [], true, false],
    ["error", [], false, false],
    ["error", ["-v"], true, true],
    ["nonsense", ["-v"], true, true],
  ];
  for (const [level, args, warned, details] of table) {
    await test.step([level, ...args].join(" "), async () => {
      const { code, stdout, stderr } = await runner(level, [...args, "flow.yml"]);
      assertEquals(code, 0);
      assertPassed(stdout);
      assertEquals([stderr.includes(WARNED), stderr.includes(DETAIL)], [warned, details], stderr);
    });
  }
});

Deno.test("errors are printed at every level", async () => {
  const { code, stderr } = await runner("error", ["flow.yml"], "name: n\n");
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'the workflow needs "jobs"');
});

Deno.test("RUNNER_LOG_LEVEL holds for dag too", async () => {
  assertStringIncludes((await runner("warn", ["dag", "flow.yml"])).stderr, WARNED);
  const { code, stderr } = await runner("error", ["dag", "flow.yml"]);
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("a level that there is not is an error, and nothing is run", async () => {
  for (const args of [["flow.yml"], ["dag", "flow.yml"]]) {
    const { code, stdout, stderr } = await runner("wran", args);
    assertEquals([code, stdout], [1, ""]);
    assertEquals(
      stderr,
      'runner: error: invalid value "wran" for RUNNER_LOG_LEVEL\n  did you mean "warn"?\n',
    );
  }
});

const WORKFLOW = `name: n
jobs:
  - {name: a, id: a, steps: [{uses: hello, test: "true"}, {uses: hello}, {uses: hello, test: 1 == 2}]}
  - {name: b, needs: [a], steps: [{uses: hello}]}
`;

const LONG = `name: n
jobs: [{name: j, steps: [{uses: echo, with: {message: "${"x".repeat(300)}"}, tets: 1}]}]
`;

const FILES = {
  "w.yml": WORKFLOW,
  "long.yml": LONG,
  "wrong.yml": LONG.replace("uses: echo", "uses: ecko"),
  "name.yml": WORKFLOW.replace("name: a,", 'name: "€–",'),
};

const LOCALES: readonly (readonly [env: Record<string, string>, isAscii: boolean])[] = [
  [{ LANG: "" }, false],
  [{ LANG: "C" }, true],
  [{ LANG: "POSIX" }, true],
  [{ LANG: "en_US.ISO-8859-1" }, true],
  [{ LANG: "de_DE.utf8" }, false],
  [{ LANG: "C", LC_CTYPE: "C.UTF-8" }, false],
  [{ LANG: "C.UTF-8", LC_CTYPE: "C.UTF-8", LC_ALL: "C" }, true],
  [{ LANG: "C.UTF-8", LC_ALL: "", TERM: "dumb" }, true],
];

for (const [env, isAscii] of LOCALES) {
  Deno.test(`signs are ${isAscii ? "" : "not "}ASCII with ${JSON.stringify(env)}`, async () => {
    await withFiles(FILES, async (cwd) => {
      for (const args of [["w.yml"], ["-v", "w.yml"], ["dag", "w.yml"]]) {
        const { stdout, stderr } = await runMain(args, { cwd, env });
        // deno-lint-ignore no-control-regex
        assertEquals(/^[\x00-\x7f]*$/.test(stdout + stderr), isAscii, stdout + stderr);
      }
      for (const args of [["check", "long.yml"], ["wrong.yml"], ["--dry-run", "wrong.yml"]]) {
        const { stdout, stderr } = await runMain(args, { cwd, env });
        assertEquals((stdout + stderr).includes("…"), !isAscii, stdout + stderr);
      }
      // Their own text has no signs, and the text of a workflow stays as it is.
      for (const args of [["--list", "name.yml"], ["--dry-run", "name.yml"]]) {
        assertEquals((await runMain(args, { cwd, env })).stdout.includes("€–"), true);
      }
      const json = await runMain(["--report", "json=-", "w.yml"], { cwd, env });
      assertEquals(JSON.parse(json.stdout).state, "failed");
    });
  });
}

Deno.test("explainError() shows every error of a file, however many there are", () => {
  const diagnostics = Array.from({ length: 150_000 }, () => ({
    severity: "error" as const,
    code: "unknown-action",
    message: 'unknown action "helo"',
  }));
  const text = explainError(
    new LoadError("workflow file 'a.yml' has errors", diagnostics),
    denoHost(),
  );
  assertEquals(text.split('unknown action "helo"').length - 1, diagnostics.length);
});

Deno.test("file.yml:LINE runs the job at that line, with what it needs", async () => {
  const step = "  steps: [{ uses: hello }]\n";
  const files = {
    "w.yml": `name: n\njobs:\n- id: a\n  name: a\n${step}` +
      `- id: b\n  name: b\n  needs: [a]\n${step}` +
      `# the last one\n- id: c\n  name: c\n${step}finally: [{ uses: hello }]\n`,
    "w.yml:7": `name: other\njobs: [{ id: x, name: x, steps: [{ uses: hello }] }]\n`,
  };
  await withFiles(files, async (cwd) => {
    const jobsOf = async (...args: string[]) => {
      const { stdout, stderr } = await runMain(["--list", ...args], { cwd });
      return stdout.match(/^\w+/gm)?.join(" ") ?? stderr;
    };
    assertEquals(await jobsOf("w.yml:4"), "a cleanup");
    assertEquals(await jobsOf("w.yml:9"), "a b cleanup");
    assertEquals(await jobsOf("w.yml:12"), "c cleanup");
    assertEquals(await jobsOf("w.yml:7"), "x");
    for (const line of [14, 99]) {
      const expected = `runner: error: no job is at line ${line} of 'w.yml'\n` +
        "  jobs begin: a at 3, b at 6, c at 11\n";
      assertEquals(await jobsOf(`w.yml:${line}`), expected);
    }
  });
});

/** Answers the questions of a run, on a terminal; each answer may have an effect before it. */
function terminal(...answers: readonly (string | undefined | (() => string))[]) {
  const stderr = new Screen();
  const left = [...answers];
  const ask = (question: string) => {
    const next = left.shift();
    const answer = typeof next === "function" ? next() : next;
    stderr.write(`${question}${answer ?? "^D"}\n`);
    return Promise.resolve(answer);
  };
  const readKeys = () => Promise.resolve(() => {});
  return { host: { stderr, stdin: { isTerminal: true, ask, readKeys } }, stderr, left };
}

class Screen extends Collected {
  override readonly isTerminal = true;
}

const PAUSED = `name: n
vars: { api_token: "{{API_TOKEN}}" }
jobs:
  - id: a
    name: a
    finally: [{ name: clean, uses: hello }]
    steps:
      - name: read
        id: read
        uses: shell
        with: { cmd: "cat state.txt; echo {{vars.api_token}}" }
        test: res.stdout startsWith "ready"
        outputs: { state: res.stdout }
      - { name: after, uses: hello }
`;

Deno.test("--pause-on-failure shows values without secrets, and runs the step again until it passes", async () => {
  await withFiles({ "w.yml": PAUSED, "state.txt": "busy\n" }, async (cwd) => {
    const { host, stderr, left } = terminal("res.code", "vars", "res.nope.x", "1 +", "r", () => {
      Deno.writeTextFileSync(`${cwd}/state.txt`, "ready\n");
      return "r";
    });
    const { code, stdout } = await runHere(["--pause-on-failure", "w.yml"], {
      cwd,
      env: { API_TOKEN: "very-secret-token" },
    }, host);
    assertEquals([code, left], [0, []], stdout + stderr.text);
    assertStringIncludes(stderr.text, "✗ read failed (job a)\nw.yml:12:15: test is false");
    assertStringIncludes(stderr.text, "failed> res.code\n0\n");
    assertStringIncludes(stderr.text, 'failed> vars\n{"api_token": "***"}\n');
    assertStringIncludes(stderr.text, 'failed> res.nope.x\nres has no "nope"');
    assertStringIncludes(stderr.text, "failed> 1 +\nunexpected end of the expression");
    assertEquals(stderr.text.includes("very-secret"), false);
    assertStringIncludes(stdout, "✓ read ↻ 3/3 flaky");
  });
});

const ways = [
  ["c", "○ after"],
  ["q", 'skipped: not started: stopped after "read" failed'],
  [undefined, 'skipped: not started: stopped after "read" failed'],
] as const;
for (const [answer, next] of ways) {
  Deno.test(`--pause-on-failure goes on after ${answer ?? "Ctrl-D"}, and always cleans up`, async () => {
    await withFiles({ "w.yml": PAUSED, "state.txt": "busy\n" }, async (cwd) => {
      const { host, stderr } = terminal(answer);
      const env = { API_TOKEN: "very-secret-token" };
      const run = await runHere(["--pause-on-failure", "w.yml"], { cwd, env }, host);
      assertEquals(run.code, 1, stderr.text);
      assertStringIncludes(run.stdout, next);
      assertStringIncludes(run.stdout, "○ cleanup: clean");
    });
  });
}

Deno.test("--pause-on-failure requires a terminal", async () => {
  await withFiles({ "w.yml": PAUSED }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["--pause-on-failure", "w.yml"], { cwd });
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "error: --pause-on-failure requires a terminal");
  });
});
