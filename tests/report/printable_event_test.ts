import { assert, assertEquals } from "@std/assert";
import { printable, printableEvent } from "../../src/report/printable_event.ts";
import { runStarted, stepFinished } from "./events.ts";

const cases: readonly (readonly [title: string, text: string, expected: string])[] = [
  ["leaves plain text, line ends and tabs alone", "a\n\tb é 日 ✓", "a\n\tb é 日 ✓"],
  ["makes escape sequences visible", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"],
  ["makes a carriage return visible", "good\rbad", "good␍bad"],
  ["takes the line ends of Windows for line ends", "a\r\nb", "a\nb"],
  ["makes nothing of NUL, backspace and DEL", "\0\b\x7f", "␀␈␡"],
  ["replaces the controls above 127", "\x9b2J", "\ufffd2J"],
  ["replaces what turns the order of text around", "a\u202eb\u2066c", "a\ufffdb\ufffdc"],
];
for (const [title, text, expected] of cases) {
  Deno.test(`printable() ${title}`, () => assertEquals(printable(text), expected));
}

Deno.test("printableEvent() gives back an event that is fine", () => {
  const event = runStarted(["a"]);
  assert(printableEvent(event) === event);
});

Deno.test("printableEvent() reaches every text, keys included", () => {
  const event = stepFinished({ job: "a", step: 0 }, "a\x1bname", {
    exchange: { req: null, res: { "x\x1b": ["\x1b[2J", { deep: "\r" }], n: 1 } },
  });
  const safe = printableEvent(event);
  assertEquals(JSON.parse(JSON.stringify(safe)), {
    ...JSON.parse(JSON.stringify(event)),
    result: {
      ...JSON.parse(JSON.stringify(event.result)),
      name: "a␛name",
      exchange: { req: null, res: { "x␛": ["␛[2J", { deep: "␍" }], n: 1 } },
    },
  });
});
