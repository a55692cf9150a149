import { assert, assertEquals } from "@std/assert";
import { socketLimit } from "../../../../src/action/http/transport/socket_limit.ts";

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units
Max processes             9                    9                    processes
Max open files            ${soft}                20000                files
`;

Deno.test("socketLimit() stays below the limit of open files", () => {
  assertEquals(socketLimit(limits("256")), 192);
  assertEquals(socketLimit(limits("20000")), 1024);
  assertEquals(socketLimit(limits("unlimited")), 1024);
  assertEquals(socketLimit(limits("10")), 1);
  assertEquals(socketLimit(""), 960);
});

Deno.test("socketLimit() reads the limit of this process", () => {
  assert(socketLimit() >= 1 && socketLimit() <= 1024);
});
