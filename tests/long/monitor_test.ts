import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { RepeatedRun } from "../support/run/repeated_run.ts";
import { theProgram } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** A run of three fails, another step each time, and its times differ. */
const WORKFLOW = `name: W
jobs:
  - name: Shop
    steps:
      - { name: count, uses: hello, test: (run.previous?.outputs.n.n ?? 0) % 3 != 2 }
      - { id: n, uses: hello, outputs: { n: (run.previous?.outputs.n.n ?? 0) + 1 } }
      - { name: say, uses: echo, with: { message: "{{random_str(100)}}" } }
  - { name: Store, steps: [{ uses: hello, test: "true" }] }
finally:
  - { name: tell the team, uses: hello, skipif: run.state == "passed" }
`;

Deno.test("10,000 runs of --serve take the memory of 1,000", () =>
  withFiles({ "w.yml": WORKFLOW }, async (cwd) => {
    const used = new Map<number, number>();
    let problem: unknown;
    const run = new RepeatedRun(async (count, run) => {
      if (count % 1000 !== 0) return;
      try {
        for (const path of ["/", "/metrics", "/report", "/report?last=failed"]) {
          assertEquals((await run.get(path)).status, 200);
        }
        assertEquals((await run.get("/health")).body, "ok\n");
        // What the test itself keeps.
        run.stdout.text = "";
        collect();
        used.set(count, Deno.memoryUsage().heapUsed);
      } catch (error) {
        problem = error;
      }
      if (count === 10_000 || problem) run.send("SIGTERM");
    });
    assertEquals((await run.run(cwd, "--serve", "0")).code, 0);
    if (problem) throw problem;
    const [few, many] = [used.get(2000)!, used.get(10_000)!];
    // The week fills up, and so do the histograms; records of runs that were kept would take 80 MB.
    assert(many - few < 8e6, JSON.stringify([...used]));
  }));

Deno.test("1,000 runs at 10ms with --serve fit into a small heap", () =>
  withFiles({ "w.yml": WORKFLOW }, async (cwd) => {
    const [program, [run, ...args]] = theProgram();
    const child = new Deno.Command(program, {
      args: [run!, "--v8-flags=--max-old-space-size=50", ...args, "--every", "10ms"]
        .concat("--serve", "0", "w.yml"),
      cwd,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const printed = new Response(child.stderr).text();
    let runs = 0;
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      runs += text.split(/Z {2}(?:passed|failed) {2}/).length - 1;
      if (runs >= 1000) {
        child.kill("SIGTERM");
        break;
      }
    }
    assertEquals((await child.status).code, 0);
    assert(runs >= 1000, `${runs}`);
    assertStringIncludes(await printed, "serving http");
  }));
