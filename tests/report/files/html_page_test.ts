import { tallyRounds } from "../../../src/run/round_tally.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makeHtmlReport } from "../../../src/report/files/html/render_html.ts";
import { Recorder } from "../../../src/report/recorder.ts";
import type { HistoryRun } from "../../../src/report/files/history.ts";
import { Histogram } from "../../../src/base/value/histogram.ts";
import { makePageScript, PAGE_SCRIPT } from "../../../scripts/page_script.ts";
import type { Failure, RunEvent } from "../../../src/run/event.ts";
import {
  falseTest,
  jobFinished,
  jobStarted,
  NOON,
  runFinished,
  runStarted,
  stepFinished,
  stepTally,
} from "../events.ts";

async function pageOf(...events: readonly RunEvent[]): Promise<string> {
  const recorder = new Recorder({ keeps: "everything", tool: { name: "runner", version: "1" } });
  for (const event of tallyRounds(events)) recorder.take(event);
  const render = await makeHtmlReport();
  return [...render(recorder.records())].join("");
}

/** The content of an element, found by how it begins. */
function contentOf(page: string, start: string): string {
  const from = page.indexOf(start) + start.length;
  assert(from >= start.length, start);
  return page.slice(from, page.indexOf("</", from));
}

const dataOf = (page: string) =>
  JSON.parse(contentOf(page, '<script id="data" type="application/json">'));

const HOSTILE = `</script><script>alert(1)</script><!-- "><img src=x onerror=alert(1)>`;

Deno.test("a page contains external text as data, never as markup", async () => {
  const page = await pageOf(
    runStarted(["a"], { name: HOSTILE, description: HOSTILE, file: HOSTILE }),
    { type: "note", runId: "r", time: NOON, level: "warning", text: HOSTILE },
    jobStarted("a", { name: HOSTILE }),
    stepFinished({ job: "a", step: 0 }, HOSTILE, {
      state: "failed",
      echo: HOSTILE,
      failures: [{ ...falseTest(), message: HOSTILE, expression: HOSTILE }],
      exchange: { req: { [HOSTILE]: HOSTILE }, res: [HOSTILE], command: HOSTILE },
    }),
    jobFinished("a", { state: "failed", name: HOSTILE }),
    runFinished({ state: "failed", interrupted: HOSTILE }),
  );
  assertEquals(page.match(/<\/?script\b/g)?.length, 6);
  assertEquals(page.match(/<img|<!--/g), null);
  assertEquals(page.split("&lt;img src=x onerror=alert(1)&gt;").length > 5, true);
  assertEquals(dataOf(page).steps[0].name, HOSTILE);
  const line = contentOf(page, '<script id="details-data" type="application/json">\n');
  const { echo, exchange } = JSON.parse(line);
  assertEquals([echo, exchange.req, exchange.res], [HOSTILE, { [HOSTILE]: HOSTILE }, [HOSTILE]]);
});

Deno.test("a page forbids everything but its own style and script", async () => {
  const page = await pageOf(runStarted([]), runFinished());
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? "";
  const hash = async (text: string) => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
  };
  const style = /<style>(.*?)<\/style>/s.exec(page)![1]!;
  const script = /<script>(.*?)<\/script>/s.exec(page)![1]!;
  assertEquals(
    policy,
    `default-src 'none'; style-src ${await hash(style)}; script-src ${await hash(script)}; ` +
      "img-src data:; base-uri 'none'; form-action 'none'",
  );
  assert(page.indexOf("Content-Security-Policy") < page.indexOf("<style>"));
  assertStringIncludes(page, '<link rel="icon" href="data:image/svg+xml,');
  assertEquals(/\b(?:src|href|style|on[a-z]+)="(?!data:)/.exec(page.replace(script, "")), null);
});

Deno.test("the script of a page is made from its sources: `deno task page`", async () => {
  assertEquals(await Deno.readTextFile(PAGE_SCRIPT), await makePageScript());
});

Deno.test("a page of an incomplete run says so, and how far the run got", async () => {
  const page = await pageOf(
    runStarted(["a", "b"]),
    jobStarted("a"),
    stepFinished({ job: "a", step: 0 }, "first", { started: NOON + 500, duration: 1000 }),
  );
  assertStringIncludes(page, '<p class="alert">The run was cut off: this is how far it came</p>');
  assertStringIncludes(page, "<title>✗ Shop</title>");
  const { duration, jobs } = dataOf(page);
  assertEquals([duration, jobs[0].state, jobs[0].start, jobs[1].start], [
    1500,
    "unfinished",
    0,
    undefined,
  ]);
});

Deno.test("a page without scripts lists the first hundred failures, and how many more there are", async () => {
  const steps = Array.from(
    { length: 105 },
    (_, step) =>
      stepFinished({ job: "a", step }, `step ${step}`, {
        state: "failed",
        failures: [{ ...falseTest(), message: `wrong ${step}` }],
      }),
  );
  const page = await pageOf(runStarted(["a"]), jobStarted("a"), ...steps, jobFinished("a"));
  const start = page.indexOf('<div id="static">');
  const plain = page.slice(start);
  assertEquals(plain.match(/<h3>/g)?.length, 100);
  assertStringIncludes(plain, "<h3>A › step 99</h3>\n<pre>");
  assertStringIncludes(plain, "wrong 99");
  assertStringIncludes(plain, "<p>… and 5 more failures</p>");
});

Deno.test("a page stores the row of a step apart from its details, and nothing twice", async () => {
  const page = await pageOf(
    runStarted(["a"]),
    jobStarted("a"),
    stepFinished({ job: "a", step: 0 }, "first", {
      exchange: {
        req: { method: "GET" },
        res: { code: 200, body: { long: "body" } },
      },
    }),
    stepFinished({ job: "a", step: 1 }, "second", {
      exchange: { req: null, res: { body: "text", rawbody: "raw" } },
    }),
    jobFinished("a"),
    runFinished(),
  );
  assertEquals(dataOf(page).steps[0], {
    job: 0,
    key: "1",
    name: "first",
    uses: "http",
    state: "passed",
    start: 789,
    duration: 7,
    depth: 0,
  });
  const lines = contentOf(page, '<script id="details-data" type="application/json">\n')
    .trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines, [
    {
      responseTime: 6.5,
      failures: [],
      exchange: { req: { method: "GET" }, res: { code: 200, body: { long: "body" } } },
    },
    {
      responseTime: 6.5,
      failures: [],
      exchange: { req: null, res: { body: "text", rawbody: "raw" } },
    },
  ]);
});

Deno.test("a page shows the part of a very long line near the failure", async () => {
  const long = "x".repeat(1_000_000);
  const locate = (text: string, from: number, to: number) => ({
    ...{ ...falseTest(), message: "wrong" },
    place: { file: "api.yml", line: 1, column: from + 1, text, from, to },
  });
  const page = await pageOf(
    runStarted(["a"]),
    jobStarted("a"),
    stepFinished({ job: "a", step: 0 }, "middle", {
      state: "failed",
      failures: [locate(`${long}HERE${long}`, 1_000_000, 1_000_004)],
    }),
    stepFinished({ job: "a", step: 1 }, "start", {
      state: "failed",
      failures: [locate(`HERE${long}`, 0, 4)],
    }),
    stepFinished({ job: "a", step: 2 }, "all", {
      state: "failed",
      failures: [locate(long, 0, 1_000_000)],
    }),
    jobFinished("a", { state: "failed" }),
    runFinished({ state: "failed" }),
  );
  assert(page.length < 100_000, String(page.length));
  const marked = contentOf(page, '<script id="details-data" type="application/json">\n')
    .trim().split("\n").map((line) => {
      const { text, from, to } = JSON.parse(line).failures[0].place;
      return [text.length, text.slice(from, to).slice(0, 4), to - from];
    });
  assertEquals(marked, [[1002, "HERE", 4], [1001, "HERE", 4], [1001, "xxxx", 1000]]);
});

Deno.test("a page groups failures by their cause: place and first line, a server, or another step", async () => {
  const at = (line: number, message: string) => ({
    ...falseTest(),
    message,
    place: { file: "api.yml", line, column: 9, text: "test: x", from: 0, to: 4 },
  });
  const failed = (job: string, step: number, entry: number | undefined, ...failures: Failure[]) =>
    stepFinished({ job, step, ...entry === undefined ? {} : { entry } }, `step ${step}`, {
      state: "failed",
      failures,
    });
  const entries = [0, 1, 2].map((entry) => failed("a", 0, entry, at(4, `took ${entry}ms\nmore`)));
  const page = await pageOf(
    runStarted(["a", "b"]),
    jobStarted("a"),
    ...entries,
    failed("a", 1, undefined, at(5, "took 1ms")),
    failed("a", 2, undefined, { ...at(6, "no server"), cause: "127.0.0.1:1" }),
    jobFinished("a", { state: "failed" }),
    jobStarted("b"),
    failed("b", 0, undefined, { ...at(7, "no server, too"), cause: "127.0.0.1:1" }),
    failed("b", 1, undefined, { ...at(8, "no outputs"), cause: "job a, step 2" }),
    jobFinished("b", { state: "failed" }),
    runFinished({ state: "failed" }),
  );
  assertStringIncludes(page, "<summary>7 failures, 3 causes</summary>");
  const list = /<ol class="causes">([^]*?)<\/ol>/.exec(page)![1]!;
  const found = list.split(/\n<li>/).slice(1).map((item) => [
    /<span class="muted">(.*)<\/span>/.exec(item)![1],
    [...item.matchAll(/href="#step=([^"]*)"/g)].map(([, link]) => link).join(" "),
  ]);
  assertEquals(found, [
    ["api.yml:4 · 3 failures", "a/1.e1 a/1.e2 a/1.e3"],
    ["api.yml:5 · 2 failures", "a/2 b/2"],
    ["api.yml:6 · 2 failures", "a/3 b/1"],
  ]);
  const alone = await pageOf(
    runStarted(["a"]),
    jobStarted("a"),
    failed("a", 0, undefined, at(4, "one")),
    failed("a", 1, undefined, at(4, "another")),
    jobFinished("a", { state: "failed" }),
  );
  assertEquals(alone.includes('class="causes"'), false);
});

Deno.test("an hour of a load job is at most 600 points, with exact percentiles", async () => {
  const times = (first: number) => {
    const histogram = new Histogram();
    for (let time = first; time < first + 100; time++) histogram.add(time);
    return histogram.encode()!;
  };
  const seconds = Array.from({ length: 3600 }, (_, index): RunEvent => ({
    ...{ type: "load_second", runId: "r", time: NOON + index * 1000, job: "a" },
    ...{
      from: index * 1000,
      length: 1000,
      stage: 0,
      asked: 100,
      started: 100,
      inFlight: index % 7,
    },
    rounds: { passed: 99, failed: 1, skipped: 0 },
    times: times(index % 6 === 5 ? 900 : 0),
    steps: [stepTally(0, 100, { times: times(0) })],
    dropped: index === 3599 ? 6 : 0,
  }));
  const stages = [{ rate: 100, duration: 3_600_000 }];
  const page = await pageOf(
    runStarted(["a"]),
    jobStarted("a", { load: { stages, warmUp: 0, steps: ["ask"] } }),
    ...seconds,
    jobFinished("a"),
    runFinished(),
  );
  const { curves, distributions, numbers } = dataOf(page).jobs[0].load;
  assertEquals(curves.at.length, 600);
  assertEquals([curves.at[0], curves.at[599], curves.end], [3000, 3_597_000, 3_600_000]);
  // Of six seconds with 100 rounds each, one had times from 900 ms on.
  for (const [name, value] of [["p50", 59], ["p95", 969], ["p99", 993]] as const) {
    const drawn = curves[name][0];
    assert(Math.abs(drawn - value) <= value * 0.001, `${name} ${drawn}`);
  }
  assertEquals([curves.rate[0], curves.asked[0], curves.failed[0]], [100, 100, 1]);
  assertEquals([curves.dropped[0], curves.dropped[599]], [0, 1]);
  assertEquals(curves.inFlight[0], 5);
  assertEquals(numbers.map(([name, count]: string[]) => [name, count]), [
    ["all rounds", "360,000"],
    ["ask", "360,000"],
  ]);
  assertEquals(distributions.map(({ count }: { count: number }) => count), [360_000, 360_000]);
  assert(page.length < 150_000, `${page.length}`);
});

Deno.test("load jobs that are slower than in earlier runs are marked", async () => {
  const p95s = [100, 140, 100, 90, 121];
  const history = p95s.map((p95, index): HistoryRun => ({
    ...{ schema: "runner-history/1", subject: "api.yml", started: NOON + index, duration: 1 },
    ...{ state: "passed", isPartial: false, tests: [] },
    load: [["<Pay>", 10, 0, 5, 50, p95, 200], ["Look", 10, 0, 5, 50, 100, 200]],
  }));
  const render = await makeHtmlReport();
  const page = [...render([], undefined, history)].join("");
  const rows = [...page.matchAll(/<tr><td>(&lt;Pay&gt;|Look)<.*?<\/tr>/g)].map(([row]) =>
    row.replace(/<[^>]*>/g, " ").replace(/ +/g, " ").trim()
  );
  assertEquals(rows, [
    "&lt;Pay&gt; 121ms ▲ slower, +21% 100ms 4",
    "Look 100ms 0% 100ms 4",
  ]);
  assertStringIncludes(page, "no flaky tests, 1 slower under load");
  const data = JSON.parse(contentOf(page, '<script id="history-data" type="application/json">'));
  assertEquals(data[4].loads, [["<Pay>", 121], ["Look", 100]]);
});
