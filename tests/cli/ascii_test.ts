import { assertEquals } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

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
