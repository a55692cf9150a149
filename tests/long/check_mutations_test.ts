import { assert, assertEquals } from "@std/assert";
import { checkFile } from "../../src/check/check_file.ts";
import type { Diagnostic } from "../../src/base/diagnostic.ts";
import { LoadError } from "../../src/base/errors.ts";
import { excerptOf } from "../../src/base/source.ts";
import { readLimits } from "../../src/workflow/limits.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { generator } from "../support/generator.ts";
import { hostWith } from "../support/load_files.ts";
import { EXAMPLES, mutate } from "../support/mutate.ts";

const SEED = 20_261_122;
const ROUNDS = 400;

Deno.test("a workflow with random slips is checked, with all findings of the loader", async () => {
  const random = generator(SEED);
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let text = EXAMPLES[random(EXAMPLES.length)]!;
    for (let count = 1 + random(3); count > 0; count--) text = mutate(text, random);
    const bytes = new TextEncoder().encode(text);
    const host = hostWith();
    const read = () => Promise.resolve(bytes);
    const list = () => Promise.resolve(undefined);
    const machine = { ...host, files: { ...host.files, read, list } };
    try {
      const { diagnostics: checked, isJobFile } = await checkFile(
        "w.yml",
        machine,
        readLimits(host.env),
      );
      // The loader takes it for a workflow.
      if (isJobFile) continue;
      const reported = checked.map(spell);
      const loaded = await loaderSays(() => loadWorkflow("w.yml", machine));
      assertEquals(loaded.map(spell).filter((line) => !reported.includes(line)), []);
      if (checked.length > loaded.length) found++;
    } catch (cause) {
      throw new Error(`round ${round}: ${JSON.stringify(text)}: ${cause}`, { cause });
    }
  }
  assert(found > ROUNDS / 20, `${found} of ${ROUNDS} had more to report`);
});

async function loaderSays(
  load: () => Promise<{ readonly warnings: readonly Diagnostic[] }>,
): Promise<readonly Diagnostic[]> {
  try {
    return (await load()).warnings;
  } catch (error) {
    if (error instanceof LoadError) return error.diagnostics;
    throw error;
  }
}

function spell({ severity, code, message, span }: Diagnostic): string {
  const { line, column, text, from, to } = excerptOf(span!);
  assert(line > 0 && column > 0 && from >= 0 && to >= from && from <= text.length, message);
  return `${line}:${column} ${severity} ${code} ${message}`;
}
