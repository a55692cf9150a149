import { assertEquals } from "@std/assert";
import { boundValue } from "../../src/value/bound_value.ts";
import { Masker } from "../../src/value/masker.ts";

const cut = (text: string, limit: number) => text.slice(0, limit);
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

Deno.test("boundValue() cuts a long text and says how much is left out", () => {
  const bounded = boundValue({ body: "a".repeat(30), headers: { a: "b".repeat(8) } }, 10, cut);
  assertEquals(plain(bounded), {
    body: "aaaaaaaaaa… (20 more characters)",
    headers: { a: "bbbbbbbb" },
  });
});

Deno.test("boundValue() cuts lists and maps where their field is full", () => {
  const list = Array.from({ length: 100 }, (_, i) => i);
  const map = Object.fromEntries(list.map((i) => [`key${i}`, i]));
  const bounded = plain(boundValue({ list, map }, 30, cut));
  assertEquals(bounded.list, [0, 1, 2, 3, "… (96 more)"]);
  assertEquals(bounded.map, { key0: 0, key1: 1, key2: 2, "…": "(97 more)" });
});

Deno.test("boundValue() masks before it cuts, in keys, texts and numbers", () => {
  const masker = new Masker();
  masker.add("0123456789");
  masker.add("445566");
  const bounded = boundValue(
    { a: "ab0123456789", "0123456789": 445566, n: 44556 },
    5,
    (text, n) => {
      return masker.mask(text, n);
    },
  );
  assertEquals(plain(bounded), { a: "ab***… (7 more characters)", "***": "***", n: 44556 });
});
