import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const GOOD = `name: Quiet
jobs:
  - name: fine
    steps:
      - {name: says, uses: echo, with: {message: hi}, echo: "something to say"}
`;

const BAD = `${GOOD}  - name: steps
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

Deno.test("--quiet prints the last line alone where nothing failed", async () => {
  for (const args of [["-q"], ["--quiet", "--output=spinner"], ["-q", "--output", "stream"]]) {
    const { code, stdout, stderr } = await printed(GOOD, ...args);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^Quiet: Total workflow time: [\d.]+m?s ✓ All jobs succeeded \(.*\)\n$/);
  }
});

Deno.test("the last line is yellow and names steps that were unsuccessful and not tested", async () => {
  const files = {
    "d/w.yml": `name: W
jobs:
  - name: a
    id: a
    repeat: { count: 2 }
    steps:
      - { name: gate, uses: shell, with: { cmd: exit 3 } }
      - { name: good, uses: hello, test: true }
  - name: b
    needs: [a]
    steps: [{ name: inner, uses: embedded, with: { path: j.yml } }]
`,
    "d/j.yml": "name: j\nsteps: [{ name: build, uses: shell, with: { cmd: exit 4 } }]\n",
  };
  const warning = (around: string) =>
    `⚠ 3 steps were unsuccessful and nothing tests them: ${around}gate (exit 3), ` +
    `${around}inner › build (exit 4); --strict fails the run\u001b[39m`;
  await withFiles(files, async (cwd) => {
    for (const args of [["d/w.yml"], ["-q", "d/w.yml"], ["d"], ["-q", "d"]]) {
      const { code, stdout } = await runMain(args, { cwd, env: { FORCE_COLOR: "1" } });
      const around = args.includes("d") ? "W › " : "";
      assertEquals(code, 0);
      assertStringIncludes(stdout.trimEnd().split("\n").at(-1)!, `\u001b[33m${warning(around)}`);
      assert(!stdout.includes("All jobs succeeded"));
    }
  });
});

Deno.test("--quiet prints what failed: steps, rounds and jobs", async () => {
  const { code, stdout } = await printed(BAD, "-q", "--no-check");
  assertEquals(code, 1);
  const titles = stdout.split("\n").filter((line) => line.startsWith("✗"));
  assertEquals(titles.toSorted(), [
    "✗ never",
    "✗ rounds › sometimes: failed once, at repeat_index 2",
    "✗ steps › wrong",
  ]);
  assertStringIncludes(stdout, "  w.yml:8:42: test is false\n");
  assert(!/says|something|right|fine/.test(stdout.replace(/^ +\d+ \|.*$/gm, "")), stdout);
  assertMatch(
    stdout,
    /\nQuiet: Total workflow time: .* ✗ 3 jobs failed; \d+ steps: .*, 2 failed, .*\n$/,
  );
});

Deno.test("--quiet leaves what --timing asks for", async () => {
  const { stdout } = await printed(GOOD, "-q", "--timing");
  assertMatch(
    stdout,
    /^Slowest steps\n +[\d.]+m?s {2}fine › says\nCritical path .*\n {2}fine\n\nQuiet: Total workflow time/,
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
    assertEquals([code, stdout.split("\n").length], [0, 2]);
    assertStringIncludes(stderr, "fine › says");
  });
});
