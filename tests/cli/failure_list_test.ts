import { assertEquals } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** The report of a workflow of one job. */
function stepsOf(steps: string) {
  const workflow = `name: n\njobs:\n  - name: j\n    steps:\n${steps}`;
  return withFiles({ "w.yml": workflow }, (cwd) => runMain(["w.yml"], { cwd }));
}

Deno.test("a server that is down is one failure, with a line for each step that it took down", async () => {
  const steps = ["log in", "buy", "pay"].map((name) =>
    `      - {name: ${name}, uses: http, with: {get: "http://127.0.0.1:1/${name[0]}"}}\n`
  );
  const { code, stdout } = await stepsOf(
    steps.join("") +
      '      - {name: other, uses: hello, test: "1 == 2"}\n',
  );
  assertEquals(code, 1);
  const list = stdout.slice(stdout.indexOf("Failures\n")).split("\n");
  assertEquals(list.slice(1, -3), [
    "  1. j › log in   w.yml:5:30",
    '     cannot send GET "http://127.0.0.1:1/l": 127.0.0.1 port 1 refused the connection (ECONNREFUSED)',
    "     hint: is the server running there?",
    "     also failed: j › buy   w.yml:6:27",
    "     also failed: j › pay   w.yml:7:27",
    "  2. j › other   w.yml:8:43",
    "     test is false",
  ]);
  assertEquals(/✗ (.*)\n$/.exec(stdout)?.[1], "1 job failed; 4 steps failed");
});
