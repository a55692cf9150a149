import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runAt } from "../../support/run/run_at.ts";

Deno.test("independent jobs run at the same time", async () => {
  const job = (name: string) =>
    `  - name: ${name}\n    steps:\n      - uses: http\n        with: {get: "{url}/meet/all/3"}\n` +
    "        test: res.code == 200\n";
  const { code, seen } = await runAt(`name: n\njobs:\n${job("a")}${job("b")}${job("c")}`);
  assertEquals([code, seen], [0, ["/meet/all/3", "/meet/all/3", "/meet/all/3"]]);
});

Deno.test("a job starts when its own needs are done, while others still run", async () => {
  // `slow` waits for `late`, which needs only `quick`: running level by level would deadlock.
  const { code, seen } = await runAt(`
name: n
jobs:
  - name: slow
    steps:
      - uses: http
        with: {get: "{url}/meet/x/2"}
  - name: late
    needs: [quick]
    steps:
      - uses: http
        with: {get: "{url}/meet/x/2"}
  - name: quick
    id: quick
    steps:
      - uses: http
        with: {get: "{url}/quick"}
`);
  assertEquals(code, 0);
  assert(seen.includes("/quick"));
});

Deno.test("a job runs after all jobs that it needs, wherever they are in the file", async () => {
  const job = (name: string, needs: string) =>
    `  - name: ${name}\n    id: ${name}\n    needs: [${needs}]\n    steps:\n` +
    `      - uses: http\n        with: {get: "{url}/${name}"}\n`;
  const jobs = job("d", "b, c") + job("c", "a") + job("b", "a") + job("a", "");
  const { code, seen } = await runAt(`name: n\njobs:\n${jobs}`);
  assertEquals([code, seen[0], seen[3], seen.length], [0, "/a", "/d", 4]);
});

Deno.test("jobs that need a failed job are skipped with the reason, and do not count as passed", async () => {
  const { code, stdout, seen } = await runAt(`
name: n
jobs:
  - name: bad
    id: bad
    steps:
      - {uses: http, with: {get: "{url}/status/500"}, test: res.code == 200}
      - {uses: http, with: {get: "{url}/after"}}
  - {name: next, id: next, needs: [bad], steps: [{uses: http, with: {get: "{url}/next"}}]}
  - {name: last, needs: [next], steps: [{uses: http, with: {get: "{url}/last"}}]}
  - {name: free, steps: [{uses: hello}]}
`);
  assertEquals([code, seen], [1, ["/status/500", "/after"]]);
  assertStringIncludes(stdout, '- next (skipped: needs "bad", which failed)');
  assertStringIncludes(stdout, '- last (skipped: needs "next", which was skipped)');
  assertStringIncludes(stdout, "1 job failed");
});

Deno.test("a job skipped by skipif counts as done for those that need it", async () => {
  const { code, stdout, seen } = await runAt(`
name: n
jobs:
  - {name: off, id: off, skipif: "true", steps: [{uses: http, with: {get: "{url}/off"}}]}
  - {name: on, needs: [off], steps: [{uses: http, with: {get: "{url}/on"}}]}
`);
  assertEquals([code, seen], [0, ["/on"]]);
  assertStringIncludes(stdout, "- off (skipped");
});

Deno.test("rounds of an async repeat run at the same time, those of a sync one in turn", async () => {
  const repeated = (async: boolean, page: string) => `
name: n
jobs:
  - name: j
    repeat: {count: 4, async: ${async}}
    steps:
      - {uses: http, with: {get: "{url}/a/{{repeat_index}}"}}
      - {uses: http, with: {get: "{url}${page}"}}
`;
  const together = await runAt(repeated(true, "/meet/x/4"));
  assertEquals(together.code, 0);
  const inTurn = await runAt(repeated(false, "/b/{{repeat_index}}"));
  assertEquals(
    inTurn.seen,
    [0, 1, 2, 3].flatMap((round) => [`/a/${round}`, `/b/${round}`]),
  );
});

Deno.test("repeat.count 0 runs nothing and is a success", async () => {
  const { code, seen } = await runAt(`
name: n
jobs:
  - {name: j, repeat: {count: 0}, steps: [{uses: http, with: {get: "{url}/x"}}]}
`);
  assertEquals([code, seen], [0, []]);
});

Deno.test("all rounds of an async repeat start, however many, before any has to end", async () => {
  const { code, seen } = await runAt(`
name: n
jobs:
  - name: j
    repeat: {count: 300, async: true}
    steps:
      - {uses: http, with: {get: "{url}/meet/all/300"}, test: res.code == 200}
`);
  assertEquals([code, seen.length], [0, 300]);
});
