import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { denoHost } from "../../src/host/deno_host.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A workflow whose run passes, and says in `finally` what it knows of those before. */
const WATCH = `name: Watch
vars: { code: 0, db_password: hunter2hunter2 }
jobs:
  - name: Shop
    steps:
      - id: count
        uses: hello
        test: res.status == vars.code
        outputs: { n: '(run.previous?.outputs.count?.n ?? 0) + 1', token: '"tell nobody"', text: '"a " + vars.db_password' }
finally:
  - uses: hello
    echo: "{{run.state}} {{run.streak}} after {{run.previous?.state}} {{run.previous?.streak}}: {{run.previous?.outputs.count.n}} {{len(run.failures)}}"
`;

/** What the steps of a run saw. */
async function seenIn(cwd: string, ...args: string[]) {
  const { stdout } = await runMain(["--state", "shop.json", ...args], { cwd });
  return stdout.split("\n").filter((line) => line.includes("after")).map((line) => line.trim());
}

function stateIn(cwd: string) {
  return JSON.parse(Deno.readTextFileSync(`${cwd}/shop.json`));
}

Deno.test("--state remembers how runs ended, how often, and their outputs", async () => {
  await withFiles({ "w.yml": WATCH }, async (cwd) => {
    const fails = ["--var", "code=1", "w.yml"];
    const seen = [];
    for (const args of [["w.yml"], ["w.yml"], fails, fails, fails, ["w.yml"]]) {
      seen.push(...await seenIn(cwd, ...args));
    }
    assertEquals(
      seen,
      [
        "passed 1 after  : nil 0",
        "passed 2 after passed 1: 1 0",
        "failed 1 after passed 2: 2 1",
        "failed 2 after failed 1: 3 1",
        "failed 3 after failed 2: 4 1",
        "passed 1 after failed 3: 5 0",
      ].map((line) => line.replace("  :", " nil nil:")),
    );
    const { schema, runs: { "w.yml": run } } = stateIn(cwd);
    assertEquals(schema, "runner-state/1");
    assertEquals([run.state, run.streak, run.failures], ["passed", 1, []]);
    // Neither what has the name of a secret nor what holds one.
    assertEquals(run.outputs, { count: { n: 6 } });
    assertMatch(run.since, /^\d{4}-\d\d-\d\dT/);
    if (Deno.build.os !== "windows") {
      assertEquals(Deno.statSync(`${cwd}/shop.json`).mode! & 0o777, 0o600);
    }
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name).sort(), ["shop.json", "w.yml"]);
  });
});

Deno.test("a state has the failures of the run, without secrets", async () => {
  const files = {
    "w.yml": WATCH.replace("res.status == vars.code", "vars.db_password == string(res.status)"),
  };
  await withFiles({ ...files, "shop.json": "" }, async (cwd) => {
    Deno.removeSync(`${cwd}/shop.json`);
    await seenIn(cwd, "--no-check", "w.yml");
    const { failures: [failure] } = stateIn(cwd).runs["w.yml"];
    assertEquals([failure.job, failure.file, failure.line], ["Shop", "w.yml", 8]);
    assertEquals(
      failure.message,
      'test is false: vars.db_password is "***" (string), string(res.status) is "0" (string)',
    );
    assertEquals(Deno.readTextFileSync(`${cwd}/shop.json`).includes("hunter2"), false);
  });
});

Deno.test("what is no state file is not replaced", async () => {
  const run = { state: "passed", streak: 1, since: "", duration: 1, failures: [], outputs: {} };
  const kept = (run: object) =>
    JSON.stringify({ schema: "runner-state/1", runs: { "w.yml": run } });
  const damaged = ["", "{", "[]", '{"schema":"other/1","runs":{}}', '{"schema":"runner-state/1"}'];
  const wrong = [{ state: "?" }, { streak: 1.5 }, { since: 1 }, { duration: "" }, { outputs: [] }];
  for (const text of [...damaged, ...wrong.map((part) => kept({ ...run, ...part }))]) {
    await withFiles({ "w.yml": WATCH, "shop.json": text }, async (cwd) => {
      const { code, stdout, stderr } = await runMain(["--state", "shop.json", "w.yml"], { cwd });
      assertEquals([code, stdout], [1, ""]);
      assertStringIncludes(stderr, "'shop.json' is not a state file: it is damaged, or of another");
      assertEquals(Deno.readTextFileSync(`${cwd}/shop.json`), text);
    });
  }
});

Deno.test("two runs at once do not share a state", async () => {
  await withFiles({ "w.yml": WATCH }, async (cwd) => {
    const lock = await denoHost().files.lock(`${cwd}/shop.json.lock`);
    const { code, stderr } = await runMain(["--state", "shop.json", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stderr, `the state 'shop.json' is in use by process ${Deno.pid}`);
    if ("release" in lock) lock.release();
    assertEquals((await seenIn(cwd, "w.yml")).length, 1);
  });
});

Deno.test("a state that cannot be written is reported before anything runs", async () => {
  await withFiles({ "w.yml": WATCH, file: "" }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["--state", "file/x.json", "w.yml"], { cwd });
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "cannot write the state 'file/x.json': ");
  });
});

Deno.test("the teardown of a suite sees the state of the suite", async () => {
  const files = {
    "a.yml": WATCH,
    "b.yml": WATCH.replace("name: Watch", "name: Other").replace("code: 0", "code: 1"),
    "end.yml": `name: End
jobs:
  - name: end
    steps: [{ uses: hello, echo: "end {{run.state}} {{run.streak}} after {{run.previous?.state}} {{run.failures[0].step}}" }]
`,
    "last.yml":
      "name: Last\njobs: [{ name: last, steps: [{ uses: hello, test: res.status == 1 }] }]\n",
    "suite.yml": "name: S\nworkflows: [a.yml, b.yml]\nteardown: [last.yml, end.yml, last.yml]\n",
  };
  await withFiles(files, async (cwd) => {
    const seen = async () => (await seenIn(cwd, "-v", "--workers", "1", "suite.yml"));
    await seen();
    assertEquals(await seen(), [
      "passed 2 after passed 1: 1 0",
      "failed 2 after failed 1: 1 1",
      "end failed 2 after failed hello",
    ]);
    const { runs } = stateIn(cwd);
    assertEquals(Object.keys(runs), ["a.yml", "b.yml", "suite S"]);
    const { failures } = runs["suite S"];
    assertEquals(failures.map(({ job }: { job: string }) => job), ["Shop", "last", "last"]);
  });
});

Deno.test("--state runs, and remembers nothing of what is only shown", async () => {
  await withFiles({ "w.yml": WATCH }, async (cwd) => {
    const { code, stderr } = await runMain(["--state", "s", "--dry-run", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "--dry-run runs nothing, so there is nothing to remember");
  });
});
