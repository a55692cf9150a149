import { join } from "@std/path/join";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError } from "../../base/errors.ts";
import type { Path, Source, Span } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { decodePercents } from "../../secrets/secrets.ts";
import { isMap, type RawApiMap } from "./raw.ts";

/** Where descriptions come from. */
export interface Descriptions {
  /** Reads a file. Throws LoadError if it does not exist or is not text. */
  read(path: string): Promise<Source>;
  readonly yaml: Yaml;
}

/** Where descriptions come from that are only read. */
export interface DescriptionFiles extends Pick<Descriptions, "read"> {
  readonly yaml: Pick<Yaml, "parse">;
}

/** YAML and JSON as the rest of the program reads and writes them. */
export interface Yaml {
  /** Reads a text as data. Throws LoadError with the position of the mistake. */
  parse(source: Source): Promise<ParsedFile>;
  /** Data as text; long strings are blocks, and aliases are not used. */
  print(value: unknown): string;
}

/** A file as data. */
export interface ParsedFile {
  readonly value: unknown;
  /** The place of a value, or of the nearest one around it. */
  locate(path: Path): Promise<Span>;
}

/** A mapping with a `$ref`, and where it is. */
interface Reference {
  readonly file: string;
  readonly at: Step | undefined;
  readonly text: string;
}

/** The way to a value, from its end. */
interface Step {
  readonly key: string | number;
  readonly before: Step | undefined;
}

/** The target of a reference. An error without a fault is caused by another reference. */
type Target =
  | { readonly isFound: true; readonly value: unknown }
  | { readonly isFound: false; readonly fault?: Fault };

interface Fault {
  readonly message: string;
  readonly hint?: string | undefined;
  /** The errors in the file that it names. */
  readonly causes?: readonly Diagnostic[];
}

/** All files of a description, and what is in them. */
interface Graph {
  /** By path; a LoadError for one that cannot be read. */
  readonly files: Map<string, ParsedFile | LoadError>;
  readonly references: Map<unknown, Reference>;
  /** Schemas by their `$id`, or by their file and `$anchor`. */
  readonly named: Map<string, unknown>;
  /** Examples, in which "$ref" is a name like any other. */
  readonly examples: Set<unknown>;
  readonly badKeys: Reference[];
}

/**
 * Puts the targets of all references in their place, also across files; a description may then
 * contain itself. Throws LoadError with every reference that leads nowhere.
 */
export async function resolveReferences(
  name: string,
  main: ParsedFile,
  descriptions: Descriptions,
): Promise<void> {
  insertTargets(main.value, await checkReferences(name, main, descriptions));
}

/**
 * Reads all files of a description. Throws LoadError with every reference that leads nowhere.
 * Nothing is fetched over the network.
 */
export async function checkReferences(
  name: string,
  main: ParsedFile,
  descriptions: DescriptionFiles,
): Promise<Graph> {
  const graph: Graph = {
    files: new Map([[join(name), main]]),
    references: new Map(),
    named: new Map(),
    examples: new Set(),
    badKeys: [],
  };
  // Files that are added meanwhile are visited too.
  for (const [file, parsed] of graph.files) {
    if (parsed instanceof LoadError) continue;
    for (const { text } of findReferences(file, parsed.value, graph)) {
      const target = targetFile(text, file);
      if (target === undefined || graph.files.has(target)) continue;
      graph.files.set(target, await parseFile(target, descriptions));
    }
  }
  const diagnostics: Diagnostic[] = [];
  for (const { file, at } of graph.badKeys) {
    const span = await (graph.files.get(file) as ParsedFile).locate(pathOf(at));
    const hint = "put the key in quotes";
    diagnostics.push({
      severity: "error",
      code: "key",
      message: "a map cannot be a key",
      hint,
      span,
    });
  }
  if (diagnostics.length > 0) {
    throw new LoadError(`cannot read OpenAPI file '${name}'`, diagnostics);
  }
  for (const reference of graph.references.values()) {
    const target = follow(reference, graph);
    if (target.isFound || !target.fault) continue;
    const { message, hint, causes = [] } = target.fault;
    const span = await (graph.files.get(reference.file) as ParsedFile).locate(pathTo(reference));
    const hinted = hint === undefined ? {} : { hint };
    diagnostics.push({ severity: "error", code: "reference", message, ...hinted, span }, ...causes);
  }
  if (diagnostics.length > 0) {
    throw new LoadError(`cannot resolve the references of '${name}'`, diagnostics);
  }
  return graph;
}

async function parseFile(
  path: string,
  { read, yaml }: DescriptionFiles,
): Promise<ParsedFile | LoadError> {
  try {
    return await yaml.parse(await read(path));
  } catch (error) {
    if (error instanceof LoadError) return error;
    throw error;
  }
}

/** The references of a file; they, named schemas and examples are added to the graph. */
function findReferences(file: string, root: unknown, graph: Graph): Reference[] {
  const found: Reference[] = [];
  const seen = new Set<unknown>();
  const waiting: [value: unknown, at: Step | undefined][] = [[root, undefined]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, at] = next;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (graph.examples.has(value) || isExample(at)) graph.examples.add(value);
    const isData = graph.examples.has(value);
    const { $ref, $id, $anchor } = isData ? {} as RawApiMap : value as RawApiMap;
    if (typeof $id === "string") graph.named.set($id, value);
    if (typeof $anchor === "string") graph.named.set(`${file}#${$anchor}`, value);
    if (typeof $ref === "string") found.push({ file, at, text: $ref });
    if (typeof $ref === "string") graph.references.set(value, found.at(-1)!);
    for (const [key, child] of Object.entries(value).toReversed()) {
      const step = { key: Array.isArray(value) ? Number(key) : key, before: at };
      if (key === MAP_AS_KEY) graph.badKeys.push({ file, at: step, text: key });
      if (isData && typeof child === "object" && child !== null) graph.examples.add(child);
      waiting.push([child, step]);
    }
  }
  return found;
}

/** Whether this is the place of an example, and not of a property that has such a name. */
function isExample(at: Step | undefined): boolean {
  const [last, second, third, fourth] = [
    at,
    at?.before,
    at?.before?.before,
    at?.before?.before?.before,
  ].map((step) => step?.key);
  if (last === "example" || last === "x-example") return second !== "properties";
  // Lists of examples in schemas, mappings by media type in responses of 2.0, and those of 3.x.
  if (second === "examples" && third !== "properties") return /^\d+$|\//.test(String(last));
  return last === "value" && third === "examples" && fourth !== "properties";
}

/** The key that the YAML parser makes of a map that is a key. */
const MAP_AS_KEY = "[object Object]";

function pathTo({ at }: Reference): Path {
  return [...pathOf(at), "$ref"];
}

function pathOf(at: Step | undefined): Path {
  const path: (string | number)[] = [];
  for (let step = at; step; step = step.before) path.unshift(step.key);
  return path;
}

/** The file that a reference leads to; undefined if it is on the network. */
function targetFile(text: string, from: string): string | undefined {
  const [path = ""] = text.split("#", 1);
  if (path === "") return from;
  if (/^(?:[a-z][a-z0-9+.-]+:|\/\/)/i.test(path)) return undefined;
  const plain = decodePercents(path);
  return /^(?:[\\/]|[a-z]:)/i.test(plain) ? join(plain) : join(from, "..", plain);
}

function follow(reference: Reference, graph: Graph, before: readonly Reference[] = []): Target {
  const { text, file } = reference;
  const blame = (message: string, hint?: string, causes: readonly Diagnostic[] = []): Target => ({
    isFound: false,
    fault: { message, hint, causes },
  });
  if (before[0] === reference) return blame(`reference cycle: "${text}" refers to itself`);
  if (before.includes(reference)) return { isFound: false };
  const enter = (value: unknown): Target => {
    const next = graph.references.get(value);
    if (next === undefined) return { isFound: true, value };
    const target = follow(next, graph, [...before, reference]);
    const isLoop = !target.isFound && target.fault?.message.endsWith("refers to itself");
    return target.isFound || isLoop ? target : { isFound: false };
  };
  const named = graph.named.get(text) ?? graph.named.get(file + text);
  if (named !== undefined) return enter(named);
  const target = targetFile(text, file);
  if (target === undefined) {
    const hint = "download it, and refer to the path of the file";
    return blame(`remote references are not fetched: "${text}"`, hint);
  }
  const parsed = graph.files.get(target)!;
  if (parsed instanceof LoadError) return blame(parsed.message, parsed.hint, parsed.diagnostics);
  const pointer = decodePercents(/#(.*)$/s.exec(text)?.[1] ?? "");
  if (pointer === "") return enter(parsed.value);
  let found: Target = { isFound: true, value: parsed.value };
  for (const part of pointer.replace(/^\//, "").split("/")) {
    if (!found.isFound) return found;
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const names = typeof found.value === "object" ? Object.keys(found.value ?? {}) : [];
    if (!names.includes(name)) {
      return blame(`cannot resolve the reference "${text}"`, didYouMean(name, names));
    }
    found = enter((found.value as RawApiMap)[name]);
  }
  return found;
}

/** Changes a description in place. Keys beside a `$ref` override those of its target. */
function insertTargets(root: unknown, graph: Graph): void {
  const targets = new Map<unknown, unknown>();
  for (const [value, reference] of graph.references) {
    const target = follow(reference, graph);
    const { $ref: _, ...others } = value as RawApiMap;
    const found = target.isFound ? target.value : undefined;
    const isMerged = isMap(found) && Object.keys(others).length > 0;
    targets.set(value, isMerged ? { ...found, ...others } : found);
  }
  const waiting = [root];
  const seen = new Set<unknown>(graph.examples);
  for (let value = waiting.pop(); waiting.length > 0 || value; value = waiting.pop()) {
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    for (const [key, child] of Object.entries(value)) {
      const target = targets.has(child) ? targets.get(child) : child;
      waiting.push(target);
      if (target !== child) Reflect.set(value, key, target);
    }
  }
}
