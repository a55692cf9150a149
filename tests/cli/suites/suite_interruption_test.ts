import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withRig } from "../../support/run/rig.ts";
import { startCli } from "../../support/run/run_cli.ts";
import { readDirectory, REPORT_FILES } from "../../support/run/run_reports.ts";
import { withFiles } from "../../support/temp_dir.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const get = (path: string) =>
  `{ uses: http, with: { get: "{url}${path}" }, test: res.code == 200 }`;

/** A workflow whose job never ends by itself, and that cleans up. */
function endless(name: string): string {
  return `name: ${name}
jobs:
  - id: work
    name: work
    steps: [${get(`/begun/${name}`)}, ${get(`/hang/${name}`)}, ${get(`/late/${name}`)}]
    finally:
      - ${get(`/clean/${name}/job/{{job.state}}`)}
      - ${get("/status/500")}
  - { name: next, needs: [work], steps: [${get(`/next/${name}`)}] }
finally:
  - ${get(`/clean/${name}/run/{{run.state}}`)}
`;
}

const FILES = {
  "suite.yml": `name: All
workflows: [flows]
setup: setup.yml
teardown: teardown.yml
workers: 2
`,
  "setup.yml": `name: Setup
jobs:
  - name: session
    steps: [{ id: session, uses: http, with: { get: "{url}/setup" }, outputs: { token: res.code } }]
`,
  "teardown.yml": `name: Teardown
jobs: [{ name: session, steps: [${get("/teardown/{{outputs.session.token}}")}] }]
`,
  "flows/a.yml": endless("a"),
  "flows/b.yml": endless("b"),
  "flows/c.yml": endless("c"),
};

for (const signal of ["SIGINT", "SIGTERM", "RUNNER_TIMEOUT"] as const) {
  const env: Record<string, string> = signal === "RUNNER_TIMEOUT" ? { RUNNER_TIMEOUT: "4s" } : {};
  const reason = signal === "RUNNER_TIMEOUT"
    ? "RUNNER_TIMEOUT of 4s is over"
    : `interrupted by ${signal}`;
  Deno.test(`${signal} ends a suite: all that runs cleans up, then teardown, with complete reports`, () =>
    withRig((rig) => {
      const files = Object.fromEntries(
        Object.entries(FILES).map(([name, text]) => [name, text.replaceAll("{url}", rig.url)]),
      );
      return withFiles(files, async (cwd) => {
        const child = startCli(["--report-dir", "reports", "suite.yml"], { cwd, env });
        const output = Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ]);
        await Promise.all([rig.untilSeen("/hang/a"), rig.untilSeen("/hang/b")]);
        if (signal !== "RUNNER_TIMEOUT") child.kill(signal);
        const [{ code }, [stdout, stderr]] = await Promise.all([child.status, output]);
        assertEquals([code, stderr], [1, ""]);

        const seen = rig.seen.filter((path) => !path.startsWith("-"));
        assertEquals(seen[0], "/setup");
        assertEquals(seen.at(-1), "/teardown/200");
        assertEquals(
          seen.filter((path) => path.startsWith("/clean")).sort(),
          ["a", "b"].flatMap((name) => [
            `/clean/${name}/job/interrupted`,
            `/clean/${name}/run/interrupted`,
          ]),
        );
        assert(!seen.some((path) => /late|next|\/c$/.test(path)), String(seen));

        const last = stdout.trimEnd().split("\n").at(-1)!;
        assertStringIncludes(last, "3 workflows: 2 failed, 1 skipped; 10 steps in ");
        assertStringIncludes(last, `✗ ${reason}`);

        const reports = readDirectory(`${cwd}/reports`);
        assertEquals(Object.keys(reports).sort(), [...REPORT_FILES].sort());
        const json = JSON.parse(reports["report.json"]!);
        assertEquals([json.state, json.interrupted], ["failed", reason]);
        assertEquals(
          json.runs.map(({ workflow: { name }, role }: Json) => [
            name,
            role,
          ]),
          [
            ["Setup", "setup"],
            ...["a", "b", "c"].map((name) => [name, undefined]),
            ["Teardown", "teardown"],
          ],
        );
        assertEquals(JSON.parse(reports["ctrf.json"]!).results.summary.failed, 4);
        assert(reports["junit.xml"]!.trimEnd().endsWith("</testsuites>"));
        assert(reports["report.html"]!.trimEnd().endsWith("</html>"));
        const events = reports["events.ndjson"]!.trimEnd().split("\n").map((one) =>
          JSON.parse(one)
        );
        assertEquals(events.at(-1).type, "suite_finished");
      });
    }));
}

Deno.test("a second SIGINT within the cleanup of a suite ends it at once, without teardown", () =>
  withRig((rig) => {
    const work = `name: a
jobs: [{ name: j, steps: [${get("/hang/a")}], finally: [${get("/hang/clean")}] }]
`;
    const suite = "workflows: [flows/a.yml]\nsetup: setup.yml\nteardown: teardown.yml\n";
    const files = Object.entries({ ...FILES, "flows/a.yml": work, "suite.yml": suite })
      .map(([name, text]) => [name, text.replaceAll("{url}", rig.url)]);
    return withFiles(Object.fromEntries(files), async (cwd) => {
      const child = startCli(["suite.yml"], { cwd });
      const output = Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      await rig.untilSeen("/hang/a");
      child.kill("SIGINT");
      await rig.untilSeen("/hang/clean");
      child.kill("SIGINT");
      const { code } = await child.status;
      await output;
      assertEquals(code, 1);
      assertEquals(rig.seen.filter((path) => !path.startsWith("-")), [
        "/setup",
        "/hang/a",
        "/hang/clean",
      ]);
    });
  }));
