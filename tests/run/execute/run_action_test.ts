import { assertEquals, assertRejects } from "@std/assert";
import type { Action, ActionContext, Dict, RunAction } from "../../../src/action/action.ts";
import type { ActionExplainer } from "../../../src/action/explainer.ts";
import { hello } from "../../../src/actions/hello.ts";
import { onAbort } from "../../../src/action/on_abort.ts";
import { Resources } from "../../../src/action/resource_scope.ts";
import { Deadlines } from "../../../src/host/deadlines.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { Cancellation } from "../../../src/run/cancellation.ts";
import { Draws } from "../../../src/expr/draws.ts";
import { CompiledStep } from "../../../src/run/execute/compiled_step.ts";
import { Outputs } from "../../../src/run/execute/outputs.ts";
import { runAction, type TimedResult } from "../../../src/run/execute/attempt_step.ts";
import { Round, RunExecution, StepExecution } from "../../../src/run/run_state.ts";
import type { Job, Step } from "../../../src/workflow/model.ts";
import { StepError } from "../../../src/base/errors.ts";
import { type FakeClock, fakeClock } from "../../support/fake_clock.ts";

/** The part of a run that an attempt needs. */
function runAt(clock: FakeClock): RunExecution {
  return new RunExecution({
    host: { ...denoHost(), clock },
    options: {},
    deadlines: new Deadlines(clock),
    cancellation: new Cancellation(),
    resources: new Resources(),
    plan: { draws: new Draws() },
    progress: () => ({ state: "passed", failed: 0 }),
  } as unknown as RunExecution);
}

/** A step with an action. */
function stepOf(run: RunExecution, action: Action): StepExecution {
  const job = { id: "j" } as unknown as Job;
  const round = new Round({ run, job, outputs: new Outputs(new Map()), names: {} });
  const template = { kind: "constant", value: {} } as const;
  const timeout = { kind: "constant", milliseconds: 0 } as const;
  const step: Step = {
    index: 0,
    action,
    path: [],
    with: template,
    timeout,
    outputs: [],
    reads: [],
  };
  return new StepExecution(round, new CompiledStep(job, step));
}

async function runOnce(run: RunExecution, action: Action, params: Dict = {}): Promise<TimedResult> {
  return await new Promise<TimedResult>((resolve, reject) =>
    void runAction<void>(stepOf(run, action), params, 1000, resolve, reject)
  );
}

/** Begins an attempt of an action that ends when it is stopped, and gives its context. */
async function begin(run: RunExecution, name: string) {
  const begun = Promise.withResolvers<ActionContext>();
  const act: RunAction = (_params, context) => {
    context.deadline.pauseTimeout();
    begun.resolve(context);
    return new Promise((_resolve, reject) => onAbort(context.signal, reject));
  };
  const response = runOnce(run, { ...hello, name, load: () => Promise.resolve(act) });
  response.catch(() => {});
  return { response, context: await begun.promise };
}

Deno.test("runAction() counts the time of an action from when its turn has come", async () => {
  const clock = fakeClock();
  const { response, context } = await begin(runAt(clock), "queues");
  clock.advance(60_000);
  assertEquals(clock.waiting(), 0);
  context.deadline.resumeTimeout();
  clock.advance(999);
  assertEquals(clock.waiting(), 1);
  clock.advance(1);
  await assertRejects(() => response, StepError, "timed out after 1s");
});

Deno.test("runAction() interrupts an action that waits for its turn", async () => {
  const run = runAt(fakeClock());
  const { response } = await begin(run, "is interrupted");
  run.cancellation.cancel("interrupted by SIGINT");
  await assertRejects(() => response, StepError, "interrupted by SIGINT");
});

Deno.test("runAction() begins nothing when the run was interrupted while the code came", async () => {
  const run = runAt(fakeClock());
  const action = {
    ...hello,
    name: "loads long",
    load() {
      run.cancellation.cancel("interrupted by SIGINT");
      return Promise.resolve(() => Promise.reject(new Error("it was begun")));
    },
  };
  await assertRejects(
    () => runOnce(run, action),
    StepError,
    "interrupted by SIGINT",
  );
});

/** Carries out an action that throws, and gives what became of it. */
async function thrownBy(run: RunExecution, error: unknown, explainer?: ActionExplainer) {
  const action: Action = {
    ...hello,
    load: () => Promise.resolve(() => Promise.reject(error)),
    ...explainer ? { explainer: () => Promise.resolve(explainer) } : {},
  };
  return await runOnce(run, action, { host: "db" }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

Deno.test("runAction() has the action explain the errors of its driver", async () => {
  const lost = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const explain = (error: unknown, { host }: Dict) =>
    error === lost ? new StepError(`${host} closed the connection (ECONNRESET)`) : undefined;
  const explained = await thrownBy(runAt(fakeClock()), lost, { explain });
  assertEquals(String(explained), "StepError: db closed the connection (ECONNRESET)");
  const bug = new TypeError("x is undefined");
  assertEquals(await thrownBy(runAt(fakeClock()), bug, { explain }), bug);
  assertEquals(await thrownBy(runAt(fakeClock()), bug), bug);
});

Deno.test("runAction() reports why an action was stopped, not what its driver throws then", async () => {
  const run = runAt(fakeClock());
  const action: Action = {
    ...hello,
    load: () =>
      Promise.resolve((_params, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))))
      ),
  };
  const response = runOnce(run, action);
  await Promise.resolve();
  await Promise.resolve();
  run.cancellation.cancel("interrupted by SIGINT");
  await assertRejects(() => response, StepError, "interrupted by SIGINT");
});
