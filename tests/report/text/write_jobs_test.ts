import { assertEquals } from "@std/assert";
import { PLAIN, type ReportOptions } from "../../../src/report/reporter.ts";
import { textReport } from "../../../src/report/text/text_report.ts";
import {
  eventByEvent,
  falseTest,
  inner,
  jobFinished,
  jobStarted,
  LATE,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
} from "../events.ts";
import type { RunEvent } from "../../../src/run/event.ts";
import { writeInBlocks } from "../../../src/report/text/write_jobs.ts";

const step = (job: string, index: number, changes = {}) =>
  stepFinished({ job, step: index }, `${job} ${index}`, changes);
const failed = { state: "failed", failures: [falseTest()] } as const;
const skipped = { state: "skipped", reason: "not needed" } as const;

/** A run in which "api" and "web" run at once, and "later" after both. */
const start = runStarted([], {
  jobs: [["api"], ["web"], ["off"], ["later", "api", "web", "off"]].map(([id = "", ...needs]) => ({
    ...{ id, name: id[0]!.toUpperCase() + id.slice(1), needs },
    steps: [{ name: "check the total", uses: "http" }],
  })),
});
const apiAndWeb = [jobFinished("off", skipped), jobFinished("api"), jobFinished("web")];

/** Returns the text that each event after the first ones adds to the report. */
function added(
  before: readonly RunEvent[],
  events: readonly RunEvent[],
  options: Partial<ReportOptions> = {},
): string[] {
  const report = eventByEvent(textReport({ timing: false, style: PLAIN, late: LATE, ...options }));
  for (const event of [start, ...before]) report(event);
  return events.map(report);
}

const API = `● Api
   1. ✓ api 0
   2. ✗ api 1
        api.yml:14:11: test is false
          14 |     test: res.body.total == 3
             |           ^^^^^^^^^^^^^^^^^^^
        res.body.total is 2 (int)
✗ Api 120ms

`;

Deno.test("a job that runs alone writes its steps at once, below its name", () => {
  const texts = added(apiAndWeb, [
    jobStarted("later"),
    step("later", 0),
    step("later", 1, failed),
    jobFinished("later"),
  ]);
  assertEquals(texts, [
    "",
    "● Later\n   1. ✓ later 0\n",
    API.slice("● Api\n   1. ✓ api 0\n".length, -"✗ Api 120ms\n\n".length)
      .replace("api 1", "later 1"),
    "✓ Later 120ms\n\n",
  ]);
});

Deno.test("jobs that may run at once are written as a whole, each at its end", () => {
  const texts = added([], [
    jobStarted("api"),
    step("api", 0),
    jobStarted("web"),
    step("web", 0, { duration: 1234 }),
    step("api", 1, failed),
    jobFinished("api", { state: "failed" }),
    step("web", 1, { echo: "hi" }),
    jobFinished("off", skipped),
    jobFinished("web"),
  ]);
  assertEquals(texts, [
    ...["", "", "", "", ""],
    API,
    "",
    "- Off (skipped: not needed)\n\n",
    "● Web\n   1. ✓ web 0 (1.2s)\n   2. ✓ web 1\n        hi\n✓ Web 120ms\n\n",
  ]);
});

Deno.test("a job that is skipped does not come between the lines of one that runs alone", () => {
  const texts = added([jobFinished("api"), jobFinished("web")], [
    jobFinished("off", skipped),
    jobStarted("later"),
    step("later", 0),
    jobFinished("elsewhere", skipped),
    jobFinished("later"),
  ]);
  assertEquals(texts.slice(3), ["", "✓ Later 120ms\n\n- Elsewhere (skipped: not needed)\n\n"]);
});

Deno.test("an exchange that is the same as one of an earlier step or job is shown once", () => {
  const exchangeOf = (code: number) => ({
    req: { method: "GET", url: "http://localhost/" },
    res: { code, reason: "none" },
  });
  const failedWith = (code: number, value: number) => ({
    state: "failed" as const,
    failures: [{ ...falseTest(value), message: `test ${value} is false` }],
    exchange: exchangeOf(code),
  });
  const text = added([], [
    jobStarted("api"),
    step("api", 0, failedWith(500, 100)),
    step("api", 1),
    step("api", 2, failedWith(500, 200)),
    step("api", 3, failedWith(404, 300)),
    jobFinished("api"),
    jobStarted("web"),
    step("web", 0, failedWith(404, 400)),
    jobFinished("web"),
  ]).join("");
  assertEquals(text.match(/code: \d+|the same as .*/g), [
    "code: 500",
    "the same as in step 1",
    "code: 404",
    "the same as in step 4 of Api",
  ]);
});

Deno.test("a failure that says the same of the same result takes a line", () => {
  const unauthorized = (path: string) => ({
    state: "failed" as const,
    failures: [{ ...falseTest(401), place: { ...falseTest().place!, line: path.length } }],
    exchange: {
      req: { url: `http://localhost${path}` },
      res: { code: 401, body: { path, time: path.length } },
      view: { request: { title: `GET http://localhost${path}` } },
    },
  });
  const text = added([], [
    jobStarted("api"),
    step("api", 0, unauthorized("/items")),
    step("api", 1, unauthorized("/orders")),
    step("api", 2, { ...unauthorized("/users"), state: "allowed", allowFailure: true }),
    jobFinished("api", { state: "failed" }),
    jobStarted("web"),
    step("web", 0, unauthorized("/prices/7")),
    jobFinished("web", { state: "failed" }),
    runFinished({ state: "failed" }),
  ]).join("");
  assertEquals(text.match(/^ {3}[23].*\n.*|^● Web[^]*/gm), [
    "   2. ✗ api 1\n        api.yml:7:11: test is false: res.body.total is 401 (int), as in step 1",
    "   3. ! api 2 (allowed failure)\n        api.yml:6:11: test is false: res.body.total is 401 (int)",
    `● Web
   1. ✗ web 0
        api.yml:9:11: test is false: res.body.total is 401 (int), as in step 1 of Api
✗ Web 120ms

Failures
  1. Api › api 0   api.yml:6:11
     test is false: res.body.total is 401 (int)
     and 2 more: api 1, Web › web 0

Jobs       1 passed (1)
Steps      1 passed (1)
Time       1.1s
`,
  ]);
});

Deno.test("new snapshots are shown", () => {
  const snapshot = { file: "__snapshots__/w/api.get.json", state: "written" } as const;
  const texts = added([], [
    jobStarted("api"),
    step("api", 0, { snapshot }),
    step("api", 1, { snapshot: { ...snapshot, state: "passed" } }),
    jobFinished("api"),
  ]);
  assertEquals(
    texts.at(-1),
    `● Api
   1. ✓ api 0
        snapshot written: __snapshots__/w/api.get.json
   2. ✓ api 1
✓ Api 120ms

`,
  );
});

const OPTIONS = { timing: false, style: PLAIN, late: LATE };

/** Numbers that look random and are the same each time. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** The events of one job, in the only order in which they can come. */
function eventsOf(job: string, random: (below: number) => number): RunEvent[] {
  if (random(6) === 0) return [jobFinished(job, { state: "skipped", reason: "not needed" })];
  if (random(6) === 0) return [jobStarted(job), jobFinished(job, { state: "skipped" })];
  const rounds = random(4) === 0 ? 3 : undefined;
  const events: RunEvent[] = [jobStarted(job, rounds === undefined ? {} : { rounds })];
  for (let round = 0; round < (rounds ?? 1); round++) {
    for (let step = 0; step < 1 + random(4); step++) {
      const run = { job, step, ...(rounds === undefined ? {} : { round }) };
      const name = `${job} step ${step}`;
      events.push(stepStarted(run, name));
      for (let inside = random(3); inside > 0; inside--) {
        const innerRun = inner(run, inside);
        const innerName = `${name} inside ${inside}`;
        events.push(stepStarted(innerRun, innerName), stepFinished(innerRun, innerName));
      }
      const failure = falseTest();
      const line = 1 + Number(job.slice(3)) * 10 + step;
      const place = { ...failure.place!, line };
      const failed = { state: "failed", failures: [{ ...failure, place }] } as const;
      const echo = { echo: `${job} says ${round}.${step}\nand more` };
      events.push(stepFinished(run, name, [{}, echo, failed][random(3)]));
    }
    if (rounds !== undefined) {
      events.push({ type: "round_finished", runId: "r", time: NOON, job, round, state: "passed" });
    }
  }
  return [...events, jobFinished(job, random(2) ? {} : { state: "failed" })];
}

/** The events of all jobs in one order, with those of each job in theirs. */
function interleave(jobs: readonly RunEvent[][], random: (below: number) => number): RunEvent[] {
  const rest = jobs.map((events) => [...events]);
  const out: RunEvent[] = [];
  for (;;) {
    const open = rest.filter((events) => events.length > 0);
    const chosen = open[random(open.length || 1)];
    if (!chosen) return out;
    // Sometimes one event, sometimes a run of them.
    out.push(...chosen.splice(0, 1 + random(3) * random(3)));
  }
}

Deno.test("writeInBlocks() makes the same block of a job for any order of the events of others", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = randomNumbers(seed);
    const ids = Array.from({ length: 1 + random(6) }, (_, index) => `job${index}`);
    const jobs = ids.map((id) => eventsOf(id, random));
    const report = (events: readonly RunEvent[]) =>
      reportOf(textReport(OPTIONS, writeInBlocks(OPTIONS)), [
        runStarted(ids),
        ...events,
        runFinished(),
      ]);
    const header = "Shop\n\n";
    const alone = jobs.map((events) => blocksOf(report(events), header).blocks[0]!);
    const inTurn = blocksOf(report(jobs.flat()), header);
    const mixed = blocksOf(report(interleave(jobs, random)), header);
    assertEquals(inTurn.blocks, alone, `seed ${seed}, in turn`);
    assertEquals([...mixed.blocks].sort(), [...alone].sort(), `seed ${seed}, mixed`);
    assertEquals(mixed.end, inTurn.end, `seed ${seed}, end`);
  }
});

Deno.test("where the log folds, jobs that passed are folded, and those that failed are not", () => {
  const fold = (title: string, text: string) => `[${title}\n${text}]\n`;
  const texts = added([], [
    jobStarted("api"),
    step("api", 0),
    jobFinished("api"),
    jobStarted("web"),
    step("web", 0, failed),
    jobFinished("web", { state: "failed" }),
  ], { fold });
  assertEquals(texts.slice(0, 3), ["", "", "[✓ Api 120ms\n   1. ✓ api 0\n]\n\n"]);
  assertEquals(texts[5]!.startsWith("● Web\n   1. ✗ web 0\n"), true);
});

/** The blocks of the jobs, and the text below them. */
function blocksOf(text: string, header: string): { blocks: string[]; end: string } {
  assertEquals(text.slice(0, header.length), header);
  const body = text.slice(header.length);
  const end = body.search(/^(Failures|Jobs {7})/m);
  const blocks = body.slice(0, end).split(/(?<=\n\n)/);
  return { blocks, end: body.slice(end) };
}
