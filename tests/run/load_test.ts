import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ActionContext, ActionResult, Dict, RunAction } from "../../src/action/action.ts";
import { hello } from "../../src/actions/hello.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { makePlan } from "../../src/plan/make_plan.ts";
import { Cancellation } from "../../src/run/cancellation.ts";
import type {
  JobFinished,
  LoadEnded,
  LoadSecond,
  PiecePart,
  RoundsTallied,
  RunEvent,
} from "../../src/run/event.ts";
import { LoadTotals } from "../../src/run/load/load_stats.ts";
import { mergeSeconds } from "../../src/run/load/load_stats.ts";
import { tallyRounds } from "../../src/run/round_tally.ts";
import { run } from "../../src/run/run.ts";
import type { RunOptions, RunPiece } from "../../src/run/run_state.ts";
import { type FakeClock, fakeClock } from "../support/fake_clock.ts";
import { loadText } from "../support/load_files.ts";

interface Ran {
  readonly seconds: readonly LoadSecond[];
  readonly ended: LoadEnded;
  readonly tallied: RoundsTallied;
  readonly finished: JobFinished;
  readonly events: readonly RunEvent[];
}

/** A clock that begins with the job. */
interface JobClock extends FakeClock {
  readonly time: number;
}

/**
 * Runs a load job, whose only step has an action that does this, by a clock that goes on in
 * milliseconds as soon as all waits for it.
 */
async function runLoad(
  load: string,
  act: (clock: JobClock, params: Dict, context: ActionContext) => ReturnType<RunAction>,
  options: RunOptions & {
    readonly onMillisecond?: (now: number) => void;
    readonly otherSteps?: string;
  } = {},
): Promise<Ran> {
  const { workflow } = await loadText(`
name: w
jobs:
  - name: j
    id: j
    load: ${load}
    steps:
      - uses: hello
        id: s
        with: { index: "{{round.index}}", user: "{{round.user}}", row: "{{vars.row ?? ''}}" }
        test: status == 0
${options.otherSteps ?? ""}
`);
  const plan = await makePlan(workflow, {});
  let began = 0;
  const fake = fakeClock();
  const clock: JobClock = Object.defineProperty({ ...fake, time: 0 }, "time", {
    get: () => fake.now() - began,
  });
  const code: RunAction = (params, context) => act(clock, params, context);
  const action = { ...hello, neverFails: undefined, load: () => Promise.resolve(code) };
  for (const { job } of plan.jobs) for (const step of job.steps) Object.assign(step, { action });
  const events: RunEvent[] = [];
  let isOver = false;
  const host = { ...denoHost(), clock };
  const take = (event: RunEvent) => {
    events.push(event);
    if (event.type === "job_started") began = clock.now();
  };
  const running = run(plan, host, take, options).finally(() => isOver = true);
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    if (clock.waiting() === 0) continue;
    clock.advance(1);
    options.onMillisecond?.(clock.time);
  }
  await running;
  const one = <T extends RunEvent["type"]>(type: T) =>
    events.find((event): event is Extract<RunEvent, { type: T }> => event.type === type)!;
  return {
    seconds: events.filter((event) => event.type === "load_second"),
    ended: one("load_ended"),
    tallied: one("rounds_tallied"),
    finished: one("job_finished"),
    events,
  };
}

const OK: ActionResult = { req: {}, res: {}, status: 0 };
const BAD: ActionResult = { ...OK, status: 1 };

/** An answer after so many milliseconds. */
function after(clock: FakeClock, milliseconds: number, result = OK): Promise<ActionResult> {
  return new Promise((resolve) => clock.after(milliseconds, () => resolve(result)));
}

Deno.test("rounds start exactly at their rate, and those of the warm-up count for nothing", async () => {
  const { ended, seconds, finished, events } = await runLoad(
    "{ rate: 200/s, for: 2500ms, warm_up: 500ms, expect: stats.count == 500 }",
    (clock) => after(clock, 7),
  );
  const { count, passed, failed, started, dropped, late, elapsed, rate, asked } = ended.stats;
  assertEquals([count, passed, failed, started, dropped, late], [500, 500, 0, 500, 0, 0]);
  assertEquals([elapsed, rate, asked], [2500, 200, 200]);
  assertEquals([ended.stats.p50, ended.stats.max], [7, 7]);
  assertEquals(ended.stats.steps.map(({ key, count, p99 }) => [key, count, p99]), [["s", 500, 7]]);
  assertEquals(
    seconds.map(({ from, length, phase, started, asked }) => [from, length, phase, started, asked]),
    [
      [0, 500, "warm_up", 100, 200],
      [500, 1000, undefined, 200, 200],
      [1500, 1000, undefined, 200, 200],
      [2500, 500, undefined, 100, 200],
      [3000, 2, "ending", 0, 0],
    ],
  );
  assertEquals(finished.state, "passed");
  assertEquals(ended.thresholds.map(({ expression, passed }) => [expression, passed]), [
    ["stats.count == 500", true],
    ["stats.failed == 0", true],
  ]);
  const types = new Set(events.map(({ type }) => type));
  assertEquals(types.has("step_finished") || types.has("round_finished"), false);
  const end = events.at(-1);
  assert(end?.type === "run_finished");
  assertEquals([end.steps.passed, end.assertions], [500, { passed: 500, failed: 0 }]);
});

Deno.test("a server that stalls shows in the times of all rounds that were due", async () => {
  // From 1000 on it answers nothing for a second, as to those who wait one after another.
  const { ended } = await runLoad(
    "{ rate: 100/s, for: 3s, max_in_flight: 1000 }",
    (clock) => after(clock, clock.time >= 1000 && clock.time < 2000 ? 2000 - clock.time : 1),
  );
  const { count, p50, p90, max, dropped } = ended.stats;
  // A third of the rounds waited for 10 to 1000 ms.
  assertEquals([count, dropped, p50, max], [300, 0, 1, 1000]);
  assert(Math.abs(p90 - 700) <= 10, `${p90}`);
});

Deno.test("a start without a place is dropped and counted", async () => {
  const { ended, finished } = await runLoad(
    "{ rate: 100/s, for: 2s, max_in_flight: 5, expect: stats.dropped == 0 }",
    (clock) => after(clock, clock.time < 500 ? 1005 - clock.time : 1),
  );
  const { started, dropped, inFlight } = ended.stats;
  assertEquals([started, dropped, inFlight], [104, 96, 5]);
  assertEquals(finished.state, "failed");
  assertEquals(finished.failures[0]?.message, "expect is false: stats.dropped is 96");
  assertEquals(ended.thresholds[0]?.operands, [{ text: "stats.dropped", value: 96 }]);
});

Deno.test("a load that measured no round fails, and thresholds of times that there are none of", async () => {
  const messageOf = ({ finished }: Ran) => finished.failures[0]?.message;
  const dropped = await runLoad(
    "{ rate: 100/s, for: 1s, warm_up: 1s, max_in_flight: 1, " +
      'expect: ["stats.p95 < 0.3", "stats.steps.s.p99 < 1", "stats.failed / stats.count < 0.01"] }',
    (clock) => after(clock, 2500 - clock.time),
  );
  assertEquals(messageOf(dropped), "no round was measured: all 100 were dropped");
  assertEquals(dropped.ended.thresholds.map(({ passed }) => passed), [false, false, false]);
  const notes = dropped.events.flatMap((event) => event.type === "note" ? event.text : []);
  assertEquals(notes, ["j: 100 of 100 rounds were dropped: max_in_flight is 1"]);
  const none = await runLoad("{ stages: [{ rate: 0/s, for: 1s }] }", () => OK);
  assertEquals(messageOf(none), "no round was measured: none was due");
});

Deno.test("each second has its own start, also where the last round begins just then", async () => {
  const { ended, seconds } = await runLoad("{ users: 2, count: 22 }", (clock) => after(clock, 100));
  assertEquals(seconds.map(({ from, length }) => [from, length]), [[0, 1000], [1000, 100]]);
  const { users, started, count } = ended.stats;
  assertEquals([users, started, count], [2, 22, 22]);
});

Deno.test("after a pause of the program a few rounds start at once, and two for each that ends", async () => {
  const starts = new Map<number, number>();
  const count = ({ time }: JobClock) => starts.set(time, (starts.get(time) ?? 0) + 1);
  const { ended } = await runLoad("{ rate: 1000/s, for: 400ms }", (clock) => {
    count(clock);
    if (clock.time === 100) clock.advance(150);
    return after(clock, clock.time < 255 ? 6 : 1);
  });
  assertEquals([ended.stats.started, ended.stats.passed], [400, 400]);
  const most = [...starts].filter(([time]) => time >= 250).map(([, count]) => count);
  assertEquals(most.slice(1, 5), [16, 16, 16, 16]);
  // Those that end add theirs to those that the timer starts.
  const greatest = Math.max(...most);
  assert(greatest > 16 && greatest < 100, String(most));
});

Deno.test("a program that is busy starts rounds late, and says so", async () => {
  const { ended, seconds, events } = await runLoad("{ rate: 100/s, for: 1s }", (clock) => {
    if (clock.time === 500) clock.advance(155);
    return OK;
  });
  const { started, late, lateMax, max } = ended.stats;
  // Those due at 510 to 640 began at 656; that at 650 was not late enough.
  assertEquals([started, late, lateMax, max], [100, 14, 146, 155]);
  assertEquals(seconds[0]?.late, 14);
  const notes = events.flatMap((event) => event.type === "note" ? event.text : []);
  assertEquals(notes.length, 1);
  assertMatch(
    notes[0]!,
    /: 14 rounds started late, by up to 146ms; runner used \d+ % of a processor /,
  );
});

Deno.test("a rate that takes longer to start its rounds is a lower one", async () => {
  const { ended, events } = await runLoad("{ rate: 100/s, for: 1s }", (clock) => {
    if (clock.time >= 500) clock.advance(30);
    return OK;
  });
  const { started, elapsed, rate, asked } = ended.stats;
  assertEquals([started, elapsed > 1900 && elapsed < 2100, asked], [100, true, 100]);
  assert(Math.abs(rate - 50) < 3, `${rate}`);
  const notes = events.flatMap((event) => event.type === "note" ? event.text : []);
  assert(/^j: the rate was \d+\/s of 100\/s asked, and/.test(notes[0] ?? ""), notes[0]);
});

Deno.test("rates ramp evenly", async () => {
  const { seconds, ended } = await runLoad(
    "{ stages: [{ rate: 10/s, for: 1s }, { rate: 50/s, for: 2s, ramp: true }, " +
      "{ rate: 0/s, for: 1s, ramp: true }] }",
    () => OK,
  );
  assertEquals(seconds.map(({ asked }) => asked), [10, 20, 40, 25]);
  assertEquals(seconds.map(({ started }) => started), [10, 20, 40, 25]);
  assertEquals(ended.stats.count, 95);
});

Deno.test("users run one round after another, with time to think", async () => {
  const users: Dict[] = [];
  const { ended, seconds } = await runLoad(
    "{ users: 3, for: 1s, think_time: 90ms }",
    (clock, p) => {
      users.push(p);
      return after(clock, 10);
    },
  );
  assertEquals([ended.stats.count, ended.stats.users, ended.stats.asked], [30, 3, undefined]);
  assertEquals(users.slice(0, 4).map(({ index, user }) => [index, user]), [
    [0, 0],
    [1, 1],
    [2, 2],
    [3, 0],
  ]);
  assertEquals(seconds[0]?.users, 3);
});

Deno.test("a pause that cannot be evaluated fails the job with what was measured", async () => {
  const { ended, finished } = await runLoad(
    '{ users: 1, for: 1s, think_time: "{{vars.x}}s" }',
    () => OK,
  );
  assertEquals([ended.stats.count, ended.stopped], [1, undefined]);
  assertEquals(finished.failures.map(({ field }) => field), ["load.think_time"]);
});

Deno.test("the number of users ramps up and down", async () => {
  const { seconds } = await runLoad(
    "{ stages: [{ users: 4, for: 2s, ramp: true }, { users: 0, for: 2s, ramp: true }], " +
      "think_time: 90ms }",
    (clock) => after(clock, 10),
  );
  // A user comes every half second, and goes in turn.
  assertEquals(seconds.slice(0, 4).map(({ started }) => started), [5, 25, 35, 15]);
});

Deno.test("count ends the job, and users share the rounds", async () => {
  const { ended } = await runLoad("{ users: 4, count: 10 }", (clock) => after(clock, 5));
  assertEquals([ended.stats.count, ended.stats.elapsed], [10, 15]);
  const once = await runLoad("{ users: 4, count: 10 }", () => OK);
  assertEquals([once.ended.stats.count, once.ended.stats.elapsed < 10], [10, true]);
  const open = await runLoad("{ rate: 100/s, count: 10 }", (clock) => after(clock, 5));
  assertEquals([open.ended.stats.count, open.ended.stats.elapsed], [10, 100]);
});

Deno.test("rounds take the rows of data in turn, round about or each once", async () => {
  const rows = async (more: string, data = "[{ row: a }, { row: b }, { row: c }]") => {
    const seen: unknown[] = [];
    await runLoad(
      `{ rate: 100/s, data: ${data}, ${more} }`,
      (_, p) => {
        seen.push(p.row);
        return OK;
      },
    );
    return seen.join("");
  };
  assertEquals(await rows("count: 7"), "abcabca");
  assertEquals(await rows("each: once"), "abc");
  assertEquals(await rows("count: 3", '"{{[{row: 1}, {row: 2}]}}"'), "121");
  const { finished } = await runLoad("{ users: 1, count: 2, data: { list: [] } }", () => OK);
  assertEquals(finished.failures[0]?.message, '"data" has no rows');
});

Deno.test("failures are grouped by their cause, and without thresholds they fail the job", async () => {
  const { ended, tallied, seconds, finished } = await runLoad(
    "{ rate: 100/s, for: 1200ms }",
    (_, { index }) => Number(index) % 10 === 0 ? BAD : OK,
  );
  assertEquals([ended.stats.count, ended.stats.failed, finished.state], [120, 12, "failed"]);
  const [cause, ...others] = tallied.steps[0]!.failures;
  assertEquals([cause?.count, cause && cause.to - cause.from > 1000, others], [12, true, []]);
  assertEquals(
    seconds.map(({ steps: [step] }) =>
      step!.failures.map(({ count, first }) => [count, first?.result.failures[0]?.message])
    ),
    [[[10, "test is false"]], [[2, undefined]]],
  );
  assertMatch(cause!.cause, /^.*:\d+:\d+ test is false$/);
});

Deno.test("a failed round fails a threshold, unless one says how many may fail", async () => {
  const outcome = async (expect: string) => {
    const act = (_: unknown, { index }: Dict) => Number(index) === 3 ? BAD : OK;
    const { ended, finished } = await runLoad(`{ users: 1, count: 9, expect: ${expect} }`, act);
    const { expression, passed } = ended.thresholds.at(-1)!;
    return [finished.state, expression, passed];
  };
  for (const expect of ["stats.p95 < 9", "true", "stats.steps.s.count == 9", "[1 == 1, 2 > 1]"]) {
    assertEquals(await outcome(expect), ["failed", "stats.failed == 0", false], expect);
  }
  for (const expect of ["stats.failed < 2", "stats.steps.s.passed > 7", "stats['failed'] == 1"]) {
    assertEquals(await outcome(`["${expect}"]`), ["passed", expect, true], expect);
  }
});

Deno.test("a threshold over a step that never ran fails, whatever it says", async () => {
  const expect = [
    ...["stats.steps.never.failed == 0", "not (stats.steps['never'].p95 > 1)"],
    ...["stats.steps.never.count == 0", "stats.count > 0 or stats.steps.never.failed > 0"],
    ...["let steps = stats.steps; steps.never.failed == 0", "stats.steps[vars.step].failed == 0"],
  ];
  const { ended, finished } = await runLoad(
    `{ users: 1, count: 9, expect: ${JSON.stringify(expect)}, stop_if: stats.steps.never.p95 > 1 }`,
    () => OK,
    { otherSteps: "      - { uses: hello, id: never, skipif: true }\nvars: { step: never }" },
  );
  assertEquals(ended.thresholds.map(({ passed }) => passed), expect.map(() => false));
  assertEquals(
    ended.thresholds.map(({ problem }) => problem).slice(0, 4),
    Array(4).fill('nothing was measured: the step "never" never ran'),
  );
  assertEquals([finished.failures.length, ended.stopped], [expect.length, undefined]);
});

Deno.test("stop_if ends the job as failed", async () => {
  const { ended, finished, seconds } = await runLoad(
    "{ rate: 100/s, for: 1m, stop_if: stats.failed / stats.count > 0.2 }",
    (clock) => clock.time > 1500 ? BAD : OK,
  );
  assertEquals([seconds.length, ended.stats.count, finished.state], [2, 200, "failed"]);
  assertEquals(ended.stopped, "stop_if is true: stats.failed / stats.count is 0.245");
  assertEquals(finished.failures[0]?.field, "load.stop_if");
});

Deno.test("after an interruption nothing starts, and rounds under way end", async () => {
  const cancellation = new Cancellation();
  const { ended, finished } = await runLoad(
    "{ rate: 100/s, for: 1m, expect: stats.failed == 0 }",
    (clock) => after(clock, 95),
    {
      cancellation,
      onMillisecond: (now) => {
        if (now === 1000) cancellation.cancel("interrupted by SIGINT");
      },
    },
  );
  const { started, count, failed } = ended.stats;
  assertEquals([started, count, failed, finished.state], [101, 101, 0, "failed"]);
  assertEquals(ended.stopped, "interrupted by SIGINT");
});

Deno.test("rounds that wait for nothing leave the event loop its turns", async () => {
  const { workflow } = await loadText(`
name: w
jobs: [{ name: j, load: { users: 2, for: 1m }, steps: [{ uses: hello }] }]
`);
  const plan = await makePlan(workflow, {});
  const action = { ...hello, load: () => Promise.resolve(() => Promise.resolve(OK)) };
  Object.assign(plan.jobs[0]!.job.steps[0]!, { action });
  const cancellation = new Cancellation();
  const began = performance.now();
  setTimeout(() => cancellation.cancel("interrupted"), 20);
  await run(plan, denoHost(), () => {}, { cancellation });
  assert(performance.now() - began < 30_000);
});

Deno.test("the time for those under way is bounded", async () => {
  const cancellation = new Cancellation();
  const { ended, tallied, seconds } = await runLoad(
    "{ users: 2, for: 1m }",
    (_clock, _params, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    {
      cancellation,
      cleanupTimeout: 500,
      onMillisecond: (now) => {
        if (now === 300) cancellation.cancel("interrupted by SIGINT");
      },
    },
  );
  assertEquals([ended.stats.started, ended.stats.count, tallied.steps], [2, 0, []]);
  assertEquals(seconds.reduce((sum, { rounds: { skipped } }) => sum + skipped, 0), 2);
  assertEquals(ended.stats.unfinished, 2);
});

Deno.test("--load scales the stages down, and off runs the job once", async () => {
  const { ended, seconds } = await runLoad(
    "{ stages: [{ rate: 100/s, for: 20s }, { rate: 10/s, for: 20s, ramp: true }] }",
    () => OK,
    { load: 2000 },
  );
  assertEquals([ended.stats.count, ended.stats.elapsed, seconds.length], [155, 2000, 2]);
  const { events, finished } = await runLoad(
    "{ rate: 100/s, for: 20s, expect: stats.count == 0, data: [{ row: a }] }",
    (_, { row, index }) => row === "a" && index === 0 ? OK : BAD,
    { load: "off" },
  );
  assertEquals(finished.state, "passed");
  assertEquals(events.map(({ type }) => type).filter((type) => type.startsWith("load")), []);
});

Deno.test("statistics are those of the times that a server took", async () => {
  const times: number[] = [];
  let state = 7;
  const next = () => (state = state * 16807 % 2147483647) / 2147483647;
  const { ended, seconds } = await runLoad(
    "{ rate: 500/s, for: 10s, max_in_flight: 5000 }",
    (clock) => {
      // Most are near 400 ms, and few are much longer.
      const time = Math.round(200 + 200 * -Math.log(next()));
      times.push(time);
      return after(clock, time);
    },
  );
  const sorted = times.toSorted((a, b) => a - b);
  const { count, p50, p90, p95, p99, p999, min, max, steps } = ended.stats;
  const exact = [50, 90, 95, 99, 99.9].map((percent) => sorted[Math.ceil(percent * 50) - 1]!);
  assertEquals([count, min, max], [5000, sorted[0], sorted.at(-1)]);
  for (const [index, found] of [p50, p90, p95, p99, p999].entries()) {
    assert(
      Math.abs(found - exact[index]!) <= exact[index]! / 100,
      `${found} is not ${exact[index]}`,
    );
  }
  assertEquals(steps[0]?.p95, p95);
  // A second of 500 rounds and their step.
  const longest = Math.max(...seconds.map((second) => JSON.stringify(second).length));
  assert(longest < 3000, `${longest} characters`);
});

Deno.test("what is known of a load job whose process was lost is the sum of its seconds", async () => {
  const { events, ended, tallied } = await runLoad(
    "{ rate: 100/s, for: 3s }",
    (clock, { index }) => after(clock, 5, Number(index) % 7 === 0 ? BAD : OK),
  );
  const left = events.filter(({ type }) => type !== "load_ended" && type !== "rounds_tallied");
  const made: RunEvent[] = JSON.parse(JSON.stringify([...tallyRounds(left)]));
  assertEquals(made.map(({ type }) => type), events.map(({ type }) => type));
  const found = made.find((event) => event.type === "load_ended");
  assertEquals(found?.stats, ended.stats);
  assertEquals(made.find(({ type }) => type === "rounds_tallied"), tallied);
  assertEquals(found?.stopped, "its process was lost");
});

/** Runs a part of the rounds, each of which takes so many milliseconds. */
function runPart(
  load: string,
  part: PiecePart,
  take: (params: Dict) => void,
  time = 5,
  result = OK,
) {
  const header = { schema: "runner.events/1", run: "r", workflow: "", created: 0, host: "" };
  const piece = { outcomes: new Map(), outputs: [], failed: 0 };
  return runLoad(load, (clock, params) => (take(params), after(clock, time, result)), {
    piece: { ...piece, header: { ...header, jobs: ["j"], part } } as unknown as RunPiece,
  });
}

Deno.test("processes together have no more rounds under way than max_in_flight", async () => {
  for (const most of [1, 3, 5]) {
    let under = 0;
    const started = new Set<unknown>();
    for (const index of [1, 2, 3, 4]) {
      const load = `{ rate: 100/s, for: 1s, max_in_flight: ${most} }`;
      const { ended } = await runPart(load, { index, of: 4 }, (p) => started.add(p.index), 9999);
      under += ended?.stats.inFlight ?? 0;
    }
    assertEquals([under, started.size], [most, most]);
  }
});

Deno.test("processes share the rounds and users of a load job, and their seconds add up", async () => {
  for (
    const [load, asked, users] of [
      ["{ rate: 101/s, for: 2s, expect: stats.count == 1 }", 101, undefined],
      ["{ users: 3, count: 202, think_time: 10ms }", undefined, 3],
    ] as const
  ) {
    const indexes: unknown[] = [];
    const seen = new Set<unknown>();
    const totals = new LoadTotals(["s"]);
    const parts: (readonly LoadSecond[])[] = [];
    for (const index of [1, 2]) {
      const { seconds, finished } = await runPart(load, { index, of: 2 }, (params) => {
        indexes.push(params.index);
        if (users) seen.add(`${index} ${params.user}`);
      });
      // The thresholds are for all rounds.
      assertEquals(finished.state, "passed");
      parts.push(seconds);
    }
    for (let at = 0; parts.some((part) => at < part.length); at++) {
      totals.add(mergeSeconds(parts.flatMap((part) => part[at] ?? [])));
    }
    assertEquals(
      indexes.map(Number).sort((a, b) => a - b),
      Array.from({ length: 202 }, (_, i) => i),
    );
    if (users) assertEquals([...seen], ["1 0", "1 2", "2 1"]);
    const { count, started, asked: all } = totals.stats();
    assertEquals([count, started, all], [202, 202, asked]);
  }
});

Deno.test("the failures of several processes keep their kinds, each with an example", async () => {
  const load = "{ rate: 101/s, for: 3s }";
  const parts = await Promise.all(
    [1, 2].map(async (index) => (await runPart(load, { index, of: 2 }, () => {}, 5, BAD)).seconds),
  );
  const totals = new LoadTotals(["s"]);
  for (let at = 0; parts.some((part) => at < part.length); at++) {
    totals.add(mergeSeconds(parts.flatMap((part) => part[at] ?? [])));
  }
  const [step] = totals.tally.toJson().steps;
  // Each has read the workflow from a directory of its own.
  assertEquals(step!.failures.map(({ count, first }) => [count, first !== undefined]), [
    [152, true],
    [151, true],
  ]);
  assertEquals(step!.otherFailures, 0);
});
