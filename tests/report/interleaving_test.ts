import { assertEquals } from "@std/assert";
import { PLAIN } from "../../src/report/reporter.ts";
import type { RunEvent } from "../../src/run/event.ts";
import {
  falseTest,
  inner,
  jobFinished,
  jobStarted,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
} from "./events.ts";
import { textReport } from "../../src/report/text/text_report.ts";
import { writeInBlocks } from "../../src/report/text/write_jobs.ts";

const OPTIONS = { timing: false, style: PLAIN };

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

Deno.test("writeInBlocks() writes every line of the first job the moment it is known", () => {
  const random = randomNumbers(7);
  const first = [
    jobStarted("a"),
    ...Array.from({ length: 5 }, (_, step) => stepFinished({ job: "a", step }, `step ${step}`)),
  ];
  const other = [jobStarted("b"), stepFinished({ job: "b", step: 0 }, "other")];
  const report = textReport(OPTIONS, writeInBlocks(OPTIONS));
  report.report(runStarted(["a", "b"]));
  report.report(first.shift()!);
  for (const event of interleave([first, other], random)) {
    const text = report.report(event);
    if (event.type !== "step_finished") continue;
    assertEquals(text.includes(event.result.name), event.run.job === "a");
  }
});

/** The blocks of the jobs, and the text below them. */
function blocksOf(text: string, header: string): { blocks: string[]; end: string } {
  assertEquals(text.slice(0, header.length), header);
  const body = text.slice(header.length);
  const end = body.search(/^(Failures|Total)/m);
  return { blocks: body.slice(0, end).split(/^(?=[●-] )/m), end: body.slice(end) };
}
