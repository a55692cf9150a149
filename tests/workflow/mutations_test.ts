import { assert, assertEquals } from "@std/assert";
import { LoadError, UsageError } from "../../src/source/errors.ts";
import { renderDiagnostic } from "../../src/source/render_diagnostic.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { generator } from "../support/generator.ts";
import { hostWith } from "../support/load_files.ts";

const SEED = 20_261_121;
const ROUNDS = 600;

const EXAMPLES = readExamples(new URL("../../examples/", import.meta.url));

/** What slips into files: signs of YAML and of expressions, odd spaces, odd characters. */
const SLIPS = [
  ..."{}[]\"'`:-#&*!|>%@?,\t \n\\~<=.()0",
  ...[
    "{{",
    "}}",
    "<<: ",
    "- ",
    ": ",
    " #",
    "\r\n",
    "---\n",
    "...\n",
    "null",
    "*a ",
    "&a ",
    "!!int ",
  ],
  ...["__proto__", "\u00a0", "\ufeff", "\u2028", "é", "\u{1F600}", "\x00", "\x07"],
];

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
  const [head = "", line = "", carets = "", ...more] = shown.split("\n");
  const isShown = /^w\.yml:\d+:\d+: (error|warning): \S/.test(head) && /^ +\d+ \| /.test(line) &&
    /^ +\| *\^/.test(carets) && more.length === 0 && !/undefined|\[object/.test(head);
  assertEquals(isShown, true, `${shown}\n\n${JSON.stringify(text)}`);
}

function mutate(text: string, random: (limit: number) => number): string {
  const lines = text.split("\n");
  const [line, other, at] = [random(lines.length), random(lines.length), random(text.length)];
  const slip = SLIPS[random(SLIPS.length)]!;
  switch (random(11)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + random(5));
    case 1:
      return text.slice(0, at) + text.slice(at, at + 1 + random(20)) + text.slice(at);
    case 2:
      return text.slice(0, at) + slip + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + slip + text.slice(at);
    case 4:
      lines.splice(line, 1 + random(3));
      break;
    case 5:
      lines.splice(line, 0, ...lines.slice(other, other + 1 + random(4)));
      break;
    case 6:
      [lines[line], lines[other]] = [lines[other]!, lines[line]!];
      break;
    case 7:
      lines[line] = " ".repeat(random(8)) + lines[line]!.trimStart();
      break;
    case 8:
      lines[line] = "\t".repeat(random(3)) + lines[line]!;
      break;
    case 9:
      return text.slice(0, at);
    default: {
      const example = EXAMPLES[random(EXAMPLES.length)]!;
      return text.slice(0, at) + example.slice(random(example.length));
    }
  }
  return lines.join("\n");
}

function readExamples(folder: URL): readonly string[] {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(".yml")).sort();
  return names.map((name) => Deno.readTextFileSync(new URL(name, folder)));
}
