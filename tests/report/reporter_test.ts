import { assert, assertEquals } from "@std/assert";
import { loadStyle, PLAIN, printableEvent } from "../../src/report/reporter.ts";
import { runStarted, stepFinished } from "./events.ts";

const COLOURED = await loadStyle(true);

Deno.test("a style with colours leaves an empty text empty", () => {
  for (const paint of Object.values(COLOURED)) assertEquals(paint(""), "");
});

Deno.test("a style with colours keeps a look on behind one inside it that ends the same way", () => {
  const { red, green, bold, dim } = COLOURED;
  assertEquals(red(`a${green("b")}c`), "\x1b[31ma\x1b[32mb\x1b[31mc\x1b[39m");
  assertEquals(bold(`a${dim("b")}c`), "\x1b[1ma\x1b[2mb\x1b[1mc\x1b[22m");
  assertEquals(bold(red("a")), "\x1b[1m\x1b[31ma\x1b[39m\x1b[22m");
});

Deno.test("loadStyle() adds colours only if they are wanted", async () => {
  assertEquals((await loadStyle(true)).red("x"), "\x1b[31mx\x1b[39m");
  assertEquals(await loadStyle(false), PLAIN);
});

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
