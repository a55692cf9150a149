import { assertEquals } from "@std/assert";
import { type Diagnostic, renderDiagnostic, renderMasked } from "../../src/base/diagnostic.ts";
import {
  excerptOf,
  maskExcerpt,
  shortenExcerpt,
  type Source,
  spanInFile,
  writtenOffset,
} from "../../src/base/source.ts";
import { cutToWidth, displayWidth } from "../../src/base/text/display_width.ts";

/** The place of `marked` in a text, as `line:column text-of-line|marked`. */
function markedIn(text: string, marked: string): string {
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
  assertEquals(markedIn("one\ntwo three\nfour", "three"), "2:5 two three|three");
  assertEquals(markedIn("one", "one"), "1:1 one|one");
  assertEquals(markedIn("one\r\ntwo\r\n", "two"), "2:1 two|two");
  assertEquals(markedIn("äö😀 x", "x"), "1:5 äö😀 x|x");
  assertEquals(markedIn("one\ntwo\n", "one\ntwo"), "1:1 one|one");
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
    const excerpt = excerptOf({
      source: { name: "a.yml", text },
      start,
      end: text.indexOf("]") + 1,
    });
    const { column, text: short, from, to } = shortenExcerpt(excerpt, longest);
    return `${column} ${short}|${short.slice(from, to)}`;
  };
  assertEquals(shown(text, 200), `51 ${text}|[mark]`);
  assertEquals(shown(text, 16), "51 …aaaa[mark]bbbbbb…|[mark]");
  assertEquals(shown(text, 8), "51 …aa[mark]…|[mark]");
  assertEquals(shown(text, 4), "51 …a[ma…|[ma");
  assertEquals(shown(`[mark]${"b".repeat(50)}`, 10), "1 [mark]bbbb…|[mark]");
  assertEquals(shown(`${"a".repeat(50)}[mark]`, 10), "51 …aaaa[mark]|[mark]");
});

const mask = (text: string) => text.replaceAll("hunter2", "***");

Deno.test("maskExcerpt() keeps the mark under its text", () => {
  const text = 'key: "hunter2", other: hunter2';
  const excerpt = { file: "a.yml", line: 1, column: 17, text, from: 16, to: 21 };
  const masked = maskExcerpt(excerpt, mask);
  assertEquals(masked.text, 'key: "***", other: ***');
  assertEquals(masked.text.slice(masked.from, masked.to), "other");
});

Deno.test("maskExcerpt() marks the mask of a secret", () => {
  const excerpt = { file: "a.yml", line: 1, column: 1, text: "a hunter2 b", from: 2, to: 9 };
  const masked = maskExcerpt(excerpt, mask);
  assertEquals(masked.text.slice(masked.from, masked.to), "***");
});

Deno.test("maskExcerpt() takes secrets out of the name of the file", () => {
  const excerpt = { file: "hunter2.yml", line: 1, column: 1, text: "a", from: 0, to: 1 };
  assertEquals(maskExcerpt(excerpt, mask).file, "***.yml");
  assertEquals(maskExcerpt({ ...excerpt, text: "hunter2" }, mask).file, "***.yml");
});

Deno.test("renderMasked() shows no secret of a diagnostic", () => {
  const source = { name: "hunter2.yml", text: "a: hunter2, b" };
  const reported = renderMasked({
    severity: "error",
    code: "x",
    message: 'no "hunter2"',
    hint: "write hunter2",
    span: { source, start: 12, end: 13 },
  }, mask);
  assertEquals(
    reported,
    '***.yml:1:13: error: no "***"\n  1 | a: ***, b\n    |         ^ write ***',
  );
});

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

function render(text: string, marked: string, hint?: string): string {
  const start = text.indexOf(marked);
  return renderDiagnostic({
    severity: "error",
    code: "test",
    message: "something is wrong",
    ...hint === undefined ? {} : { hint },
    span: { source: { name: "a.yml", text }, start, end: start + marked.length },
  });
}

Deno.test("renderDiagnostic() shows the line with carets under the part", () => {
  assertEquals(
    render("a: 1\nbcd: xyz\n", "xyz", "try another"),
    `a.yml:2:6: error: something is wrong
  2 | bcd: xyz
    |      ^^^ try another`,
  );
});

Deno.test("renderDiagnostic() keeps the caret under its text", () => {
  const caret = (text: string) => {
    const [, line = "", carets = ""] = render(text, "X").split("\n");
    return [line.replace("  1 | ", ""), carets.replace("    | ", "")];
  };
  assertEquals(caret("日本 X"), ["日本 X", "     ^"]);
  assertEquals(caret("\tX"), [" X", " ^"]);
  assertEquals(caret("\x1b[31mX"), ["␛[31mX", "     ^"]);
  assertEquals(caret("e\u0301X"), ["e\u0301X", " ^"]);
});

Deno.test("renderDiagnostic() cuts a long line around the part", () => {
  const [, line = "", carets = ""] = render(`${"a".repeat(5000)}X${"b".repeat(5000)}`, "X")
    .split("\n");
  assertEquals(line.length < 120, true);
  assertEquals(line[carets.indexOf("^")], "X");
});

Deno.test("renderMasked() stays within a terminal, with each caret under its text", () => {
  const text = `  - url: "${"a".repeat(60)}X${"日".repeat(40)}"`;
  for (const columns of [14, 21, 30, 41, 80, 200]) {
    for (const marked of ["u", "X", "日"]) {
      const start = text.indexOf(marked);
      const span = { source: { name: "a.yml", text }, start, end: start + 1 };
      const message = "something is wrong here";
      const diagnostic = { severity: "error", code: "test", message, hint: "try another", span };
      const lines = renderMasked(diagnostic as Diagnostic, (text) => text, columns).split("\n");
      const at = lines.findIndex((line) => line.includes(" 1 | "));
      assertEquals(lines.filter((line) => displayWidth(line) > columns), [], `${columns}`);
      assertEquals(lines.slice(0, at).join(" "), `a.yml:1:${start + 1}: error: ${message}`);
      const under = displayWidth(lines[at + 1]!.split("^")[0]!);
      const before = cutToWidth(lines[at]!, under);
      assertEquals(lines[at]!.slice(before.length, before.length + 1), marked, `${columns}`);
    }
  }
});

Deno.test("renderDiagnostic() marks one column of an empty part, and many of a line at most", () => {
  assertEquals(render("abc", "").split("\n")[2], "    | ^");
  const carets = render("a".repeat(500), "a".repeat(500)).split("\n")[2] ?? "";
  assertEquals(carets.length <= 106, true);
});

Deno.test("renderDiagnostic() without a place is one line, and the hint below it", () => {
  const diagnostic = { severity: "warning", code: "test", message: "odd" } as const;
  assertEquals(renderDiagnostic(diagnostic), "warning: odd");
  assertEquals(renderDiagnostic({ ...diagnostic, hint: "try" }), "warning: odd\n  try");
});

Deno.test("renderDiagnostic() keeps quoted text on one line, and shows control characters", () => {
  const diagnostic = { severity: "error", code: "test", message: 'no "a\nb\x1b[31m"' } as const;
  assertEquals(renderDiagnostic(diagnostic), 'error: no "a b␛[31m"');
  const long = renderDiagnostic({ ...diagnostic, message: "a".repeat(10_000) });
  assertEquals(long, `error: ${"a".repeat(400)}…`);
});
