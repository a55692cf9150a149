import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";
import type { Diagnostic } from "../../source/diagnostic.ts";
import { LoadError } from "../../source/errors.ts";
import type { Source } from "../../source/source.ts";
import { didYouMean } from "../../source/suggest.ts";
import { isMap, ownOf } from "./raw.ts";
import type { ParsedFile, Yaml } from "./yaml.ts";

/** Where descriptions come from. */
export interface Descriptions {
  /** Reads a file. Throws LoadError where it is none, or no text. */
  read(path: string): Promise<Source>;
  /** What relative paths begin at. */
  readonly workingFolder: string;
  readonly yaml: Yaml;
}

/**
 * A description with what its references lead to in their place, also across files. It may
 * contain itself. Throws LoadError with every reference that leads nowhere; none goes over the
 * network.
 */
export async function dereference(
  main: Source,
  value: object,
  descriptions: Descriptions,
): Promise<object> {
  const { $RefParser } = await import("@apidevtools/json-schema-ref-parser");
  const files = new ReferencedFiles(main, descriptions);
  const plugin = {
    order: 1,
    canRead: true,
    canParse: true,
    read: ({ url }: { url: string }) => files.read(url),
    parse: ({ url }: { url: string }) => files.parse(url),
  };
  forgetIds(value);
  const options = {
    continueOnError: true,
    excludedPathMatcher: isExample,
    resolve: { file: false, http: false, any: plugin },
    parse: { json: false, yaml: false, text: false, binary: false, any: plugin },
    dereference: { circular: true as const, excludedPathMatcher: isExample },
  };
  try {
    return await new $RefParser().dereference(files.mainPath, value, options);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new LoadError(`cannot read OpenAPI file '${main.name}': it is nested too deeply`);
    }
    const faults = isGroup(error) ? error.errors : undefined;
    if (!faults) throw error;
    throw await files.explain(faults);
  }
}

/**
 * Whether a place in a description holds a value of the API's own, in which "$ref" is a name like
 * any other: an example, but not a property called so.
 */
function isExample(pointer: string): boolean {
  return EXAMPLE.test(pointer);
}

const EXAMPLE =
  /(?<!\/properties)\/(?:(?:x-)?example|examples\/(?:[^/]+\/value|\d+|[^/]*~1[^/]*))$/;

/**
 * Takes the "$id" of each schema that nobody refers to by it. A reference beside one would lead
 * from there, and is meant to lead from the top of the file by all who write descriptions.
 */
function forgetIds(root: object): void {
  const schemas: Record<string, unknown>[] = [];
  const references: string[] = [];
  const seen = new Set<unknown>();
  const walk = (value: unknown) => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) return value.forEach(walk);
    const map = value as Record<string, unknown>;
    if (typeof map.$ref === "string") references.push(map.$ref);
    if (typeof map.$id === "string" && SCHEMA_KEYS.some((key) => key in map)) schemas.push(map);
    Object.values(map).forEach(walk);
  };
  walk(root);
  for (const schema of schemas) {
    const id = String(schema.$id);
    if (!references.some((reference) => reference.startsWith(id))) delete schema.$id;
  }
}

const SCHEMA_KEYS = ["type", "properties", "items", "allOf", "oneOf", "anyOf", "$ref", "$defs"];

/** What the library tells of a reference that it cannot follow. */
interface Fault {
  readonly code: string;
  readonly message: string;
  /** The file that the reference is in, and the way to it. */
  readonly source?: string;
  readonly path?: readonly (string | number)[] | null;
}

function isGroup(error: unknown): error is { readonly errors: readonly Fault[] } {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

/** The files that a description is made of, by their URLs. */
class ReferencedFiles {
  /** As the library wants it, which encodes it itself. */
  readonly mainPath: string;
  readonly #sources = new Map<string, Source>();
  readonly #failures = new Map<string, LoadError>();

  constructor(readonly main: Source, readonly descriptions: Descriptions) {
    const path = resolve(descriptions.workingFolder, main.name);
    this.mainPath = /^[a-z]:/i.test(path)
      ? `file:///${path.replaceAll("\\", "/")}`
      : `file://${path}`;
    const url = encodeURI(this.mainPath).replaceAll("?", "%3F").replaceAll("#", "%23");
    this.#sources.set(url, main);
  }

  async read(url: string): Promise<string> {
    if (!url.startsWith("file:")) throw new Error("not fetched");
    try {
      const source = await this.descriptions.read(this.#nameOf(url));
      this.#sources.set(url, source);
      return source.text;
    } catch (error) {
      if (error instanceof LoadError) this.#failures.set(url, error);
      throw error;
    }
  }

  async parse(url: string): Promise<unknown> {
    const source = this.#sources.get(url);
    if (!source) throw new Error(`parsed before it was read: ${url}`);
    try {
      return (await this.descriptions.yaml.parse(source)).value;
    } catch (error) {
      if (error instanceof LoadError) this.#failures.set(url, error);
      throw error;
    }
  }

  /** Everything that is wrong with the references, each by its place. */
  async explain(faults: readonly Fault[]): Promise<LoadError> {
    const parsed = new Map<string, ParsedFile>();
    const groups: Diagnostic[][] = [];
    for (const fault of faults) {
      const url = await this.#fileOf(fault, parsed);
      const source = url === undefined ? undefined : this.#sources.get(url);
      if (url === undefined || !source) {
        groups.push([{ severity: "error", code: "reference", message: fault.message }]);
        continue;
      }
      // The value that was given to the library is no longer what was read.
      const file = parsed.get(url) ?? await this.descriptions.yaml.parse(source);
      parsed.set(url, file);
      // What refers to something that is itself a reference is told there.
      if (typeof valueAt(file.value, wayTo(fault, file.value)) !== "string") continue;
      const failure = this.#failures.get(this.#targetOf(fault, url, file));
      const own = await this.#explainOne(fault, url, file, parsed);
      groups.push([own, ...failure?.diagnostics ?? []]);
    }
    const startOf = ([first]: Diagnostic[]) => first?.span?.start ?? 0;
    const diagnostics = groups.toSorted((a, b) => startOf(a) - startOf(b)).flat();
    return new LoadError(`cannot resolve the references of '${this.main.name}'`, diagnostics);
  }

  async #explainOne(
    fault: Fault,
    url: string,
    file: ParsedFile,
    parsed: ReadonlyMap<string, ParsedFile>,
  ): Promise<Diagnostic> {
    const path = wayTo(fault, file.value);
    const span = await file.locate(path);
    const target = this.#targetOf(fault, url, file);
    const reference = String(valueAt(file.value, path) ?? "");
    const base = { severity: "error" as const, code: "reference", span };
    const failure = this.#failures.get(target);
    if (failure) return { ...base, message: failure.message, ...hintOf(failure.hint) };
    if (!target.startsWith("file:")) {
      const hint = "download it, and write the path of the file here";
      return { ...base, message: `"${reference}" is on the network, and is not fetched`, hint };
    }
    const fragment = reference.slice(reference.indexOf("#") + 1);
    const hint = nearestName(fragment, (parsed.get(target) ?? file).value);
    return { ...base, message: `"${reference}" leads nowhere`, ...hintOf(hint) };
  }

  /**
   * The file that the reference is in. Where a part of another file is missing, the library names
   * that file, and the way to the reference.
   */
  async #fileOf(
    fault: Fault,
    parsed: Map<string, ParsedFile>,
  ): Promise<string | undefined> {
    const named = fault.source === undefined ? undefined : this.#urlOf(fault.source);
    if (fault.code !== "EMISSINGPOINTER" || named === undefined) return named;
    for (const url of [named, ...this.#sources.keys()]) {
      const source = this.#sources.get(url);
      // What is no YAML holds no reference that could be read.
      if (!source || this.#failures.has(url)) continue;
      const file = parsed.get(url) ?? await this.descriptions.yaml.parse(source);
      parsed.set(url, file);
      if (this.#targetOf(fault, url, file) !== named) continue;
      if (typeof valueAt(file.value, wayTo(fault, file.value)) === "string") return url;
    }
    return named;
  }

  /** The file that a reference leads to. */
  #targetOf(fault: Fault, url: string, { value }: ParsedFile): string {
    const reference = String(valueAt(value, wayTo(fault, value)) ?? "");
    const target = URL.parse(reference, url);
    if (!target) return url;
    target.hash = "";
    return target.href;
  }

  /** The library names files by paths at times. */
  #urlOf(source: string): string {
    if (this.#sources.has(source)) return source;
    const [path = ""] = source.split("#", 1);
    const isMeant = (url: string) => {
      const names = [url, fromUrl(url), `file://${fromUrl(url)}`];
      return [source, path, pathOf(source)].some((name) => names.includes(name));
    };
    return [...this.#sources.keys()].find(isMeant) ?? path;
  }

  /** As short as the path that the user gave. */
  #nameOf(url: string): string {
    const path = fromUrl(url);
    const folder = `${this.descriptions.workingFolder.replace(/[/\\]$/, "")}/`;
    return path.startsWith(folder) ? path.slice(folder.length) : path;
  }
}

/** The path of what may be a URL. */
function pathOf(name: string): string {
  try {
    return fromUrl(name);
  } catch {
    return name;
  }
}

function fromUrl(url: string): string {
  return fromFileUrl(url);
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint };
}

/** The way to the text of a reference; the library writes the indexes of lists as texts. */
function wayTo({ path }: Fault, root: unknown): (string | number)[] {
  let at = root;
  const way = [...path ?? [], "$ref"].map((part) => {
    const key = Array.isArray(at) ? Number(part) : String(part);
    at = valueAt(at, [key]);
    return key;
  });
  return way;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) {
    at = Array.isArray(at) ? at[Number(key)] : isMap(at) ? ownOf(at, String(key)) : undefined;
  }
  return at;
}

/** What was meant by the first part of a pointer that there is not. */
function nearestName(pointer: string, root: unknown): string | undefined {
  let at = root;
  for (const part of pointer.split("/").slice(1)) {
    const name = unescaped(part);
    if (!isMap(at)) return undefined;
    const next = ownOf(at, name);
    if (next === undefined) return didYouMean(name, Object.keys(at));
    at = next;
  }
  return undefined;
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}
