import { assert, assertEquals } from "@std/assert";
import { printableEvent } from "../../../src/report/model/printable_event.ts";
import { runStarted, stepFinished } from "../events.ts";

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
