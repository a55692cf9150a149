import { assertEquals } from "@std/assert";
import type { RunAction } from "../../../src/action/action.ts";
import { hello } from "../../../src/actions/hello.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { makePlan } from "../../../src/plan/make_plan.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { Cancellation } from "../../../src/run/cancellation.ts";
import type { RunEvent } from "../../../src/run/event.ts";
import { run } from "../../../src/run/run.ts";
import type { RunOptions } from "../../../src/run/run_state.ts";
import { loadWorkflow } from "../../../src/workflow/load_workflow.ts";
import type { Job } from "../../../src/workflow/model.ts";
import { fakeClock } from "../../support/fake_clock.ts";
import { hostWith } from "../../support/load_files.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** A plan whose steps that say hello do this. */
async function planWith(files: Record<string, string>, act: RunAction): Promise<Plan> {
  const plan = await withFiles(files, async (directory) => {
    const { workflow } = await loadWorkflow(`${directory}/w.yml`, hostWith());
    return await makePlan(workflow, {});
  });
  const action = { ...hello, load: () => Promise.resolve(act) };
  const equip = ({ steps }: Job) => {
    for (const step of steps) {
      if (step.embedded) equip(step.embedded.job);
      else Object.assign(step, { action });
    }
  };
  for (const { job } of plan.jobs) equip(job);
  return plan;
}

const step = (n: string) => `{ uses: hello, with: { n: "${n}" } }`;

/** A job that fails in its first step, and cleans up; another is beside it. */
const JOB = `
steps: [${step("work")}, ${step("more")}]
finally: [${step("clean 1 {{job.state}} {{job.failed}}")}, ${step("clean 2 {{run.state}}")}]
`;
const OWN = `
name: w
jobs:
  - id: a
    name: a
    ${JOB.trim().replaceAll("\n", "\n    ")}
finally: [${step("last {{run.state}}")}]
`;
const EMBEDDED = `
name: w
jobs: [{ id: a, name: a, steps: [{ uses: embedded, with: { path: job.yml } }] }]
finally: [${step("last {{run.state}}")}]
`;

interface Case {
  readonly embedded: boolean;
  readonly failFast: boolean;
  /** The outcome of the first step, and of the first cleanup step. */
  readonly work: "passes" | "fails" | "is interrupted";
  readonly clean: "passes" | "fails";
}

const CASES: readonly Case[] = [false, true].flatMap((embedded) =>
  [false, true].flatMap((failFast) =>
    (["passes", "fails", "is interrupted"] as const).flatMap((work) =>
      (["passes", "fails"] as const).map((clean) => ({ embedded, failFast, work, clean }))
    )
  )
);

for (const { embedded, failFast, work, clean } of CASES) {
  const about = [
    `work ${work}`,
    `cleanup ${clean}`,
    ...failFast ? ["--fail-fast"] : [],
    ...embedded ? ["embedded"] : [],
  ];
  Deno.test(`cleanup always runs: ${about.join(", ")}`, async () => {
    const cancellation = new Cancellation();
    const seen: string[] = [];
    const files: Record<string, string> = embedded
      ? { "w.yml": EMBEDDED, "job.yml": `name: j${JOB}` }
      : { "w.yml": OWN };
    const plan = await planWith(files, ({ n }) => {
      seen.push(String(n));
      const isWork = n === "work";
      if (isWork && work === "is interrupted") cancellation.cancel("interrupted by SIGINT");
      const fails = isWork && work !== "passes" || clean === "fails" && /^clean 1/.test(String(n));
      return fails ? Promise.reject(new Error("a bug")) : { req: {}, res: {}, status: 0 };
    });
    const passed = await run(plan, denoHost(), () => {}, { cancellation, failFast });
    const isCut = work === "is interrupted" || work === "fails" && failFast;
    const state = work === "passes" ? "passed" : work === "fails" ? "failed" : "interrupted";
    // A failure in an embedded job counts in the run once its step is finished.
    const inside = embedded && work === "fails" ? "passed" : state;
    const last = work === "is interrupted" ? state : clean === "fails" ? "failed" : state;
    assertEquals(seen, [
      "work",
      ...isCut ? [] : ["more"],
      `clean 1 ${state} ${work === "passes" ? 0 : 1}`,
      `clean 2 ${inside}`,
      `last ${last}`,
    ]);
    assertEquals(passed, work === "passes" && clean === "passes");
  });
}

/** The messages of failures, and the jobs that did not pass. */
async function failuresOf(plan: Plan, options: RunOptions, clock = fakeClock()) {
  const events: RunEvent[] = [];
  await run(plan, { ...denoHost(), clock }, (event) => void events.push(event), options);
  return events.flatMap((event) =>
    event.type === "step_finished" ? event.result.failures.map(({ message }) => message) : []
  );
}

Deno.test("the time for cleanup begins with the interruption, and is one for all of it", async () => {
  const clock = fakeClock();
  const cancellation = new Cancellation();
  const seen: string[] = [];
  const plan = await planWith({ "w.yml": OWN }, ({ n }, { signal }) => {
    seen.push(String(n));
    const ended = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(new Error()))
    );
    if (n === "work") queueMicrotask(() => cancellation.cancel("interrupted by SIGINT"));
    else queueMicrotask(() => clock.advance(5000));
    return ended;
  });
  assertEquals(await failuresOf(plan, { cancellation, cleanupTimeout: 5000 }, clock), [
    "interrupted by SIGINT",
    "cleanup timed out after 5s",
    // An unfinished cleanup is a failure, too.
    "cleanup timed out after 5s",
  ]);
  assertEquals(seen, ["work", "clean 1 interrupted 1"]);
});

Deno.test("a timeout of the step around it leaves an embedded job its cleanup", async () => {
  const clock = fakeClock();
  const seen: string[] = [];
  const outer = EMBEDDED.replace("uses: embedded,", "uses: embedded, timeout: 2s,");
  const plan = await planWith({ "w.yml": outer, "job.yml": `name: j${JOB}` }, ({ n }, context) => {
    seen.push(String(n));
    if (n !== "work") return { req: {}, res: {}, status: 0 };
    queueMicrotask(() => clock.advance(2000));
    return new Promise((_, reject) =>
      context.signal.addEventListener("abort", () => reject(new Error()))
    );
  });
  assertEquals(await failuresOf(plan, {}, clock), [
    "the step around it timed out after 2s",
    "the step timed out after 2s",
  ]);
  assertEquals(seen, ["work", "clean 1 interrupted 1", "clean 2 passed", "last failed"]);
});

Deno.test("the finally of a job runs for each round that began, with its resources", async () => {
  const seen: string[] = [];
  const text = `
name: w
jobs:
  - id: a
    name: a
    repeat: { count: 3 }
    steps: [${step("open {{repeat_index}}")}]
    finally: [${step("close {{repeat_index}}")}]
`;
  const plan = await planWith({ "w.yml": text }, ({ n }, { scope }) => {
    const log = scope.job.resource("log", () => [] as string[]);
    log.push(String(n));
    seen.push(log.join(", "));
    return { req: {}, res: {}, status: 0 };
  });
  await run(plan, denoHost(), () => {});
  assertEquals(seen.filter((_, index) => index % 2 === 1), [
    "open 0, close 0",
    "open 1, close 1",
    "open 2, close 2",
  ]);
});

Deno.test("the finally of a job that never started does not run", async () => {
  const seen: string[] = [];
  const job = (id: string, fields: string) =>
    `  - { id: ${id}, name: ${id}, ${fields}, steps: [${step(id)}], finally: [${
      step(`${id} end`)
    }] }\n`;
  const text = "name: w\njobs:\n" + job("a", "x-a: 1") + job("b", "needs: [a]") +
    job("c", "skipif: 1 == 1");
  const plan = await planWith({ "w.yml": text }, ({ n }) => {
    seen.push(String(n));
    return n === "a" ? Promise.reject(new Error("a bug")) : { req: {}, res: {}, status: 0 };
  });
  await run(plan, denoHost(), () => {});
  assertEquals(seen, ["a", "a end"]);
});
