import { assertEquals } from "@std/assert";
import { excerptOf, shortenExcerpt, type Source, spanInFile } from "../../src/base/source.ts";

/** The place of `marked` in a text, as `line:column text-of-line|marked`. */
function place(text: string, marked: string): string {
  const source = { name: "a.yml", text };
  const start = text.indexOf(marked);
  const { line, column, text: shown, from, to } = excerptOf({
    source,
    start,
    end: start + marked.length,
  });
  return `${line}:${column} ${shown}|${shown.slice(from, to)}`;
}

Deno.test("excerptOf() counts lines and characters from 1", () => {
  assertEquals(place("one\ntwo three\nfour", "three"), "2:5 two three|three");
  assertEquals(place("one", "one"), "1:1 one|one");
  assertEquals(place("one\r\ntwo\r\n", "two"), "2:1 two|two");
  assertEquals(place("äö😀 x", "x"), "1:5 äö😀 x|x");
  assertEquals(place("one\ntwo\n", "one\ntwo"), "1:1 one|one");
});

Deno.test("excerptOf() stays inside the text", () => {
  const source = { name: "a.yml", text: "one\ntwo" };
  const { line, column } = excerptOf({ source, start: 100, end: 200 });
  assertEquals([line, column], [2, 4]);
  assertEquals(excerptOf({ source: { name: "a.yml", text: "" }, start: 0, end: 0 }).line, 1);
});

/** Where `b` of the inner text `a b` is found in a file with the inner text written like that. */
function inner(before: string, written: string, text: string): string {
  const file: Source = { name: "a.yml", text: `${before}${written}\nend: 1\n` };
  const origin = { source: file, start: before.length, end: before.length + written.length };
  const start = text.indexOf("b");
  const { file: name, line, column, text: shown, from, to } = excerptOf({
    source: { name: "test", text, origin },
    start,
    end: start + 1,
  });
  return `${name}:${line}:${column} ${shown}|${shown.slice(from, to)}`;
}

Deno.test("excerptOf() follows an inner text to where it is written in its file", () => {
  assertEquals(inner("test: ", "a b", "a b"), "a.yml:1:9 test: a b|b");
  assertEquals(inner("test: ", "a\n  b", "a b"), "a.yml:2:3   b|b");
  assertEquals(inner("test: ", "'a''s b'", "a's b"), "a.yml:1:13 test: 'a''s b'|b");
  assertEquals(inner("test: ", '"\\"a\\" b"', '"a" b'), 'a.yml:1:14 test: "\\"a\\" b"|b');
  assertEquals(inner("test: ", "|\n  a\n  b\n", "a\nb\n"), "a.yml:3:3   b|b");
  assertEquals(inner("test: ", ">-\n  a\n  b\n", "a b"), "a.yml:3:3   b|b");
});

Deno.test("excerptOf() shows the text as it was decoded where it cannot be found", () => {
  assertEquals(inner("test: ", '"\\x61 b"', "something else b"), "a.yml:1:7 something else b|b");
});

Deno.test("spanInFile() says whether the span is exact", () => {
  const file: Source = { name: "a.yml", text: "test: abc" };
  const origin = { source: file, start: 6, end: 9 };
  const span = spanInFile({ source: { name: "x", text: "abc", origin }, start: 1, end: 2 });
  assertEquals([span.start, span.end, span.exact], [7, 8, true]);
  const lost = spanInFile({ source: { name: "x", text: "xyz", origin }, start: 1, end: 2 });
  assertEquals([lost.start, lost.end, lost.exact], [6, 9, false]);
});

Deno.test("shortenExcerpt() keeps the text around the mark", () => {
  const text = `${"a".repeat(50)}[mark]${"b".repeat(50)}`;
  const shown = (text: string, longest: number) => {
    const start = text.indexOf("[");
    const place = excerptOf({ source: { name: "a.yml", text }, start, end: text.indexOf("]") + 1 });
    const { column, text: short, from, to } = shortenExcerpt(place, longest);
    return `${column} ${short}|${short.slice(from, to)}`;
  };
  assertEquals(shown(text, 200), `51 ${text}|[mark]`);
  assertEquals(shown(text, 16), "51 …aaaa[mark]bbbbbb…|[mark]");
  assertEquals(shown(text, 8), "51 …aa[mark]…|[mark]");
  assertEquals(shown(text, 4), "51 …a[ma…|[ma");
  assertEquals(shown(`[mark]${"b".repeat(50)}`, 10), "1 [mark]bbbb…|[mark]");
  assertEquals(shown(`${"a".repeat(50)}[mark]`, 10), "51 …aaaa[mark]|[mark]");
});
