import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { failureAt80 } from "../../support/failures_at_80.ts";
import { runHere } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

/** Starts a server that responds late. */
function slowServer() {
  return withServer(async () => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return new Response("slow");
  });
}

const workflow = (step: string) => `name: n\njobs:\n  - name: j\n    steps:\n      - ${step}\n`;

Deno.test("a step that takes longer than max_time fails with the phases of its time", async () => {
  await using server = slowServer();
  const text = await failureAt80(
    workflow(`{ max_time: 10ms, uses: http, with: { get: "${server.url}/" } }`),
  );
  const [head = "", , caret = "", ...phases] = text.split("\n");
  assertMatch(head, /^w\.yml:5:21: it took \d+(\.\d+)?ms, more than 10ms$/);
  assertStringIncludes(caret, "^^^^ most of it was first byte");
  assertMatch(phases.join("\n"), /^first byte is \d+(\.\d+)? \(ms, \d+%\)$/m);
});

Deno.test("max_time does not stop the step, and is checked along with its tests", async () => {
  await using server = slowServer();
  const files = {
    "w.yml": workflow(
      `{ max_time: 10ms, uses: http, with: { get: "${server.url}/" }, test: [res.body == "slow", res.code == 1] }`,
    ),
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runHere(["--report", "json=r.json", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "test 2 of 2 is false");
    const { jobs } = JSON.parse(await Deno.readTextFile(`${cwd}/r.json`));
    assertEquals(jobs[0].steps[0].assertions, { passed: 1, failed: 2 });
  });
});

Deno.test("a step within max_time is as it was without, and retry repeats one that is not", async () => {
  await using server = slowServer();
  const get = `with: { get: "${server.url}/" }`;
  const files = {
    "w.yml": workflow(`{ max_time: 60s, uses: http, ${get} }`),
    "r.yml": workflow(`{ max_time: 1ms, uses: http, ${get}, retry: { max_attempts: 2 } }`),
    "v.yml": workflow(
      `{ max_time: "{{vars.t}}", vars: { t: 1m }, uses: http, ${get}, test: status == 0 }`,
    ),
    "bad.yml": workflow(`{ max_time: soon, uses: hello }`),
  };
  await withFiles(files, async (cwd) => {
    assertStringIncludes((await runHere(["w.yml"], { cwd })).stdout, "○ http");
    assertStringIncludes((await runHere(["r.yml"], { cwd })).stdout, "↻ 2/2");
    assertStringIncludes((await runHere(["v.yml"], { cwd })).stdout, "✓ http (2 assertions)");
    assertStringIncludes((await runHere(["bad.yml"], { cwd })).stderr, '"max_time"');
  });
});

const HTTP = 'uses: http, with: { get: "URL/" }';
const SLOW = (mark: string) =>
  `it took N, more than 10ms
  6 |       - LINE
    |                     ${mark} most of it was first byte
PHASES`;

/** Steps, and what is printed where N is a time, LINE the step, and PHASES what took the time. */
const FAILURES: readonly (readonly [title: string, step: string, printed: string])[] = [
  ["a request is slow", `{ max_time: 10ms, ${HTTP} }`, SLOW("^^^^")],
  ["the time is in a var", `{ max_time: "{{vars.most}}", ${HTTP} }`, SLOW("^".repeat(15))],
  ["it has a timeout, too", `{ max_time: 10ms, timeout: 9s, ${HTTP} }`, SLOW("^^^^")],
  ["it is one of an iteration", `{ max_time: 10ms, iteration: [{ a: 1 }], ${HTTP} }`, SLOW("^^^^")],
  [
    "the last attempt is slow",
    `{ max_time: 10ms, retry: { max_attempts: 2 }, ${HTTP} }`,
    SLOW("^^^^"),
  ],
  [
    "a command is slow, which has no phases",
    "{ max_time: 1ms, uses: shell, with: { cmd: echo } }",
    `it took N, more than 1ms
  6 |       - LINE
    |                     ^^^`,
  ],
  [
    "no time is allowed",
    "{ max_time: 0s, uses: shell, with: { cmd: echo } }",
    `it took N, more than 0s
  6 |       - LINE
    |                     ^^`,
  ],
  [
    "the var is missing",
    `{ max_time: "{{vars.nope}}", ${HTTP} }`,
    `"max_time" must be a duration like "300ms", "1.5s", "2m" or
"1h30m", or a number of seconds, not nil
  6 |       - LINE
    |                     ^^^^^^^^^^^^^^^`,
  ],
  [
    "the var is not a duration",
    `{ max_time: "{{vars.word}}", ${HTTP} }`,
    `"max_time" must be a duration like "300ms", "1.5s", "2m" or
"1h30m", or a number of seconds, not "soon"
  6 |       - LINE
    |                     ^^^^^^^^^^^^^^^`,
  ],
  [
    "it cannot be evaluated",
    `{ max_time: "{{vars.most.x}}", ${HTTP} }`,
    `a string has no .x
  6 |       - LINE
    |                                  ^`,
  ],
];

for (const [title, step, printed] of FAILURES) {
  Deno.test(`the failure of max_time at 80 columns where ${title}`, async () => {
    await using server = slowServer();
    const text = await failureAt80(`name: n
vars: { most: 10ms, word: soon }
jobs:
  - name: j
    steps:
      - ${step.replace("URL", server.url)}
`);
    const all = text.split("\n");
    const lines = all.slice(0, all.findIndex((line) => /^(request|attempts):/.test(line)));
    const phase = /^(queue|dns|connect|tls|first byte|download) is \d+(\.\d+)? \(ms, \d+%\)$/;
    const kept = lines.filter((line, at) => !(phase.test(line) && phase.test(lines[at - 1] ?? "")));
    const steady = kept.map((line) =>
      line.replace(/^w\.yml:6:\d+: /, "").replace(/^ {2}6 \| {7}- .*/, "  6 |       - LINE")
        .replace(phase, "PHASES").replaceAll(/it took \d+(\.\d+)?m?s/g, "it took N")
    );
    assertEquals(steady.join("\n"), printed);
  });
}
