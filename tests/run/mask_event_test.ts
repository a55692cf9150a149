import { assert, assertEquals } from "@std/assert";
import type { Failure, RunEvent } from "../../src/run/event.ts";
import { maskEvent } from "../../src/run/mask_event.ts";
import { Masker } from "../../src/secrets/masker.ts";
import { jobFinished, jobStarted, runStarted, stepFinished, stepTally } from "../report/events.ts";

const RUN = { job: "a", step: 0, id: "login" };

const FAILURE: Failure = {
  kind: "test",
  field: "outputs.hunter22",
  message: "a hunter22",
  hint: "b hunter22",
  place: { file: "hunter22.yml", line: 1, column: 7, text: "test: hunter22 == 1", from: 6, to: 14 },
  expression: "hunter22 == 1",
  operands: [{ text: "hunter22", type: "string", value: { a: ["hunter22"] } }],
  difference: { expected: "hunter22", received: "hunter22", lines: ["- hunter22"] },
};

const ATTEMPT = {
  number: 1,
  started: 0,
  duration: 1,
  outcome: "error",
  message: "hunter22",
} as const;

/** One event of each type, with a secret in each of its texts. */
const EVENTS: readonly RunEvent[] = [
  runStarted(["a"], {
    name: "hunter22",
    description: "hunter22",
    file: "hunter22.yml",
    jobs: [{
      id: "a",
      name: "x hunter22",
      needs: [],
      steps: [{
        name: "step hunter22",
        uses: "http",
        place: { file: "hunter22.yml", line: 1, column: 1 },
      }],
    }],
  }),
  jobStarted("a", { name: "hunter22" }),
  { type: "step_started", runId: "r", time: 0, run: RUN, name: "hunter22", uses: "http" },
  { type: "step_waiting", runId: "r", time: 0, run: RUN, milliseconds: 1, why: "wait" },
  { type: "step_retried", runId: "r", time: 0, run: RUN, attempt: ATTEMPT, of: 2 },
  stepFinished(RUN, "hunter22", {
    attempts: [ATTEMPT],
    echo: "hunter22",
    failures: [FAILURE],
    tests: [{
      expression: "hunter22",
      operands: [{ text: "hunter22", type: "string", value: "hunter22" }],
    }],
    reason: "hunter22",
  }),
  { type: "round_finished", runId: "r", time: 0, job: "a", round: 0, state: "failed" },
  {
    ...{ type: "load_second", runId: "r", time: 0, job: "a", from: 0, length: 1000, stage: 0 },
    ...{ started: 1, inFlight: 0, rounds: { passed: 0, failed: 1, skipped: 0 } },
    steps: [stepTally(0, 0, {
      name: "hunter22",
      failures: [{
        ...{ cause: "s: hunter22", state: "failed", count: 1, from: 0, to: 0, round: 0 },
        first: {
          run: RUN,
          result: stepFinished(RUN, "hunter22", { failures: [FAILURE] }).result,
          inside: [],
        },
      }],
    })],
  },
  jobFinished("a", { name: "hunter22", reason: "hunter22", failures: [FAILURE] }),
  {
    type: "run_finished",
    runId: "r",
    time: 0,
    duration: 1,
    state: "failed",
    interrupted: "hunter22",
    jobs: { passed: 0, failed: 1, skipped: 0 },
    steps: { passed: 0, failed: 1, skipped: 0, untested: 0, allowed: 0 },
    flaky: 0,
  },
  { type: "note", runId: "r", time: 0, level: "debug", text: "hunter22", run: RUN },
];

function maskerOf(...secrets: string[]): Masker {
  const masker = new Masker();
  for (const secret of secrets) masker.add(secret);
  return masker;
}

for (const event of EVENTS) {
  Deno.test(`maskEvent() takes secrets out of every text of ${event.type}`, () => {
    const masked = JSON.stringify(maskEvent(event, maskerOf("hunter22")));
    assert(!masked.includes("hunter22"), masked);
  });

  Deno.test(`maskEvent() leaves ${event.type} as it is where there is no secret`, () => {
    assertEquals(maskEvent(event, maskerOf("something else")), event);
  });
}

Deno.test("maskEvent() leaves the shape of events alone", () => {
  const samples = [
    "run_started",
    "step_finished",
    "passed",
    "failed",
    "skipped",
    "untested",
    "expression",
    "interrupted",
    "warning",
    "initial_delay",
  ];
  for (const event of EVENTS) {
    assert(maskEvent({ ...event }, maskerOf(...samples)).type === event.type);
  }
  const failure: Failure = { kind: "expression", field: "x", message: "failed" };
  const event = stepFinished(RUN, "job", { state: "failed", failures: [failure] });
  assertEquals(maskEvent(event, maskerOf(...samples)), {
    ...event,
    result: { ...event.result, failures: [{ ...failure, message: "***" }] },
  });
});

Deno.test("maskEvent() leaves histograms as they are, whose text may be a secret by chance", () => {
  const times = { min: 1, max: 2, sum: 3, buckets: "hunter22" };
  const event: RunEvent = {
    ...{ type: "load_second", runId: "r", time: 0, job: "a", from: 0, length: 1000, stage: 0 },
    ...{ phase: "warm_up", started: 1, inFlight: 0, steps: [] },
    ...{ rounds: { passed: 2, failed: 0, skipped: 0 }, times },
  };
  assertEquals(maskEvent(event, maskerOf("hunter22", "warm_up")), event);
});

Deno.test("maskEvent() keeps jobs apart whose ids are secrets", () => {
  const event = runStarted(["secret-a", "secret-b"]);
  const { jobs } = maskEvent(event, maskerOf("secret-a", "secret-b")) as typeof event;
  assertEquals(jobs.map(({ id }) => id), ["secret-a", "secret-b"]);
});

Deno.test("maskEvent() looks for secrets in all data of a step, also in keys and numbers", () => {
  const data = { text: 1, from: "a", to: "b", line: "c", hunter22: [12345678, "x hunter22"] };
  const attempt = { ...ATTEMPT, detail: { failures: [], exchange: { req: data, res: null } } };
  const event = stepFinished(RUN, "hunter22", {
    attempts: [attempt],
    exchange: { req: null, res: { place: data } },
    outputs: data,
  });
  const { result } = maskEvent(event, maskerOf("hunter22", "12345678")) as typeof event;
  const masked = { text: 1, from: "a", to: "b", line: "c", "***": ["***", "x ***"] };
  assertEquals(result.attempts[0]!.detail!.exchange!.req, masked);
  assertEquals(result.exchange, { req: null, res: { place: masked } });
  assertEquals(result.outputs, masked);
});

Deno.test("maskEvent() looks for secrets in what describes an exchange, but not in pictures", () => {
  const view = {
    title: "GET hunter22",
    covered: ["hunter22"],
    minor: [["headers", "hunter22"]],
    images: [{ name: "hunter22", data: "data:image/png;base64,hunter22" }],
  };
  const exchange = { req: null, res: null, brief: "exit hunter22", view: { request: view } };
  const event = stepFinished(RUN, "s", { exchange: { ...exchange, command: "echo hunter22" } });
  assertEquals((maskEvent(event, maskerOf("hunter22")) as typeof event).result.exchange, {
    req: null,
    res: null,
    brief: "exit ***",
    view: {
      request: {
        title: "GET ***",
        covered: ["***"],
        minor: [["headers", "***"]],
        images: [{ name: "***", data: "data:image/png;base64,hunter22" }],
      },
    },
    command: "echo ***",
  });
});
