import { assertEquals, assertRejects } from "@std/assert";
import type {
  Action,
  ActionContext,
  ActionExplainer,
  Dict,
  RunAction,
} from "../../../src/action/action.ts";
import { hello } from "../../../src/action/hello.ts";
import { onAbort } from "../../../src/action/on_abort.ts";
import { Resources } from "../../../src/action/resource_scope.ts";
import { Deadlines } from "../../../src/host/deadlines.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { Cancellation } from "../../../src/run/cancellation.ts";
import { runAttempt } from "../../../src/run/execute/run_attempt.ts";
import type { Session } from "../../../src/run/session.ts";
import { StepError } from "../../../src/base/errors.ts";
import { type FakeClock, fakeClock } from "../../support/fake_clock.ts";

/** The part of a session that an attempt needs. */
function sessionAt(clock: FakeClock): Session {
  const session: Partial<Session> = {
    host: { ...denoHost(), clock },
    deadlines: new Deadlines(clock),
    cancellation: new Cancellation(),
    scope: new Resources(),
  };
  return session as Session;
}

function stepOf(timeout: number) {
  const scope = { run: new Resources(), job: new Resources(), step: new Resources() };
  return { label: "s", vars: {}, timeout, scope, names: { names: {}, strict: true }, path: [] };
}

/** Begins an attempt of an action that ends when it is stopped, and gives its context. */
async function begin(session: Session, name: string, timeout: number) {
  const begun = Promise.withResolvers<ActionContext>();
  const run: RunAction = (_params, context) => {
    context.deadline.pauseTimeout();
    begun.resolve(context);
    return new Promise((_resolve, reject) => onAbort(context.signal, reject));
  };
  const action = { ...hello, name, load: () => Promise.resolve(run) };
  const answer = runAttempt(session, action, { job: "j", step: 0 }, {}, stepOf(timeout));
  answer.catch(() => {});
  return { answer, context: await begun.promise };
}

Deno.test("runAttempt() counts the time of an action from when its turn has come", async () => {
  const clock = fakeClock();
  const { answer, context } = await begin(sessionAt(clock), "queues", 1000);
  clock.advance(60_000);
  assertEquals(clock.waiting(), 0);
  context.deadline.resumeTimeout();
  clock.advance(999);
  assertEquals(clock.waiting(), 1);
  clock.advance(1);
  await assertRejects(() => answer, StepError, "timed out after 1s");
});

Deno.test("runAttempt() interrupts an action that waits for its turn", async () => {
  const session = sessionAt(fakeClock());
  const { answer } = await begin(session, "is interrupted", 1000);
  session.cancellation.cancel("interrupted by SIGINT");
  await assertRejects(() => answer, StepError, "interrupted by SIGINT");
});

Deno.test("runAttempt() begins nothing when the run was interrupted while the code came", async () => {
  const session = sessionAt(fakeClock());
  const action = {
    ...hello,
    name: "loads long",
    load() {
      session.cancellation.cancel("interrupted by SIGINT");
      return Promise.resolve(() => Promise.reject(new Error("it was begun")));
    },
  };
  await assertRejects(
    () => runAttempt(session, action, { job: "j", step: 0 }, {}, stepOf(1000)),
    StepError,
    "interrupted by SIGINT",
  );
});

/** Carries out an action that throws, and gives what became of it. */
async function thrownBy(session: Session, error: unknown, explainer?: ActionExplainer) {
  const action: Action = {
    ...hello,
    load: () => Promise.resolve(() => Promise.reject(error)),
    ...explainer ? { explainer: () => Promise.resolve(explainer) } : {},
  };
  const answer = runAttempt(session, action, { job: "j", step: 0 }, { host: "db" }, stepOf(1000));
  return await answer.then(() => undefined, (thrown: unknown) => thrown);
}

Deno.test("runAttempt() has the action explain the errors of its driver", async () => {
  const lost = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const explain = (error: unknown, { host }: Dict) =>
    error === lost ? new StepError(`${host} closed the connection (ECONNRESET)`) : undefined;
  const explained = await thrownBy(sessionAt(fakeClock()), lost, { explain });
  assertEquals(String(explained), "StepError: db closed the connection (ECONNRESET)");
  const bug = new TypeError("x is undefined");
  assertEquals(await thrownBy(sessionAt(fakeClock()), bug, { explain }), bug);
  assertEquals(await thrownBy(sessionAt(fakeClock()), bug), bug);
});

Deno.test("runAttempt() reports why an action was stopped, not what its driver throws then", async () => {
  const session = sessionAt(fakeClock());
  const action: Action = {
    ...hello,
    load: () =>
      Promise.resolve((_params, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))))
      ),
  };
  const answer = runAttempt(session, action, { job: "j", step: 0 }, {}, stepOf(1000));
  await Promise.resolve();
  await Promise.resolve();
  session.cancellation.cancel("interrupted by SIGINT");
  await assertRejects(() => answer, StepError, "interrupted by SIGINT");
});
