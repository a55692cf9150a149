import { assertEquals } from "@std/assert";
import { JobOrder } from "../../../src/report/model/job_order.ts";

Deno.test("JobOrder lets the first running job write at once and the others wait", () => {
  const order = new JobOrder();
  order.start(0);
  order.start(1);
  assertEquals(order.write(1, "b1 "), "");
  assertEquals(order.write(0, "a1 "), "a1 ");
  assertEquals(order.write(1, "b2 "), "");
  assertEquals(order.end(0, "a2 "), "a2 b1 b2 ");
  assertEquals(order.write(1, "b3 "), "b3 ");
  assertEquals(order.end(1, "b4"), "b4");
});

Deno.test("JobOrder writes those that have ended whole, in the order of the file, then the next", () => {
  const order = new JobOrder();
  for (const job of [2, 0, 1, 4, 3]) order.start(job);
  order.write(3, "d1 ");
  order.write(4, "e1 ");
  assertEquals(order.end(1, "b "), "");
  assertEquals(order.end(0, "a "), "");
  assertEquals(order.end(2, "c "), "c a b d1 ");
  assertEquals(order.write(3, "d2 "), "d2 ");
  assertEquals(order.end(3, ""), "e1 ");
});

Deno.test("JobOrder writes a job that never started as soon as nothing else is being written", () => {
  const order = new JobOrder();
  assertEquals(order.end(1, "b "), "b ");
  order.start(0);
  assertEquals(order.end(2, "c "), "");
  assertEquals(order.end(0, "a "), "a c ");
});
