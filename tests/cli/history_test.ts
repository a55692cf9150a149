import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const workflow = (test: string) => `
name: Shop
vars: { password: "{{SHOP_PASSWORD}}" }
jobs:
  - name: Products
    steps:
      - { name: always good, uses: hello, test: "true" }
      - { name: "now and then {{vars.password}}", uses: hello, test: ${test} }
`;

const ARGS = ["--report", "html=report.html", "--history", "history", "w.yml"];

/** Names of the files of a history, the oldest first. */
async function runsIn(directory: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(directory)) names.push(name);
  return names.filter((name) => name.startsWith("run-")).sort();
}

/** The text of the part of a page about its history. */
async function historyPart(cwd: string): Promise<string> {
  const page = await Deno.readTextFile(`${cwd}/report.html`);
  const start = page.indexOf('<details id="history-part"');
  assert(start >= 0, "the page has no history");
  return page.slice(start, page.indexOf("</details>", start));
}

/** The file of a run of `w.yml`. */
function fileOf(started: number, state: "passed" | "failed"): string {
  const tests = [["Products › always good", "passed", 1]];
  const run = { started, duration: 5, state, isPartial: false, tests };
  return JSON.stringify({ schema: "runner-history/1", subject: "w.yml", ...run });
}

Deno.test("--history shows earlier runs, and the tests that changed their state", () =>
  withFiles({ "w.yml": workflow("'true'") }, async (cwd) => {
    const run = () => runMain(ARGS, { cwd, env: { SHOP_PASSWORD: "s3cr3t-word" } });
    assertEquals((await run()).code, 0);
    assertStringIncludes(await historyPart(cwd), "This is the first run in the history");
    await Deno.writeTextFile(`${cwd}/w.yml`, workflow("'false'"));
    assertEquals((await run()).code, 1);
    const part = await historyPart(cwd);
    assertStringIncludes(part, "History: 2 runs, 1 flaky test");
    assertStringIncludes(part, "<td>Products › now and then {{vars.password}}</td>");
    assertStringIncludes(part, 'aria-label="passed, failed"');
    const page = await Deno.readTextFile(`${cwd}/report.html`);
    assertStringIncludes(page, 'aria-label="Last 2 runs: 1 failed"');
    const [first, second] = await runsIn(`${cwd}/history`);
    assertMatch(first!, /^run-\d{8}T\d{9}Z-[\da-f]{8}\.json$/);
    for (const name of [first, second]) {
      const text = await Deno.readTextFile(`${cwd}/history/${name}`);
      assert(!text.includes("s3cr3t-word"), text);
      assert(text.length < 1000, text);
    }
  }));

Deno.test("--history counts a test that needed retries as flaky", () => {
  const flaky = `
name: n
jobs:
  - name: j
    steps:
      - name: twice
        uses: shell
        with: { cmd: "[ -e made ] || { touch made; exit 1; }" }
        test: res.code == 0
        retry: { max_attempts: 2, interval: 1ms }
`;
  return withFiles({ "w.yml": flaky }, async (cwd) => {
    for (const expected of ["first run", 'aria-label="flaky, passed"']) {
      assertEquals((await runMain(ARGS, { cwd })).code, 0);
      assertStringIncludes(await historyPart(cwd), expected);
    }
  });
});

Deno.test("--history ignores what is not a run, with a warning, and leaves it alone", () => {
  const files = {
    "w.yml": workflow("'true'"),
    "history/broken.json": "{",
    "history/foreign.json": '{"schema": "other/1"}',
    "history/notes.txt": "remember",
    "history/wrong.json": '{"schema":"runner-history/1","subject":"w.yml","started":"now"}',
    "history/.gitkeep": "",
    "history/run-1.json": fileOf(1000, "failed"),
  };
  return withFiles(files, async (cwd) => {
    await Deno.symlink("itself", `${cwd}/history/itself`);
    const { code, stderr } = await runMain(ARGS, { cwd });
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stderr,
      "ignored in the history 'history': broken.json, foreign.json, notes.txt, … (4 files)",
    );
    assertStringIncludes(await historyPart(cwd), "History: 2 runs, no flaky tests");
    for (const [name, text] of Object.entries(files)) {
      assertEquals(await Deno.readTextFile(`${cwd}/${name}`), text);
    }
  });
});

Deno.test("--history keeps 50 runs of each workflow", () => {
  const files: Record<string, string> = { "w.yml": workflow("'true'") };
  for (let number = 0; number < 55; number++) {
    files[`history/run-${String(number).padStart(2, "0")}.json`] = fileOf(number, "passed");
  }
  files["history/run-other.json"] = fileOf(0, "passed").replace("w.yml", "other.yml");
  return withFiles(files, async (cwd) => {
    assertEquals((await runMain(ARGS, { cwd })).code, 0);
    assertStringIncludes(await historyPart(cwd), "History: 50 runs");
    const left = await runsIn(`${cwd}/history`);
    assertEquals(left.length, 51);
    assertEquals([left[0], left.at(-1)], ["run-06.json", "run-other.json"]);
  });
});

Deno.test("two runs at once are both in the history", () =>
  withFiles({ "w.yml": workflow("'true'") }, async (cwd) => {
    const args = ["--history", "history", "w.yml"];
    const results = await Promise.all([1, 2, 3].map(() => runMain(args, { cwd })));
    assertEquals(results.map(({ code }) => code), [0, 0, 0]);
    assertEquals((await runsIn(`${cwd}/history`)).length, 3);
  }));

Deno.test("--history is about the whole of a suite", () => {
  const files = { "flows/a.yml": workflow("'true'"), "flows/b.yml": workflow("'false'") };
  return withFiles(files, async (cwd) => {
    const args = ["--report", "html=report.html", "--history", "history", "flows"];
    for (const expected of ["first run", "History: 2 runs, no flaky tests"]) {
      assertEquals((await runMain(args, { cwd })).code, 1);
      assertStringIncludes(await historyPart(cwd), expected);
    }
    const [name] = await runsIn(`${cwd}/history`);
    const { tests, state } = JSON.parse(await Deno.readTextFile(`${cwd}/history/${name}`));
    assertEquals([state, tests.length], ["failed", 4]);
    assertEquals(tests[3].slice(0, 2), [
      "flows/b.yml › Products › now and then {{vars.password}}",
      "failed",
    ]);
  });
});

Deno.test("--history needs a directory that can be written, and something to run", () =>
  withFiles({ "w.yml": workflow("'true'"), "history": "a file" }, async (cwd) => {
    const { code, stderr } = await runMain(ARGS, { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "cannot write the history 'history': ");
    const listed = await runMain(["--history", "h", "--list", "w.yml"], { cwd });
    assertEquals(listed.code, 1);
    assertStringIncludes(listed.stderr, "--list runs nothing, so there is nothing to keep");
  }));
