import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

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
