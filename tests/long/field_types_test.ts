import { assert, assertEquals } from "@std/assert";
import { workflowsOfFields } from "../support/field_places.ts";
import { explainText } from "../support/load_files.ts";

Deno.test("a value of any type under any key loads or is refused at its place", async () => {
  let refused = 0;
  for (const text of workflowsOfFields("all")) {
    const reported = await explainText(text);
    const first = reported.split("\n").filter((line) => line.startsWith("flow.yml:"));
    assert(!/undefined|NaN,|\[object|internal/.test(reported), `${text}\n${reported}`);
    if (reported === "") continue;
    refused++;
    assert(first.every((line) => /^flow\.yml:\d+:\d+: (error|warning): \S/.test(line)), reported);
    assertEquals(first.length > 0, true, `${text}\n${reported}`);
  }
  assert(refused > 500, `only ${refused} were refused`);
});
