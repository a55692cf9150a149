import { assertEquals, assertRejects } from "@std/assert";
import { endAll } from "../../src/run/run.ts";

Deno.test("endAll() waits for every end, also where one fails, and throws the first reason", async () => {
  const ended: string[] = [];
  const ends = [
    () => void ended.push("first"),
    () => {
      throw new Error("at once");
    },
    () => Promise.reject(new Error("later")),
    async () => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      ended.push("last");
    },
  ];
  await assertRejects(() => endAll(ends), Error, "at once");
  assertEquals(ended, ["first", "last"]);
});
