import { assertEquals } from "@std/assert";
import { PLAIN } from "../../../src/report/reporter.ts";
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

/** Returns the text that each event after the first adds to the report. */
function added(...events: Parameters<typeof reportOf>[1] extends Iterable<infer E> ? E[] : never) {
  const report = eventByEvent(textReport({ timing: false, style: PLAIN, late: LATE }));
  report(runStarted(["api", "web", "off"]));
  return events.map(report);
}

Deno.test("a job that runs alone writes its steps at once, below its name", () => {
  assertEquals(
    added(jobStarted("api"), step("api", 0), step("api", 1, failed), jobFinished("api")),
    [
      "",
      "● Api\n   1. ✓ api 0\n",
      `   2. ✗ api 1
        api.yml:14:11: test is false
          14 |     test: res.body.total == 3
             |           ^^^^^^^^^^^^^^^^^^^
        res.body.total is 2 (int)
`,
      "✓ Api 120ms\n\n",
    ],
  );
});

Deno.test("an exchange that is the same as one of an earlier step or job is shown once", () => {
  const exchangeOf = (code: number) => ({
    req: { method: "GET", url: "http://localhost/" },
    res: { code, reason: "none" },
  });
  const failedWith = (code: number) => ({ ...failed, exchange: exchangeOf(code) });
  const texts = added(
    jobStarted("api"),
    step("api", 0, failedWith(500)),
    step("api", 1),
    step("api", 2, failedWith(500)),
    step("api", 3, failedWith(404)),
    jobStarted("web"),
    step("web", 0, failedWith(404)),
    jobFinished("web"),
  );
  const shown = texts.map((text) => text.match(/code: \d+|the same as .*/)?.[0]);
  assertEquals(shown.filter((one) => one !== undefined), [
    "code: 500",
    "the same as in step 1",
    "code: 404",
    "the same as in step 4 of Api",
  ]);
});

Deno.test("jobs that run at once write each step at once in one line, and all of each at its end", () => {
  assertEquals(
    added(
      jobStarted("api"),
      step("api", 0),
      jobStarted("web"),
      step("web", 0, { duration: 1234 }),
      step("api", 1, failed),
      step("api", 2),
      jobFinished("api", { state: "failed" }),
      step("web", 1, { echo: "hi" }),
      jobFinished("web"),
    ),
    [
      "",
      "● Api\n   1. ✓ api 0\n",
      "",
      "\n✓ Web › web 0 (1.2s)\n",
      "✗ Api › api 1   api.yml:14\n",
      "✓ Api › api 2\n",
      `
✗ Api 120ms
   1. ✓ api 0
   2. ✗ api 1
        api.yml:14:11: test is false
          14 |     test: res.body.total == 3
             |           ^^^^^^^^^^^^^^^^^^^
        res.body.total is 2 (int)
   3. ✓ api 2

`,
      "✓ Web › web 1\n",
      "\n✓ Web 120ms\n   1. ✓ web 0 (1.2s)\n   2. ✓ web 1\n        hi\n\n",
    ],
  );
});

Deno.test("new snapshots of jobs that run at once are shown at their ends", () => {
  const snapshot = { file: "__snapshots__/w/api.get.json", state: "written" } as const;
  const steps = added(
    jobStarted("api"),
    jobStarted("web"),
    step("api", 0, { snapshot }),
    step("api", 1, { snapshot: { ...snapshot, state: "passed" } }),
    jobFinished("api"),
  );
  assertEquals(steps.slice(2), [
    "✓ Api › api 0\n",
    "✓ Api › api 1\n",
    `
✓ Api 120ms
   1. ✓ api 0
        snapshot written: __snapshots__/w/api.get.json
   2. ✓ api 1

`,
  ]);
});

Deno.test("a job that is skipped does not come between the lines of another one", () => {
  assertEquals(
    added(
      jobStarted("api"),
      step("api", 0),
      jobFinished("off", skipped),
      step("api", 1),
      jobFinished("api"),
    ),
    [
      "",
      "● Api\n   1. ✓ api 0\n",
      "",
      "   2. ✓ api 1\n",
      "✓ Api 120ms\n\n- Off (skipped: not needed)\n\n",
    ],
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
      const failed = { state: "failed", failures: [falseTest()] } as const;
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

Deno.test("a job that runs alone again is still written as a whole", () => {
  assertEquals(
    added(
      jobStarted("api"),
      step("api", 0),
      jobStarted("web"),
      jobFinished("web"),
      step("api", 1),
      jobFinished("api"),
    ).slice(1),
    [
      "● Api\n   1. ✓ api 0\n",
      "",
      "\n✓ Web 120ms\n\n",
      "✓ Api › api 1\n",
      "\n✓ Api 120ms\n   1. ✓ api 0\n   2. ✓ api 1\n\n",
    ],
  );
});

Deno.test("where the log folds, jobs that passed are folded, and those that failed are not", () => {
  const fold = (title: string, text: string) => `[${title}\n${text}]\n`;
  const report = eventByEvent(textReport({ ...OPTIONS, fold }));
  report(runStarted(["api", "web"]));
  const events = [
    jobStarted("api"),
    step("api", 0),
    jobFinished("api"),
    jobStarted("web"),
    step("web", 0, failed),
    jobFinished("web", { state: "failed" }),
  ];
  const texts = events.map(report);
  assertEquals(texts[1], "✓ Api › api 0\n");
  assertEquals(texts[2], "\n[✓ Api 120ms\n   1. ✓ api 0\n]\n\n");
  assertEquals(texts[5]!.startsWith("\n✗ Web 120ms\n   1. ✗ web 0\n"), true);
});

/** The blocks of the jobs, and the text below them. */
function blocksOf(text: string, header: string): { blocks: string[]; end: string } {
  assertEquals(text.slice(0, header.length), header);
  const body = text.slice(header.length);
  const end = body.search(/^(Failures|Jobs {7})/m);
  return { blocks: body.slice(0, end).split(/^(?=[✓✗-] )/m), end: body.slice(end) };
}
