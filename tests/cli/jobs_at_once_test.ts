import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runAt } from "../support/run/run_at.ts";

const job = (id: string, path: string, more = "") =>
  `  - name: ${id}\n    id: ${id}\n${more}    steps:\n` +
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
