import { assertEquals } from "@std/assert";
import { writtenOffset } from "../../src/base/source.ts";

/** `written` has `^` before the same character as the first `^` in `decoded`. */
const CASES: readonly { readonly written: string; readonly decoded: string }[] = [
  { written: "res.code == ^20", decoded: "res.code == ^20" },
  { written: "a\n    && ^b", decoded: "a && ^b" },
  { written: "a\n\n  ^b", decoded: "a\n^b" },
  { written: "'it''s ^here'", decoded: "it's ^here" },
  { written: "'it^''s'", decoded: "it^'s" },
  { written: "'a\n   ^b'", decoded: "a ^b" },
  { written: '"^a"', decoded: "^a" },
  { written: '"a\\"b ^c"', decoded: 'a"b ^c' },
  { written: '"a^\\"b"', decoded: 'a^"b' },
  { written: '"\\x41\\u00e9\\U0001F600^x"', decoded: "Aé😀^x" },
  { written: '"\\ta\\n\\n ^b"', decoded: "\ta\n\n ^b" },
  { written: '"ab\\\n    c^d"', decoded: "abc^d" },
  { written: '"a\\x20 ^b"', decoded: "a  ^b" },
  { written: "|\n    one\n    ^two\n", decoded: "one\n^two\n" },
  { written: "|2-  # why\n      one\n    ^two", decoded: "  one\n^two" },
  { written: "|\r\n  one\r\n  ^two\r\n", decoded: "one\n^two\n" },
  { written: ">\n  one\n  two\n\n  ^three\n", decoded: "one two\n^three\n" },
  { written: ">-\n  a ==^\n", decoded: "a ==^" },
  { written: "|\n  a ==^\n", decoded: "a ==^\n" },
  { written: '|\n  "quoted" \\n ^x\n', decoded: '"quoted" \\n ^x\n' },
];

Deno.test("writtenOffset() finds a character of a scalar as it is written", () => {
  for (const { written, decoded } of CASES) {
    const offset = writtenOffset(
      written.replace("^", ""),
      decoded.replace("^", ""),
      decoded.indexOf("^"),
    );
    assertEquals(offset, written.indexOf("^"), JSON.stringify(written));
  }
});

Deno.test("writtenOffset() of the end of a text is the end of its last word", () => {
  assertEquals(writtenOffset("|\n  a ==\n\n", "a ==\n", 5), 8);
  assertEquals(writtenOffset("'a'", "a", 1), 2);
  assertEquals(writtenOffset("''", "", 0), 1);
});

Deno.test("writtenOffset() knows nothing where the texts differ", () => {
  assertEquals(writtenOffset("abc", "xyz", 2), undefined);
  assertEquals(writtenOffset("abc", "abcdef", 6), undefined);
});
