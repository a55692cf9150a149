import { bundle, CHECKOUT } from "./bundler.ts";
import { escapeOthers } from "./escape_others.ts";
import { findCalled } from "./find_called.ts";
import { importsOf } from "./imports_of.ts";
import { markCalled } from "./mark_called.ts";
import { nameChunks } from "./name_chunks.ts";
import { writeStandIns } from "./stand_ins.ts";

/** The file among the chunks that starts the program. */
export const SPLIT_ENTRY = "cli.js";

const FILE = "runner.js";
const ENTRY = `${CHECKOUT}/cli.ts`;
const BUILT_FROM = "src/cli/built_from.ts";

/** The program as one file, and as chunks by their names. */
export interface Bundles {
  readonly file: string;
  readonly chunks: ReadonlyMap<string, string>;
}

/** Builds both forms of the program, stamped with a commit. Throws where one would be incomplete. */
export async function makeBundles(commit: string): Promise<Bundles> {
  const work = await Deno.makeTempDir({ prefix: "runner_bundle_" });
  try {
    const stamp = `${work}/built_from.ts`;
    await Deno.writeTextFile(stamp, `export const BUILT_FROM = ${JSON.stringify(commit)};\n`);
    return { file: await makeFile(work, stamp), chunks: await makeChunks(work, stamp) };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function makeFile(work: string, stamp: string): Promise<string> {
  const bundled = `${work}/bundled.js`;
  const instead = { ...await writeStandIns(work), [BUILT_FROM]: stamp };
  await bundle(ENTRY, work, { output: ["--output", bundled], instead });
  const text = await Deno.readTextFile(bundled);
  const file = (await finish(new Map([[FILE, text]]), FILE, `${work}/file`)).get(FILE)!;
  const { fixed, lazy } = importsOf(file);
  const strange = [...fixed, ...lazy.filter((specifier) => !specifier.startsWith("node:"))];
  if (strange.length > 0) {
    const list = [...new Set(strange)].join('", "');
    throw new Error(`${FILE} imports "${list}": scripts/bundle/parts.ts says what comes how`);
  }
  return file;
}

async function makeChunks(work: string, stamp: string): Promise<Map<string, string>> {
  const folder = `${work}/bundled`;
  const output = ["--code-splitting", "--outdir", folder];
  await bundle(ENTRY, work, { output, instead: { [BUILT_FROM]: stamp } });
  const found = new Map<string, string>();
  for await (const { name } of Deno.readDir(folder)) {
    found.set(name, await Deno.readTextFile(`${folder}/${name}`));
  }
  const named = nameChunks(SPLIT_ENTRY, found);
  if (named.size < found.size) throw new Error("there are chunks that no other imports");
  const chunks = await finish(named, SPLIT_ENTRY, `${work}/split`);
  for (const [name, text] of chunks) {
    const { fixed, lazy } = importsOf(text);
    const strange = [...fixed, ...lazy].find((specifier) =>
      !specifier.startsWith("node:") && !chunks.has(specifier.replace(/^\.\//, ""))
    );
    if (strange) throw new Error(`chunk ${name} imports "${strange}", which is no chunk`);
  }
  return chunks;
}

/** Makes texts fast to load. */
async function finish(
  texts: ReadonlyMap<string, string>,
  entry: string,
  folder: string,
): Promise<Map<string, string>> {
  const finished = new Map([...texts].map(([name, text]) => [name, escapeOthers(text)]));
  const program = `${folder}/program`;
  await Deno.mkdir(program, { recursive: true });
  for (const [name, text] of finished) await Deno.writeTextFile(`${program}/${name}`, text);
  for (const [name, ranges] of await findCalled(program, entry, folder)) {
    const text = finished.get(name);
    if (text !== undefined) finished.set(name, markCalled(text, ranges));
  }
  return finished;
}
