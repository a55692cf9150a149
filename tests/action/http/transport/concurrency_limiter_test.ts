import { assertEquals, assertRejects } from "@std/assert";
import { Places, waitForPlace } from "../../../../src/action/http/transport/concurrency_limiter.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { socketsOf } from "../../../../src/action/http/transport/sockets.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { StepError } from "../../../../src/source/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
import { fakeClock } from "../../../support/fake_clock.ts";

const { clock } = denoHost();

Deno.test("waitForPlace() queues only where there is no place", async () => {
  const places = new Places(1, clock);
  await using first = actionContext();
  await using second = actionContext();
  await waitForPlace(places, first);
  assertEquals(first.turns.paused, 0);
  const waiting = waitForPlace(places, second);
  assertEquals(second.turns, { paused: 1, resumed: 0 });
  places.giveBack();
  await waiting;
  assertEquals(second.turns, { paused: 1, resumed: 1 });
  assertEquals([first.stops, second.stops], [0, 0]);
});

Deno.test("waitForPlace() gives the place of who was stopped to the next", async () => {
  const places = new Places(1, clock);
  await using first = actionContext();
  await using second = actionContext();
  await waitForPlace(places, first);
  const stopped = waitForPlace(places, second);
  const next = waitForPlace(places, first);
  second.stop(new StepError("interrupted"));
  await assertRejects(() => stopped, StepError, "interrupted");
  places.giveBack();
  await next;
  assertEquals(places.isFull, true);
});

Deno.test("http gives its request when it is stopped in the queue", async () => {
  await using context = actionContext();
  const { places } = socketsOf(context);
  while (!places.isFull) await waitForPlace(places, context);
  const params = { get: "http://h/x", headers: { Authorization: "Bearer abc" } };
  const result = runHttp(params, context);
  context.stop(new StepError("interrupted"));
  const error = await assertRejects(() => result, StepError, "interrupted");
  assertEquals(error.details.req?.url, "http://h/x");
});

/** Places of which all that there are are asked for, more than there can be. */
function askedPlaces(limit: number) {
  const clock = fakeClock();
  const places = new Places(limit, clock);
  let taken = 0;
  for (let index = 0; index < 2 * limit; index++) {
    places.ask(() => {
      taken++;
      return true;
    });
  }
  return { clock, places, taken: () => taken };
}

Deno.test("Places double from time to time while nothing is given back", () => {
  const { clock, taken } = askedPlaces(100);
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

Deno.test("Places become more by those that are given back, if these are not many", () => {
  const { clock, places, taken } = askedPlaces(1000);
  const giveBack = (count: number) => {
    for (let index = 0; index < count; index++) places.giveBack();
    clock.advance(1);
  };
  giveBack(8);
  assertEquals(taken(), 8 + 2 * 8);
  giveBack(16);
  assertEquals(taken(), 8 + 2 * (8 + 16));
  giveBack(32);
  assertEquals(taken(), 8 + 2 * (8 + 16) + 32);
  giveBack(1);
  assertEquals(taken(), 8 + 2 * (8 + 16 + 1) + 32);
  places.close();
  assertEquals(clock.waiting(), 0);
});

Deno.test("Places are few again once all were given back", () => {
  const clock = fakeClock();
  const places = new Places(100, clock);
  const askFor = (count: number) => {
    let taken = 0;
    for (let index = 0; index < count; index++) places.ask(() => ++taken > 0);
    return taken;
  };
  assertEquals(askFor(20), 8);
  for (let index = 0; index < 20; index++) places.giveBack();
  assertEquals(askFor(20), 8);
});
