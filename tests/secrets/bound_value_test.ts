import { assertEquals } from "@std/assert";
import { boundValue } from "../../src/secrets/bound_value.ts";
import { Masker } from "../../src/secrets/masker.ts";

const NO_SECRETS = new Masker();
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

Deno.test("boundValue() cuts a long text and says how much is left out", () => {
  const bounded = boundValue(
    { body: "a".repeat(30), headers: { a: "b".repeat(8) } },
    10,
    NO_SECRETS,
  );
  assertEquals(plain(bounded), {
    body: "aaaaaaaaaa… (20 more characters)",
    headers: { a: "bbbbbbbb" },
  });
});

Deno.test("boundValue() cuts lists and maps where their field is full", () => {
  const list = Array.from({ length: 100 }, (_, i) => i);
  const map = Object.fromEntries(list.map((i) => [`key${i}`, i]));
  const bounded = plain(boundValue({ list, map }, 30, NO_SECRETS));
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
    masker,
  );
  assertEquals(plain(bounded), { a: "ab***… (7 more characters)", "***": "***", n: 44556 });
});

Deno.test("boundValue() keeps the end of a command's output, masked before it is cut", () => {
  const masker = new Masker();
  masker.add("secret-word");
  const said = `${"a\n".repeat(50)}secret-word\nlast line\n`;
  const bounded = plain(boundValue({ stdout: said, body: said, stderr: "short" }, 16, masker));
  assertEquals(bounded, {
    stdout: "(49 lines before) …\na\n***\nlast line\n",
    body: `${"a\n".repeat(8)}… (106 more characters in 44 lines)`,
    stderr: "short",
  });
  for (let limit = 0; limit < 130; limit++) {
    const { stdout } = plain(boundValue({ stdout: said }, limit, masker));
    assertEquals(/secret|word/.test(stdout), false);
  }
});

Deno.test("boundValue() begins the end of a text in a line where the line is long", () => {
  const bounded = plain(boundValue({ stdout: `${"a".repeat(100)}\nb` }, 10, NO_SECRETS));
  assertEquals(bounded.stdout, `(92 characters before) …${"a".repeat(8)}\nb`);
  assertEquals(
    plain(boundValue({ stdout: "no\nyes" }, 3, NO_SECRETS)).stdout,
    "(1 line before) …\nyes",
  );
  assertEquals(plain(boundValue({ stdout: 5, stderr: ["x"] }, 3, NO_SECRETS)), {
    stdout: 5,
    stderr: ["x"],
  });
});
