import { assertEquals } from "@std/assert";
import { LoadError } from "../../src/base/errors.ts";
import { loadText } from "../support/load_files.ts";

Deno.test("of thousands of unknown needs the first are reported, without a search for each", async () => {
  const jobs = Array.from(
    { length: 4000 },
    (_, i) => `  - {name: j, id: some-job-${i}, needs: [sme-jbo-x${i}], steps: [{uses: hello}]}\n`,
  );
  let found: unknown;
  try {
    await loadText(`name: n\njobs:\n${jobs.join("")}`);
  } catch (error) {
    found = error;
  }
  const diagnostics = found instanceof LoadError ? found.diagnostics : [];
  assertEquals(diagnostics.length, 301);
  assertEquals(diagnostics.filter(({ hint }) => hint !== undefined).length, 20);
});
