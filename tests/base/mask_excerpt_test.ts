import { assertEquals } from "@std/assert";
import { maskExcerpt } from "../../src/base/source.ts";
import { renderMasked } from "../../src/base/diagnostic.ts";

const mask = (text: string) => text.replaceAll("hunter2", "***");

Deno.test("maskExcerpt() keeps the mark under its text", () => {
  const text = 'key: "hunter2", other: hunter2';
  const place = { file: "a.yml", line: 1, column: 17, text, from: 16, to: 21 };
  const masked = maskExcerpt(place, mask);
  assertEquals(masked.text, 'key: "***", other: ***');
  assertEquals(masked.text.slice(masked.from, masked.to), "other");
});

Deno.test("maskExcerpt() marks the mask of a secret", () => {
  const place = { file: "a.yml", line: 1, column: 1, text: "a hunter2 b", from: 2, to: 9 };
  const masked = maskExcerpt(place, mask);
  assertEquals(masked.text.slice(masked.from, masked.to), "***");
});

Deno.test("maskExcerpt() takes secrets out of the name of the file", () => {
  const place = { file: "hunter2.yml", line: 1, column: 1, text: "a", from: 0, to: 1 };
  assertEquals(maskExcerpt(place, mask).file, "***.yml");
  assertEquals(maskExcerpt({ ...place, text: "hunter2" }, mask).file, "***.yml");
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
