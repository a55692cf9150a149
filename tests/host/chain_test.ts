import { assertEquals } from "@std/assert";
import { Chain } from "../../src/host/deadlines.ts";

Deno.test("Chain keeps values in order, and each can be taken out at once", () => {
  const chain = new Chain<string>();
  assertEquals([chain.isEmpty, chain.first], [true, undefined]);
  const [a, b, c] = ["a", "b", "c"].map((value) => chain.add(value));
  assertEquals(chain.values(), ["a", "b", "c"]);
  b?.remove();
  b?.remove();
  assertEquals(chain.values(), ["a", "c"]);
  a?.remove();
  assertEquals(chain.first?.value, "c");
  c?.remove();
  assertEquals([chain.isEmpty, chain.values()], [true, []]);
});
