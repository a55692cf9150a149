import { ACTIONS } from "../../src/action/registry.ts";
import { pageOf, TOPICS } from "../../src/cli/topics.ts";
import { type Build, bundle, CHECKOUT, IMPORTS } from "./bundler.ts";
import { importsOf } from "./imports_of.ts";
import { LIBRARIES, NEVER_IMPORTED } from "./libraries.ts";
import { nameChunks } from "./name_chunks.ts";
import { requireLate } from "./require_late.ts";
import { toAscii } from "./to_ascii.ts";

/** The chunk that starts the program. */
export const SPLIT_ENTRY = "cli.js";

const LOADED = `${CHECKOUT}/scripts/bundle/load_documents.ts`;
const ENTRY = `${CHECKOUT}/cli.ts`;

/** The program as one file with the file of its pages, and as chunks by their names. */
export interface Bundles {
  readonly file: string;
  readonly pages: string;
  readonly chunks: ReadonlyMap<string, string>;
}

/** Builds both forms of the program, stamped with a commit. Throws if one would be incomplete. */
export async function makeBundles(commit: string): Promise<Bundles> {
  const work = await Deno.makeTempDir({ prefix: "runner_bundle_" });
  try {
    const pages = `export const PAGES = ${JSON.stringify(await readDocuments())};\n`;
    const contained = `${work}/documents.ts`;
    await Deno.writeTextFile(
      contained,
      `${pages}export const loadDocuments = () => Promise.resolve(PAGES);\n`,
    );
    return {
      file: await makeFile({ commit, documents: LOADED, work }),
      pages,
      chunks: await makeChunks({ commit, documents: contained, work }),
    };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** The pages of all topics and actions. */
async function readDocuments(): Promise<Record<string, string>> {
  const topics = [...TOPICS, ...ACTIONS.map(({ name }) => name)];
  const pages = [...new Set(topics.flatMap((topic) => pageOf(topic) ?? []))];
  const read = async (page: string) => [page, await Deno.readTextFile(`${CHECKOUT}/docs/${page}`)];
  return Object.fromEntries(await Promise.all(pages.map(read)));
}

async function makeFile(build: Build): Promise<string> {
  const output = `${build.work}/runner.js`;
  const external = Object.keys(LIBRARIES).map((name) => `--external=${name}`);
  await bundle(`${CHECKOUT}/scripts/bundle/one_file.ts`, ["--output", output, ...external], build);
  const file = fetchLibraries(toAscii(await Deno.readTextFile(output)));
  const { fixed, lazy } = importsOf(file);
  const [early] = fixed;
  if (early !== undefined) {
    throw new Error(
      `the one file would load "${early}" at every start: ` +
        `import it by await import("${early}") in the file that needs it`,
    );
  }
  const missing = lazy.find((specifier) => !specifier.startsWith("node:"));
  if (missing !== undefined) throw new Error(`the one file imports "${missing}"`);
  return file;
}

/** Replaces the imports of libraries by calls that fetch them. */
function fetchLibraries(code: string): string {
  let text = code;
  for (const [name, purpose] of Object.entries(LIBRARIES)) {
    const given = [exactSpecifier(name), purpose].map((word) => JSON.stringify(word));
    const called = `globalThis.fetchLibrary(${given.join(",")})`;
    const replaced = text.replaceAll(`import(${JSON.stringify(name)})`, called);
    if (replaced === text) {
      throw new Error(
        `nothing imports "${name}" by await import("${name}"): libraries.ts lists it`,
      );
    }
    text = replaced;
  }
  return text;
}

/** `name@1.2.3`, with a path behind it if the module has one, as in deno.json. */
function exactSpecifier(name: string): string {
  const specifier = IMPORTS[name]?.replace(/^npm:/, "");
  if (!specifier || !/.@\d+\.\d+\.\d+(?:$|\/)/.test(specifier)) {
    throw new Error(`deno.json has no exact version of "${name}"`);
  }
  return specifier;
}

async function makeChunks(build: Build): Promise<Map<string, string>> {
  const directory = `${build.work}/split`;
  await bundle(ENTRY, ["--code-splitting", "--outdir", directory], build);
  const found = new Map<string, string>();
  for await (const { name } of Deno.readDir(directory)) {
    found.set(name, requireLate(await Deno.readTextFile(`${directory}/${name}`)));
  }
  const chunks = nameChunks(SPLIT_ENTRY, found);
  if (chunks.size < found.size) throw new Error("there are chunks that no other chunk imports");
  for (const [name, text] of chunks) {
    const { fixed, lazy } = importsOf(text);
    const missing = [...fixed, ...lazy.filter((name) => !NEVER_IMPORTED.has(name))].find((
      specifier,
    ) => !specifier.startsWith("node:") && !chunks.has(specifier.replace(/^\.\//, "")));
    if (missing) throw new Error(`chunk ${name} imports "${missing}", which is not a chunk`);
  }
  const early = startingWith(SPLIT_ENTRY, chunks).find((name) => name.startsWith("node:"));
  if (early) throw new Error(`the chunks would load "${early}" at every start`);
  return chunks;
}

/** What is loaded with a chunk before it runs, itself included. */
function startingWith(chunk: string, chunks: ReadonlyMap<string, string>): readonly string[] {
  const loaded = new Set([chunk]);
  for (const name of loaded) {
    const { fixed } = importsOf(chunks.get(name) ?? "");
    for (const specifier of fixed) loaded.add(specifier.replace(/^\.\//, ""));
  }
  return [...loaded];
}
