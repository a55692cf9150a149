import { assertEquals, assertRejects } from "@std/assert";
import { Places, waitForPlace } from "../../../src/action/http/places.ts";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { socketsOf } from "../../../src/action/http/sockets.ts";
import { StepError } from "../../../src/source/errors.ts";
import { actionContext } from "../../support/action_context.ts";

Deno.test("waitForPlace() queues only where there is no place", async () => {
  const places = new Places(1);
  await using first = actionContext();
  await using second = actionContext();
  await waitForPlace(places, first);
  assertEquals(first.turns.queued, 0);
  const waiting = waitForPlace(places, second);
  assertEquals(second.turns, { queued: 1, begun: 0 });
  places.giveBack();
  await waiting;
  assertEquals(second.turns, { queued: 1, begun: 1 });
  assertEquals([first.stops, second.stops], [0, 0]);
});

Deno.test("waitForPlace() gives the place of who was stopped to the next", async () => {
  const places = new Places(1);
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

Deno.test("http tells its request, and what is secret in it, when it is stopped in the queue", async () => {
  await using context = actionContext();
  const { places } = socketsOf(context.run, context.onRunEnd);
  while (!places.isFull) await waitForPlace(places, context);
  const params = { get: "http://h/x", headers: { Authorization: "Bearer abc" } };
  const result = runHttp(params, context);
  context.stop(new StepError("interrupted"));
  const error = await assertRejects(() => result, StepError, "interrupted");
  assertEquals(error.details.req?.url, "http://h/x");
  assertEquals(context.secrets, ["Bearer abc", "abc"]);
});
