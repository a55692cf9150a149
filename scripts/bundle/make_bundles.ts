import { loadDocuments } from "../../src/cli/help/documents.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { type Build, bundle, CHECKOUT, IMPORTS } from "./bundler.ts";
import { importsOf } from "./imports_of.ts";
import { makeProgramChunks } from "./make_chunks.ts";
import { LIBRARIES, NEVER_IMPORTED } from "./libraries.ts";
import { nameChunks } from "./name_chunks.ts";
import { requireLate } from "./require_late.ts";
import { toAscii } from "./to_ascii.ts";

/** The file that starts the program, beside its libraries and pages. */
export const SPLIT_ENTRY = "cli.js";
/** The files beside it: of the pages, and of the functions that load each library. */
const PAGES = "pages.js";
const LOADERS = "libraries.js";
/** What the program imports by names that the bundler leaves alone. */
const EXTERNAL = [...Object.keys(LIBRARIES), PAGES];

/** The program as one file, and the file of its pages. */
export interface OneFile {
  readonly file: string;
  readonly pages: string;
}

/** Builds the program as one file, stamped with a commit. Throws if it would be incomplete. */
export function makeOneFile(commit: string): Promise<OneFile> {
  return withWork(async (work) => {
    const build = { commit, work, documents: `${CHECKOUT}/scripts/bundle/load_documents.ts` };
    const program = await makeProgram(`${CHECKOUT}/scripts/bundle/one_file.ts`, build);
    const file = replaceImports(program, (name) => {
      const specifiers = [exactSpecifier(name), LIBRARIES[name]].map((word) =>
        JSON.stringify(word)
      );
      return `globalThis.fetchLibrary(${specifiers.join(",")})`;
    });
    return { file, pages: await makePages() };
  });
}

/**
 * Builds the program as chunks by their names, which hold all libraries and pages, stamped with a
 * commit. Throws if they would be incomplete.
 */
export function makeChunks(commit: string): Promise<ReadonlyMap<string, string>> {
  return withWork(async (work) => {
    const build = { commit, work, documents: `${work}/documents.ts` };
    const loading = `export const loadDocuments = async () => (await import("${PAGES}")).PAGES;\n`;
    await Deno.writeTextFile(build.documents, loading);
    const program = await makeProgramChunks(`${CHECKOUT}/cli.ts`, EXTERNAL, build);
    const chunks = [...program].map(([name, code]) => [name, toAscii(code)] as const);
    checkImports(chunks.map(([, code]) => code), /^\.\//);
    const load = (name: string) => `${later(LOADERS)}.then(({LOADERS})=>LOADERS["${name}"]())`;
    const files = [
      ...chunks.map(([name, code]) => [name, replaceImports(code, load)] as const),
      [PAGES, await makePages()] as const,
      ...await bundleLibraries(build),
    ];
    const names = files.map(([name]) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined) throw new Error(`two chunks are called ${twice}: chunk_table.ts`);
    return new Map(files);
  });
}

async function withWork<T>(make: (work: string) => Promise<T>): Promise<T> {
  const work = await Deno.makeTempDir({ prefix: "runner_bundle_" });
  try {
    return await make(work);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** The module of the pages of the documents. */
async function makePages(): Promise<string> {
  const texts = await loadDocuments(denoHost().files);
  return `export const PAGES = ${JSON.stringify(texts)};\n`;
}

/** All code of the program in one text, which imports each library by its name when it needs it. */
async function makeProgram(entry: string, build: Build): Promise<string> {
  const output = `${build.work}/program.js`;
  const external = EXTERNAL.map((name) => `--external=${name}`);
  await bundle([entry], ["--output", output, ...external], build);
  const code = toAscii(await Deno.readTextFile(output));
  checkImports([code], /^(?!)/);
  return code;
}

/** Throws where code would load a library at once, or imports none of those that are listed. */
function checkImports(codes: readonly string[], own: RegExp): void {
  const imports = codes.map(importsOf);
  const early = imports.flatMap(({ fixed }) => fixed).find((name) => !own.test(name));
  if (early !== undefined) {
    throw new Error(
      `the program would load "${early}" at every start: ` +
        `import it by await import("${early}") in the file that needs it`,
    );
  }
  const late = new Set(imports.flatMap(({ lazy }) => lazy));
  const unused = Object.keys(LIBRARIES).find((name) => !late.has(name));
  if (unused !== undefined) {
    throw new Error(
      `nothing imports "${unused}" by await import("${unused}"): libraries.ts lists it`,
    );
  }
  const missing = [...late].find((name) => !name.startsWith("node:") && !EXTERNAL.includes(name));
  if (missing !== undefined) throw new Error(`the program imports "${missing}"`);
}

/** Replaces the imports of libraries and of the pages. */
function replaceImports(code: string, load: (name: string) => string): string {
  return Object.keys(LIBRARIES).reduce(
    (text, name) => text.replaceAll(`import(${JSON.stringify(name)})`, load(name)),
    code,
  ).replaceAll(`import("${PAGES}")`, later(PAGES));
}

/** The import of a file beside this one, which Deno would read at once if it could see the name. */
function later(file: string): string {
  return `import(["./${file}"][0])`;
}

/** `name@1.2.3`, with a path behind it if the module has one, as in deno.json. */
function exactSpecifier(name: string): string {
  const specifier = IMPORTS[name]?.replace(/^npm:/, "");
  if (!specifier || !/.@\d+\.\d+\.\d+(?:$|\/)/.test(specifier)) {
    throw new Error(`deno.json has no exact version of "${name}"`);
  }
  return specifier;
}

/** The libraries, each in a file of its own that shares with others what both contain. */
async function bundleLibraries(build: Build): Promise<Map<string, string>> {
  const entry = `${build.work}/${LOADERS.replace(".js", ".ts")}`;
  const loaders = Object.keys(LIBRARIES).map((name) => `  "${name}": () => import("${name}"),\n`);
  await Deno.writeTextFile(entry, `export const LOADERS = {\n${loaders.join("")}};\n`);
  const directory = `${build.work}/libraries`;
  await bundle([entry], ["--code-splitting", "--outdir", directory], build);
  const found = new Map<string, string>();
  for await (const { name } of Deno.readDir(directory)) {
    found.set(name, requireLate(await Deno.readTextFile(`${directory}/${name}`)));
  }
  // Without those that only unused parts of a library import.
  const chunks = nameChunks(LOADERS, found);
  for (const [name, text] of chunks) {
    const { fixed, lazy } = importsOf(text);
    const missing = [...fixed, ...lazy.filter((name) => !NEVER_IMPORTED.has(name))].find((
      specifier,
    ) => !specifier.startsWith("node:") && !chunks.has(specifier.replace(/^\.\//, "")));
    if (missing) throw new Error(`chunk ${name} imports "${missing}", which is not a chunk`);
  }
  return new Map([...chunks].map(([name, text]) => [
    name,
    text.replace(/\bimport\("\.\/([\w.@-]+\.js)"\)/g, (_, file) => later(file)),
  ]));
}
