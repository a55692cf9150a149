import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ActionContext, Dict, RunAction } from "../../src/action/action.ts";
import { compiledAction } from "../../src/action/make_action.ts";
import { hello } from "../../src/actions/hello.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { makePlan } from "../../src/plan/make_plan.ts";
import type { Plan, PlannedJob } from "../../src/plan/plan.ts";
import { Cancellation } from "../../src/run/cancellation.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { run } from "../../src/run/run.ts";
import type { RunOptions } from "../../src/run/run_state.ts";
import { Workbench } from "../../scripts/bench/bench.ts";
import { allocatedBy } from "../../scripts/bench/rounds.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { loadText } from "../support/load_files.ts";

/** A plan of a workflow whose steps, all of them `uses: hello`, do this. */
async function planWith(text: string, act: RunAction): Promise<Plan> {
  const { workflow } = await loadText(text);
  const plan = await makePlan(workflow, {});
  const action = { ...hello, load: () => Promise.resolve(act) };
  for (const { job } of plan.jobs) for (const step of job.steps) Object.assign(step, { action });
  return plan;
}

async function eventsOf(plan: Plan, options: RunOptions = {}): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await run(plan, denoHost(), (event) => void events.push(event), options);
  return events;
}

/** `name: state (reason)` of each job, in the order of their ends. */
function endsOf(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== "job_finished") return [];
    return `${event.job}: ${event.state}${event.reason === undefined ? "" : ` (${event.reason})`}`;
  });
}

function warningsOf(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "note" && event.level === "warning" ? event.text : []
  );
}

const OK = { req: {}, res: {}, status: 0 };

/** The cookies of a job, as an action would keep them. */
const cookiesOf = ({ scope }: ActionContext) =>
  scope.job.resource("test cookies", () => [] as string[]);

Deno.test("run() shares the resources of a job among its steps, and of a round of it", async () => {
  const seen: string[] = [];
  const text = `
name: w
jobs:
  - id: a
    name: a
    repeat: { count: 2, interval: 0s }
    steps: [{ uses: hello, with: { n: one } }, { uses: hello, with: { n: two } }]
  - id: b
    name: b
    steps: [{ uses: hello, with: { n: three } }]
    needs: [a]
`;
  const plan = await planWith(text, ({ n }, context) => {
    const cookies = cookiesOf(context);
    cookies.push(String(n));
    seen.push(cookies.join(" "));
    return OK;
  });
  await eventsOf(plan);
  assertEquals(seen, ["one", "one two", "one", "one two", "three"]);
});

Deno.test("run() closes steps before jobs and jobs before the run, also where they fail", async () => {
  const closed: string[] = [];
  const text = "name: w\njobs: [{ name: a, steps: [{ uses: hello }, { uses: hello }] }]\n";
  const plan = await planWith(text, (_, { scope }) => {
    for (const kind of ["run", "job", "step"] as const) {
      scope[kind].resource("test", () => kind, (name) => {
        closed.push(name);
        if (name === "job") throw new Error("it is locked");
      });
    }
    return Promise.reject(new Error("a bug"));
  });
  const events = await eventsOf(plan);
  assertEquals(closed, ["step", "step", "job", "run"]);
  assertEquals(warningsOf(events), ['cannot close "test": it is locked']);
  assertEquals(events.at(-1)!.type, "run_finished");
});

Deno.test("run() closes open resources after a cancellation", async () => {
  const cancellation = new Cancellation();
  const closed: string[] = [];
  const text = "name: w\njobs: [{ name: a, steps: [{ uses: hello }] }]\n";
  const plan = await planWith(text, (_, { scope, signal }) => {
    scope.run.resource("pool", () => "pool", (name) => void closed.push(name));
    queueMicrotask(() => cancellation.cancel("interrupted by SIGINT"));
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error())));
  });
  const events = await eventsOf(plan, { cancellation });
  assertEquals(closed, ["pool"]);
  const last = events.at(-1)!;
  assertEquals(last.type === "run_finished" && last.interrupted, "interrupted by SIGINT");
});

Deno.test("run() loads the code of an action for itself", async () => {
  const text = "name: w\njobs: [{ name: a, steps: [{ uses: hello }, { uses: hello }] }]\n";
  const used: string[] = [];
  const plans = await Promise.all(["one", "two"].map((name) =>
    planWith(text, () => {
      used.push(name);
      return OK;
    })
  ));
  for (const plan of plans) await eventsOf(plan);
  assertEquals(used, ["one", "one", "two", "two"]);
});

const CHAIN = `
name: w
jobs:
  - id: work
    name: work
    steps: [{ uses: hello, with: { n: work } }]
  - id: after
    name: after
    needs: [work]
    steps: [{ uses: hello, with: { n: after } }]
  - id: clean
    name: clean
    needs: [after]
    steps: [{ uses: hello, with: { n: clean } }]
`;

Deno.test("run() starts a job as its condition says", async () => {
  const plan = await planWith(CHAIN, ({ n }) => {
    if (n === "work") throw new Error("a bug");
    return OK;
  });
  const after = plan.jobs.find(({ job }) => job.id === "after")!;
  const startsWhen: PlannedJob["startsWhen"] = ([need]) =>
    need!.state === "failed" ? { starts: true } : { starts: false, reason: "nothing failed" };
  Object.assign(after, { startsWhen });
  assertEquals(endsOf(await eventsOf(plan)), ["work: failed", "after: passed", "clean: passed"]);
});

Deno.test("run() starts rounds in parallel at absolute times", async () => {
  const clock = fakeClock();
  const started: number[] = [];
  const text = `
name: w
jobs:
  - id: a
    name: a
    repeat: { count: 4, interval: 500us, async: true }
    steps: [{ uses: hello }]
`;
  const plan = await planWith(text, () => {
    started.push(clock.ticks());
    return OK;
  });
  // Timers are late by as much as a millisecond.
  const late = { ...clock, after: (time: number, act: () => void) => clock.after(time + 1, act) };
  const running = run(plan, { ...denoHost(), clock: late }, () => {});
  running.catch(() => {});
  let isOver = false;
  running.finally(() => isOver = true);
  for (let turn = 0; turn < 200 && !isOver; turn++) {
    await new Promise((resolve) => setTimeout(resolve));
    clock.advance(0.1);
  }
  await running;
  assertEquals(started.length, 4);
  assert(started.at(-1)! - started[0]! < 3.2, String(started));
});

Deno.test("run() begins a round when its action can have its turn", async () => {
  const text = `
name: w
jobs: [{ name: a, repeat: { count: 200, async: true }, steps: [{ uses: hello }] }]
`;
  const waiting: (() => void)[] = [];
  const plan = await planWith(text, async (_, { deadline }) => {
    deadline.pauseTimeout();
    await new Promise<void>((resolve) => waiting.push(resolve));
    deadline.resumeTimeout();
    return OK;
  });
  let isOver = false;
  const running = eventsOf(plan).finally(() => isOver = true);
  let most = 0;
  for (let turns = 0; !isOver; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, waiting.length);
    // The first ends when as many wait as there may be, or no more have come for long.
    if (most === 64 || turns > 100_000) waiting.shift()?.();
  }
  const rounds = (await running).filter(({ type }) => type === "round_finished");
  assertEquals([most, rounds.length], [64, 200]);
});

Deno.test("run() rejects with the error of the event handler, and closes everything", async () => {
  const closed: string[] = [];
  const text = "name: w\njobs: [{ name: a, steps: [{ uses: hello }] }]\n";
  const plan = await planWith(text, (_, { scope }) => {
    scope.run.resource("pool", () => "pool", (name) => void closed.push(name));
    return OK;
  });
  const emit = (event: RunEvent) => {
    if (event.type === "job_finished") throw new Error("the disk is full");
  };
  await assertRejects(() => run(plan, denoHost(), emit), Error, "the disk is full");
  assertEquals(closed, ["pool"]);
});

Deno.test("run() leaves no timer behind after a cancellation", async () => {
  const cancellation = new Cancellation();
  const waiting = new Set<symbol>();
  const { clock, ...host } = denoHost();
  const counted = {
    ...clock,
    after(milliseconds: number, act: () => void) {
      const one = Symbol();
      waiting.add(one);
      const disarm = clock.after(milliseconds, () => (waiting.delete(one), act()));
      return () => (waiting.delete(one), disarm());
    },
  };
  const plan = await planWith("name: w\njobs: [{ name: a, steps: [{ uses: hello }] }]\n", () => {
    cancellation.cancel("interrupted by SIGINT");
    return OK;
  });
  await run(plan, { ...host, clock: counted }, () => {}, { cancellation });
  assertEquals(waiting.size, 0);
});

const COMPILED = `
name: w
jobs:
  - name: a
    repeat: { count: 3, interval: 0s }
    steps:
      - uses: hello
        with: { n: 1 }
        test: res.a.x == 1 && (res?.b ?? "") != ""
      - uses: hello
        with: { n: "{{repeat_index}}" }
        echo: "{{res.c}} {{req}}"
      - uses: hello
        with: { n: 2 }
        test: res.d == 1
`;

Deno.test("run() prepares a step once where its parameters are constant, for what it reads", async () => {
  const prepared: string[] = [];
  const plan = await planWith(
    COMPILED,
    compiledAction(({ n }, { req, res }) => {
      const fields = [req, res].map((read) => read === "all" ? read : [...read].join(" "));
      prepared.push(`${n}: ${fields.join(" | ")}`);
      const left = { req: {}, res: { a: { x: 1 }, b: "b", c: "c", d: 2 } };
      const whole = () => ({ ...left, res: { ...left.res, more: "than is read" } });
      return () => Promise.resolve({ ...left, status: 0, whole });
    }),
  );
  const events = await eventsOf(plan);
  assertEquals(prepared.slice(0, 3), ["1:  | a b", "0: all | c", "2:  | d"]);
  assertEquals(prepared.slice(3), ["1: all | c", "2: all | c"]);
  const exchanges = events.flatMap((event) =>
    event.type === "step_finished" && event.result.exchange ? event.result.exchange.res : []
  );
  // What a failure shows is all that there is.
  const shown = exchanges.map((res) => (res as Dict).more);
  assertEquals(shown, Array(3).fill("than is read"));
});

for (
  const [kind, most] of Object.entries({
    hello: { kilobytes: 8, promises: 1 },
    stub: { kilobytes: 24, promises: 9 },
  })
) {
  Deno.test(`a round allocates little: ${kind}`, async () => {
    const directory = await Deno.makeTempDir();
    try {
      const { kilobytes, promises } = await allocatedBy(new Workbench(directory), kind);
      const figures = `${kilobytes} kB and ${promises} promises`;
      assert(kilobytes <= most.kilobytes && promises <= most.promises, figures);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}
