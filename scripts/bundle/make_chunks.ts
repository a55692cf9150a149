import { type AnyNode, type ImportDeclaration, parse } from "acorn";
import { type Build, bundle } from "./bundler.ts";
import { CHUNKS, STARTS } from "./chunk_table.ts";
import { nameChunks } from "./name_chunks.ts";

/** A part of the program that the bundler never divides: all of it is needed, or nothing. */
interface Part {
  readonly code: string;
  /** The chunk that has it. */
  readonly chunk: string;
  /** The names of it that other chunks import; `*` is the whole, imported when it is needed. */
  readonly exported: Set<string>;
}

/** The chunk that starts the program and waits for its end: no other chunk imports it. */
const ENTRY = "cli";
/** How chunks name each other until each is bundled. */
const SCHEME = "chunk:";
/** Stands for `import.meta.main`, which the bundler makes `false` in what an entry imports. */
const IS_MAIN = "__isMain";

/**
 * The program as chunks by subject, as texts by file name. A chunk names those that it loads later
 * in a way that Deno cannot follow, which otherwise reads all of them when the program starts.
 */
export async function makeProgramChunks(
  entry: string,
  external: readonly string[],
  build: Build,
): Promise<Map<string, string>> {
  const parts = await divide(entry, external, build);
  const sources = `${build.work}/parts`;
  await Deno.mkdir(sources, { recursive: true });
  for (const [file, part] of parts) {
    await Deno.writeTextFile(`${sources}/${file}`, withOtherChunks(file, part, parts));
  }
  const chunks = [...new Set([...parts.values()].map(({ chunk }) => chunk))];
  for (const chunk of chunks) {
    await Deno.writeTextFile(`${sources}/chunk_${chunk}.js`, entryOf(chunk, parts));
  }
  const output = `${build.work}/chunks`;
  const entries = chunks.map((chunk) => `${sources}/chunk_${chunk}.js`);
  const options = [...external, `${SCHEME}*`].map((name) => `--external=${name}`);
  await bundle(entries, ["--outdir", output, ...options], build);
  const texts = await Promise.all(
    chunks.map((chunk) => Deno.readTextFile(`${output}/chunk_${chunk}.js`)),
  );
  return new Map(chunks.map((chunk, at) => [`${chunk}.js`, withFileNames(texts[at]!)]));
}

/** The parts of the program by file name, each with its chunk. */
async function divide(
  entry: string,
  external: readonly string[],
  build: Build,
): Promise<ReadonlyMap<string, Part>> {
  const output = `${build.work}/program`;
  const options = external.map((name) => `--external=${name}`);
  await bundle([entry], ["--code-splitting", "--outdir", output, ...options], build, "readable");
  const found = new Map<string, string>();
  for await (const { name } of Deno.readDir(output)) {
    found.set(name, await Deno.readTextFile(`${output}/${name}`));
  }
  const codes = nameChunks(`${ENTRY}.js`, found);
  const started = startedBy(codes);
  const chunkOf = (file: string): string => {
    const code = codes.get(file)!;
    const modules = modulesOf(code);
    if (modules.length > 0) return started.get(file) ?? chunkOfMost(modules);
    // One without sources passes on what is in another, which others import too.
    const passed = nodesOf(code).find((node) =>
      node.type === "ImportDeclaration" && node.specifiers.length > 0
    ) as ImportDeclaration | undefined;
    const from = fileOf(passed?.source.value);
    // Functions of the bundler, which all need.
    return from === undefined ? STARTS[0]![0] : chunkOf(from);
  };
  return new Map([...codes].map(([file, code]) => [
    file,
    { code, chunk: chunkOf(file), exported: new Set<string>() },
  ]));
}

/** The sources of a part, as the bundler notes them. */
function modulesOf(code: string): readonly string[] {
  return [...code.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, path]) => path!);
}

/** The chunk that most of the sources of a part belong to. */
function chunkOfMost(modules: readonly string[]): string {
  const chunks = modules.map((module) =>
    CHUNKS.find(([, paths]) => paths.some((path) => `${module}/`.startsWith(`${path}/`)))?.[0] ??
      "run"
  );
  const share = ([name]: (typeof CHUNKS)[number]) => chunks.filter((one) => one === name).length;
  return CHUNKS.toSorted((a, b) => share(b) - share(a))[0]![0];
}

/** The chunks of the files that are loaded by what starts. */
function startedBy(codes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const chunks = new Map<string, string>();
  for (const [chunk, starts] of STARTS) {
    const isStart = (module: string) => starts.some((end) => `/${module}`.endsWith(`/${end}`));
    const found = new Set(
      [...codes].flatMap(([file, code]) => modulesOf(code).some(isStart) ? [file] : []),
    );
    for (const file of found) {
      if (chunks.has(file)) continue;
      chunks.set(file, file === `${ENTRY}.js` ? ENTRY : chunk);
      for (const node of nodesOf(codes.get(file)!)) {
        const name = node.type === "ImportDeclaration" ? fileOf(node.source.value) : undefined;
        if (name !== undefined && codes.has(name)) found.add(name);
      }
    }
  }
  return chunks;
}

function fileOf(specifier: unknown): string | undefined {
  return typeof specifier === "string" && specifier.startsWith("./")
    ? specifier.slice("./".length)
    : undefined;
}

/** The code of a part that imports from other chunks what is in parts of theirs. */
function withOtherChunks(
  file: string,
  { code, chunk }: Part,
  parts: ReadonlyMap<string, Part>,
): string {
  const changes: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  for (const node of nodesOf(code)) {
    if (
      node.type === "MemberExpression" && code.slice(node.start, node.end) === "import.meta.main"
    ) {
      changes.push({ from: node.start, to: node.end, text: IS_MAIN });
    }
    const isLazy = node.type === "ImportExpression";
    if (!isLazy && node.type !== "ImportDeclaration") continue;
    const name = node.source.type === "Literal" ? fileOf(node.source.value) : undefined;
    const other = name === undefined ? undefined : parts.get(name);
    if (name === undefined || !other) continue;
    const source = JSON.stringify(SCHEME + other.chunk);
    if (isLazy) {
      other.exported.add("*");
      const text = `import(${source}).then((chunk) => chunk.${nameIn(name, "*", parts)})`;
      changes.push({ from: node.start, to: node.end, text });
    } else if (other.chunk !== chunk) {
      const names = importedBy(node, file).map(([imported, local]) => {
        other.exported.add(imported);
        return `${nameIn(name, imported, parts)} as ${local}`;
      });
      const clause = names.length === 0 ? "" : `{ ${names.join(", ")} } from `;
      changes.push({ from: node.start, to: node.end, text: `import ${clause}${source};` });
    }
  }
  return changes.sort((a, b) => b.from - a.from)
    .reduce((text, { from, to, text: by }) => text.slice(0, from) + by + text.slice(to), code);
}

function importedBy(
  { specifiers }: ImportDeclaration,
  file: string,
): (readonly [string, string])[] {
  return specifiers.map((one) => {
    if (one.type === "ImportSpecifier" && one.imported.type === "Identifier") {
      return [one.imported.name, one.local.name] as const;
    }
    throw new Error(`the bundler made an import in ${file} that is not of names`);
  });
}

/** The name under which a chunk exports a name of one of its parts. */
function nameIn(file: string, name: string, parts: ReadonlyMap<string, Part>): string {
  const part = `p${[...parts.keys()].indexOf(file)}`;
  return name === "*" ? part : `${part}_${name}`;
}

/** The module of a chunk: it has its parts, and exports what other chunks import. */
function entryOf(chunk: string, parts: ReadonlyMap<string, Part>): string {
  const own = [...parts].filter(([, part]) => part.chunk === chunk);
  const lines = own.flatMap(([file, { exported, code }]) => {
    const from = JSON.stringify(`./${file}`);
    const names = [...exported].filter((name) => name !== "*")
      .map((name) => `${name} as ${nameIn(file, name, parts)}`);
    return [
      ...names.length > 0 ? [`export { ${names.join(", ")} } from ${from};`] : [],
      ...exported.has("*") ? [`export * as ${nameIn(file, "*", parts)} from ${from};`] : [],
      // A worker imports its module by the URL that the module has, which is that of the chunk.
      ...code.includes("import.meta.url") ? [`export * from ${from};`] : [],
    ];
  });
  return `${lines.join("\n")}\n`;
}

/** The code with the names of the files of chunks, of which Deno only sees those at the top. */
function withFileNames(code: string): string {
  return code.replaceAll(IS_MAIN, "import.meta.main")
    .replaceAll(new RegExp(`\\bimport\\("${SCHEME}(\\w+)"\\)`, "g"), `import(["./$1.js"][0])`)
    .replaceAll(new RegExp(`"${SCHEME}(\\w+)"`, "g"), `"./$1.js"`);
}

/** All nodes of a program. */
function* nodesOf(code: string): Generator<AnyNode> {
  const open: AnyNode[] = [parse(code, { ecmaVersion: "latest", sourceType: "module" })];
  for (let node = open.pop(); node; node = open.pop()) {
    yield node;
    for (const value of Object.values(node).flat()) {
      if (isNode(value)) open.push(value);
    }
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value &&
    typeof value.type === "string";
}
