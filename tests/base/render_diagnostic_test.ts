import { assertEquals } from "@std/assert";
import { type Diagnostic, renderDiagnostic, renderMasked } from "../../src/base/diagnostic.ts";
import { cutToWidth, displayWidth } from "../../src/base/text/display_width.ts";

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
