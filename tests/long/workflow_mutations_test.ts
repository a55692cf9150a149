import { assert, assertEquals } from "@std/assert";
import { LoadError, UsageError } from "../../src/base/errors.ts";
import { renderDiagnostic } from "../../src/base/diagnostic.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { generator } from "../support/generator.ts";
import { hostWith } from "../support/load_files.ts";
import { EXAMPLES, mutate } from "../support/mutate.ts";

const SEED = 20_261_121;
const ROUNDS = 600;

Deno.test("a workflow with random slips loads, or is refused with places that can be shown", async () => {
  const random = generator(SEED);
  let loaded = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let text = EXAMPLES[random(EXAMPLES.length)]!;
    for (let count = 1 + random(3); count > 0; count--) text = mutate(text, random);
    if (await survives(text)) loaded++;
  }
  assert(loaded > ROUNDS / 20 && loaded < ROUNDS / 2, `${loaded} of ${ROUNDS} loaded`);
});

/** Whether a text loads. What is said otherwise must be for users, and have its place. */
async function survives(text: string): Promise<boolean> {
  const bytes = new TextEncoder().encode(text);
  const host = hostWith();
  const files = {
    ...host.files,
    read: () => Promise.resolve(bytes),
    list: () => Promise.resolve(undefined),
  };
  try {
    const { warnings } = await loadWorkflow("w.yml", { ...host, files });
    for (const warning of warnings) assertShows(renderDiagnostic(warning), text);
    return true;
  } catch (error) {
    if (!(error instanceof LoadError || error instanceof UsageError)) {
      throw new Error(`${JSON.stringify(text)} throws ${error}`, { cause: error });
    }
    const diagnostics = error instanceof LoadError ? error.diagnostics : [];
    for (const diagnostic of diagnostics) assertShows(renderDiagnostic(diagnostic), text);
    return false;
  }
}

/** A line with the place and what is wrong, the line of the file, and carets below it. */
function assertShows(shown: string, text: string): void {
  const [head = "", line = "", carets = "", ...rest] = shown.split("\n");
  const isShown = /^w\.yml:\d+:\d+: (error|warning): \S/.test(head) && /^ +\d+ \| /.test(line) &&
    /^ +\| *\^/.test(carets) && rest.length === 0 && !/undefined|\[object/.test(head);
  assertEquals(isShown, true, `${shown}\n\n${JSON.stringify(text)}`);
}
