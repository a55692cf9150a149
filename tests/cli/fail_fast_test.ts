import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runAt } from "../support/run/run_at.ts";
import { startCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";

const get = (path: string, more = "") =>
  `      - {uses: http, with: {get: "{url}${path}"}, test: res.code == 200${more}}\n`;
const job = (id: string, steps: string, more = "") =>
  `  - name: ${id}\n    id: ${id}\n${more}    steps:\n${steps}`;
/** It fails once the others have got to `/held`. */
const BAD = job("bad", get("/others") + get("/bad"));
const flow = (...jobs: string[]) => "name: n\njobs:\n" + jobs.join("");

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
    job("other", get("/held") + get("/other-later") + get("/again", ", iteration: [{}, {}]")),
    job("dep", get("/dep"), "    needs: [other]\n"),
    job("needs-bad", get("/dep"), "    needs: [bad]\n"),
  );
  const { code, stdout, seen } = await run(yaml, 1);
  assertEquals([code, seen.sort()], [1, ["/bad", "/held", "/others"]]);
  assertStringIncludes(stdout, `   3. - http (skipped: not started: ${WHY})`);
  const other = stdout.slice(stdout.indexOf("● other"));
  assertStringIncludes(other, "   1. ✓ http");
  assertStringIncludes(other, `   2. - http (skipped: not started: ${WHY})`);
  assertStringIncludes(other, `(stopped: ${WHY})`);
  assertStringIncludes(stdout, '- dep (skipped: needs "other", which was skipped)');
  assertStringIncludes(stdout, '- needs-bad (skipped: needs "bad", which failed)');
  assertStringIncludes(stdout, "1 job failed, 3 skipped; 9 steps: 2 passed, 1 failed, 6 skipped");
});

Deno.test("without --fail-fast everything else runs", async () => {
  const yaml = flow(BAD + get("/bad-later"), job("other", get("/held") + get("/other-later")));
  const { code, seen } = await run(yaml, 1, []);
  assertEquals(code, 1);
  assertEquals(seen.sort(), ["/bad", "/bad-later", "/held", "/other-later", "/others"]);
});

Deno.test("--fail-fast begins no round and no entry", async () => {
  const repeat = (more: string) => `    repeat: {count: 9${more}}\n`;
  const yaml = flow(
    BAD,
    job("in-turn", get("/held"), repeat("")),
    job("slowly", get("/held"), repeat(", interval: 1h")),
    job("at-once", get("/held") + get("/later"), repeat(", async: true")),
    job("entries", get("/held", ", iteration: [{}, {}, {}]")),
  );
  const { code, stdout, seen } = await run(yaml, 1 + 1 + 9 + 1);
  assertEquals([code, seen.filter((path) => path === "/held").length], [1, 12]);
  assert(!seen.includes("/later"));
  assertStringIncludes(stdout, `(9 rounds, 8 not run) (stopped: ${WHY})`);
  assertStringIncludes(stdout, `(9 rounds, 9 cut short) (stopped: ${WHY})`);
  assertStringIncludes(stdout, "1 job failed, 4 skipped");
});

Deno.test("a job that has nothing left to begin ends as it would", async () => {
  const { code, stdout } = await run(flow(BAD, job("other", get("/held"))), 1);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "✗ 1 job failed; 3 steps: 2 passed, 1 failed\n");
});

Deno.test("a failed job is one that no step of it has failed, too", async () => {
  const { code, seen } = await runAt(
    flow(
      job("bad", get("/bad"), "    skipif: outputs.nothing.here\n"),
      job("next", get("/next"), "    needs: [first]\n"),
      job("first", get("/meet/x/1")),
    ),
    ["--fail-fast"],
  );
  assertEquals([code, seen.includes("/next")], [1, false]);
});

Deno.test("a failed attempt that is retried and a step without a test are not failures", async () => {
  const retry = ", retry: {max_attempts: 3}";
  const { code, seen } = await runAt(
    flow(
      job(
        "a",
        get("/flaky/x/3", retry) + '      - {uses: http, with: {get: "{url}/status/500"}}\n' +
          get("/end"),
      ),
    ),
    ["--fail-fast"],
  );
  assertEquals([code, seen.at(-1)], [0, "/end"]);
});
