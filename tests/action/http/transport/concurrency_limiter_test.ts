import { assertEquals, assertRejects } from "@std/assert";
import {
  acquireSlot,
  ConcurrencyLimiter,
} from "../../../../src/action/http/transport/concurrency_limiter.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { socketsOf } from "../../../../src/action/http/transport/sockets.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { StepError } from "../../../../src/base/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
import { fakeClock } from "../../../support/fake_clock.ts";

const { clock } = denoHost();

Deno.test("acquireSlot() pauses the timeout only where it has to wait", async () => {
  const limiter = new ConcurrencyLimiter(1, clock);
  await using first = actionContext();
  await using second = actionContext();
  await acquireSlot(limiter, first);
  assertEquals(first.turns.paused, 0);
  const waiting = acquireSlot(limiter, second);
  assertEquals(second.turns, { paused: 1, resumed: 0 });
  limiter.release();
  await waiting;
  assertEquals(second.turns, { paused: 1, resumed: 1 });
  assertEquals([first.stops, second.stops], [0, 0]);
});

Deno.test("acquireSlot() gives the slot of a stopped action to the next", async () => {
  const limiter = new ConcurrencyLimiter(1, clock);
  await using first = actionContext();
  await using second = actionContext();
  await acquireSlot(limiter, first);
  const stopped = acquireSlot(limiter, second);
  const next = acquireSlot(limiter, first);
  second.stop(new StepError("interrupted"));
  await assertRejects(() => stopped, StepError, "interrupted");
  limiter.release();
  await next;
  assertEquals(limiter.isFull, true);
});

Deno.test("http gives its request when it is stopped in the queue", async () => {
  await using context = actionContext();
  const { limiter } = socketsOf(context);
  while (!limiter.isFull) await acquireSlot(limiter, context);
  const params = { get: "http://h/x", headers: { Authorization: "Bearer abc" } };
  const result = runHttp(params, context);
  context.stop(new StepError("interrupted"));
  const error = await assertRejects(() => result, StepError, "interrupted");
  assertEquals(error.details.req?.url, "http://h/x");
});

/** A limiter that twice as many ask as it may let in. */
function fullLimiter(limit: number) {
  const clock = fakeClock();
  const limiter = new ConcurrencyLimiter(limit, clock);
  let taken = 0;
  for (let index = 0; index < 2 * limit; index++) {
    limiter.acquire(() => {
      taken++;
      return true;
    });
  }
  return { clock, limiter, taken: () => taken };
}

Deno.test("ConcurrencyLimiter doubles its limit from time to time while nothing is released", () => {
  const { clock, taken } = fullLimiter(100);
  assertEquals(taken(), 8);
  clock.advance(9);
  assertEquals(taken(), 8);
  clock.advance(1);
  assertEquals(taken(), 16);
  clock.advance(20);
  assertEquals(taken(), 64);
  clock.advance(1000);
  assertEquals([taken(), clock.waiting()], [100, 0]);
});

Deno.test("ConcurrencyLimiter raises its limit by what is released, if that is not much", () => {
  const { clock, limiter, taken } = fullLimiter(1000);
  const release = (count: number) => {
    for (let index = 0; index < count; index++) limiter.release();
    clock.advance(1);
  };
  release(8);
  assertEquals(taken(), 8 + 2 * 8);
  release(16);
  assertEquals(taken(), 8 + 2 * (8 + 16));
  release(32);
  assertEquals(taken(), 8 + 2 * (8 + 16) + 32);
  release(1);
  assertEquals(taken(), 8 + 2 * (8 + 16 + 1) + 32);
  limiter.close();
  assertEquals(clock.waiting(), 0);
});

Deno.test("ConcurrencyLimiter starts with a low limit again once all was released", () => {
  const clock = fakeClock();
  const limiter = new ConcurrencyLimiter(100, clock);
  const askFor = (count: number) => {
    let taken = 0;
    for (let index = 0; index < count; index++) limiter.acquire(() => ++taken > 0);
    return taken;
  };
  assertEquals(askFor(20), 8);
  for (let index = 0; index < 20; index++) limiter.release();
  assertEquals(askFor(20), 8);
});
