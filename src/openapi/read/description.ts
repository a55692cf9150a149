import { join } from "@std/path/join";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError } from "../../base/errors.ts";
import { excerptOf, type Path, type Source, type Span } from "../../base/source.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import type { Positions } from "../../base/yaml/document.ts";
import { findPositions, positionsOf } from "../../base/yaml/positions.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { decodePercents } from "../../secrets/secrets.ts";

/** Reads a file. Throws LoadError if it does not exist or is not text. */
export type ReadFile = (path: string) => Promise<Source>;

/** An OpenAPI description, or a file that it refers to, as data. */
interface ParsedFile {
  readonly value: unknown;
  /** The span of a value, or of the nearest one around it. */
  locate(path: Path): Span;
}

/** The position of a value in the files of a description. */
export interface Location {
  readonly file: string;
  readonly path: Path;
}

/** A part of a description, and its place. */
export interface Part {
  readonly value: unknown;
  readonly at: Location;
}

/** The versions of OpenAPI that differ for us. */
type Version = "2.0" | "3.0" | "3.1";

/** A mapping with a `$ref`. */
interface Reference extends Location {
  readonly text: string;
}

/** The target of a reference, what is wrong with it, or nothing if another reference is wrong. */
type Referenced = Part | Fault | undefined;

interface Fault {
  readonly message: string;
  readonly hint?: string | undefined;
  /** The errors in the file that it names. */
  readonly causes?: readonly Diagnostic[];
}

/**
 * An OpenAPI description with all its files. References are followed where they are met, so that
 * each part knows where it was written.
 */
export class Description {
  /** By path; a LoadError for one that cannot be read. */
  readonly #files = new Map<string, ParsedFile | LoadError>();
  readonly #references = new Map<unknown, Reference>();
  readonly #targets = new Map<unknown, Part>();
  /** Schemas by their `$id`, or by their file and `$anchor`. */
  readonly #named = new Map<string, Part>();
  readonly #badKeys: Location[] = [];

  private constructor(readonly root: Part, readonly version: Version) {}

  /**
   * Reads a description and the files that it refers to; nothing is fetched over the network.
   * Throws LoadError with every reference that leads nowhere.
   */
  static async open(path: string, read: ReadFile): Promise<Description> {
    const main = await parseDescription(await read(path));
    const root = { value: main.value, at: { file: join(path), path: [] } };
    const description = new Description(root, readVersion(path, main.value));
    await description.#readAll(main, read);
    description.#check(path);
    return description;
  }

  /** The target of a part that is a reference, or the part itself. */
  follow(part: Part): Part {
    return this.#targets.get(part.value) ?? part;
  }

  /** The part at these keys below another; undefined if it is not there. */
  child(from: Part, ...keys: readonly (string | number)[]): Part | undefined {
    let current = this.follow(from);
    for (const key of keys) {
      const value = step(current.value, key);
      if (value === undefined) return undefined;
      current = this.follow(below(current, key, value));
    }
    return current;
  }

  /** The parts in a list or map, by their keys. */
  children(from: Part, key: string): Part[] {
    const list = this.child(from, key);
    if (typeof list?.value !== "object") return [];
    return Object.entries(list.value ?? {}).map(([key, value]) =>
      this.follow(below(list, Array.isArray(list.value) ? Number(key) : key, value))
    );
  }

  /** A location for people: `api.yml:12:7`. */
  locate({ file, path }: Location): string {
    const excerpt = excerptOf(this.#span(file, path));
    return `${excerpt.file}:${excerpt.line}:${excerpt.column}`;
  }

  /**
   * Puts the targets of all references in their place, after which a part may contain itself. Keys
   * beside a `$ref` override those of its target.
   */
  resolve(): void {
    const values = new Map<unknown, unknown>();
    for (const [reference, { value }] of this.#targets) {
      const { $ref: _, ...others } = reference as RawApiMap;
      const isMerged = isMap(value) && Object.keys(others).length > 0;
      values.set(reference, isMerged ? { ...value, ...others } : value);
    }
    const waiting = [this.root.value];
    const seen = new Set<unknown>();
    for (let value = waiting.pop(); waiting.length > 0 || value; value = waiting.pop()) {
      if (typeof value !== "object" || value === null || seen.has(value)) continue;
      seen.add(value);
      for (const [key, child] of Object.entries(value)) {
        const target = values.has(child) ? values.get(child) : child;
        waiting.push(target);
        if (target !== child) Reflect.set(value, key, target);
      }
    }
  }

  async #readAll(main: ParsedFile, read: ReadFile): Promise<void> {
    this.#files.set(this.root.at.file, main);
    // Files that are added meanwhile are visited too.
    for (const [file, parsed] of this.#files) {
      if (parsed instanceof LoadError) continue;
      for (const text of this.#scan({ value: parsed.value, at: { file, path: [] } })) {
        const target = targetFile(text, file);
        if (target === undefined || this.#files.has(target)) continue;
        try {
          this.#files.set(target, await parseDescription(await read(target)));
        } catch (error) {
          if (!(error instanceof LoadError)) throw error;
          this.#files.set(target, error);
        }
      }
    }
  }

  /** Remembers the references and the named parts of a file; the texts of its references. */
  #scan(root: Part): string[] {
    const found: string[] = [];
    // Aliases of YAML may repeat a part very often.
    const seen = new Set<unknown>();
    const waiting: [part: Part, isExample: boolean][] = [[root, false]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [part, isAround] = next;
      const { value, at: { file, path } } = part;
      if (typeof value !== "object" || value === null || seen.has(value)) continue;
      seen.add(value);
      const isExample = isAround || isExamplePath(path);
      if (this.version === "3.1" && !isExample) {
        splitReference(value as Record<string, unknown>, path);
      }
      const { $ref, $id, $anchor } = isExample ? {} as RawApiMap : mapOf(value);
      if (typeof $id === "string") this.#named.set($id, part);
      if (typeof $anchor === "string") this.#named.set(`${file}#${$anchor}`, part);
      if (typeof $ref === "string") {
        found.push($ref);
        this.#references.set(value, { text: $ref, file, path });
      }
      for (const [key, child] of Object.entries(value).toReversed()) {
        if (typeof child !== "object" && key !== MAP_AS_KEY) continue;
        const inside = below(part, Array.isArray(value) ? Number(key) : key, child);
        if (key === MAP_AS_KEY) this.#badKeys.push(inside.at);
        waiting.push([inside, isExample]);
      }
    }
    return found;
  }

  #check(name: string): void {
    const diagnostics: Diagnostic[] = [];
    for (const { file, path } of this.#badKeys) {
      const span = this.#span(file, path);
      const message = "a map cannot be a key";
      const hint = "put the key in quotes";
      diagnostics.push({ severity: "error", code: "key", message, hint, span });
    }
    if (diagnostics.length > 0) {
      throw new LoadError(`cannot read OpenAPI file '${name}'`, diagnostics);
    }
    for (const [value, reference] of this.#references) {
      const target = this.#findTarget(reference);
      if (target && "value" in target) this.#targets.set(value, target);
      else if (target) {
        const { message, hint, causes = [] } = target;
        const span = this.#span(reference.file, [...reference.path, "$ref"]);
        const hinted = hint === undefined ? {} : { hint };
        diagnostics.push(
          { severity: "error", code: "reference", message, ...hinted, span },
          ...causes,
        );
      }
    }
    if (diagnostics.length > 0) {
      throw new LoadError(`cannot resolve the references of '${name}'`, diagnostics);
    }
  }

  #span(file: string, path: Path): Span {
    return (this.#files.get(file) as ParsedFile).locate(path);
  }

  #findTarget(reference: Reference, before: readonly Reference[] = []): Referenced {
    const { text, file } = reference;
    if (before[0] === reference) {
      return { message: `reference cycle: "${text}" refers to itself` };
    }
    if (before.includes(reference)) return undefined;
    const enter = (part: Part): Referenced => {
      const next = this.#references.get(part.value);
      if (!next) return part;
      const target = this.#findTarget(next, [...before, reference]);
      const isKnown = target && ("value" in target || target.message.endsWith("refers to itself"));
      return isKnown ? target : undefined;
    };
    const name = targetFile(text, file);
    const fragment = /#(.*)$/s.exec(text)?.[1] ?? "";
    const named = this.#named.get(text) ?? this.#named.get(`${name}#${fragment}`);
    if (named) return enter(named);
    if (name === undefined) {
      return {
        message: `remote references are not fetched: "${text}"`,
        hint: "download it, and refer to the path of the file",
      };
    }
    const parsed = this.#files.get(name)!;
    if (parsed instanceof LoadError) {
      return { message: parsed.message, hint: parsed.hint, causes: parsed.diagnostics };
    }
    const pointer = decodePercents(fragment);
    let found: Referenced = { value: parsed.value, at: { file: name, path: [] } };
    if (pointer === "") return enter(found);
    for (const part of pointer.replace(/^\//, "").split("/")) {
      if (!found || "message" in found) return found;
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const value = step(found.value, key);
      if (value === undefined) {
        const names = Object.keys(mapOf(found.value));
        return {
          message: `cannot resolve the reference "${text}"`,
          hint: didYouMean(key, names),
        };
      }
      found = enter(below(found, Array.isArray(found.value) ? Number(key) : key, value));
    }
    return found;
  }
}

/** Parts other than schemas, by the key of the map or list around them. */
const NO_SCHEMAS =
  /^(?:parameters|responses|requestBodies|headers|examples|links|callbacks|securitySchemes|paths|pathItems)$/;

const KEYWORDS =
  /^(?:type|format|enum|const|not|if|contains|pattern|required|readOnly|writeOnly|(?:all|any|one)Of|multipleOf|uniqueItems|(?:exclusive)?(?:min|max)\w*|\w*(?:Items|items|[pP]roperties|Schemas|Names|Required))$/;

/** Makes the target of a `$ref` with keywords beside it one of `allOf`: since 3.1, all of them count. */
function splitReference(schema: Record<string, unknown>, path: Path): void {
  const { $ref, ...others } = schema;
  const isSchema = !NO_SCHEMAS.test(String(path.at(-2))) && path.at(-1) !== "requestBody";
  if (
    typeof $ref !== "string" || !isSchema || !Object.keys(others).some((key) => KEYWORDS.test(key))
  ) {
    return;
  }
  delete schema.$ref;
  schema.allOf = [...Array.isArray(others.allOf) ? others.allOf : [], { $ref }];
}

/** The key that the YAML parser makes of a map that is a key. */
const MAP_AS_KEY = "[object Object]";

/** Whether this is the path of an example, in which "$ref" is a name like any other. */
function isExamplePath(path: Path): boolean {
  const [fourth, third, second, last] = [-4, -3, -2, -1].map((index) => path.at(index));
  if (last === "example" || last === "x-example") return second !== "properties";
  // Lists of examples in schemas, mappings by media type in responses of 2.0, and those of 3.x.
  if (second === "examples" && third !== "properties") return /^\d+$|\//.test(String(last));
  return last === "value" && third === "examples" && fourth !== "properties";
}

/** The file that a reference leads to; undefined if it is on the network. */
function targetFile(text: string, from: string): string | undefined {
  const [path = ""] = text.split("#", 1);
  if (path === "") return from;
  if (/^(?:[a-z][a-z0-9+.-]+:|\/\/)/i.test(path)) return undefined;
  const plain = decodePercents(path);
  return /^(?:[\\/]|[a-z]:)/i.test(plain) ? join(plain) : join(from, "..", plain);
}

function step(value: unknown, key: string | number): unknown {
  return Array.isArray(value) ? value[Number(key)] : fieldOf(mapOf(value), String(key));
}

/** A part inside another, without following references. */
export function below({ at: { file, path } }: Part, key: string | number, value: unknown): Part {
  return { value, at: { file, path: [...path, key] } };
}

/** Checks the version. Throws LoadError if the file is not an OpenAPI description. */
function readVersion(path: string, value: unknown): Version {
  const root = mapOf(value);
  const version = root.openapi ?? root.swagger;
  if (typeof version !== "string" && typeof version !== "number") {
    throw new LoadError(`'${path}' is not an OpenAPI description`, [], whatElse(root, path));
  }
  const text = String(version);
  if (root.openapi === undefined && /^2(?:\.|$)/.test(text)) return "2.0";
  if (root.openapi !== undefined && /^3(?:\.|$)/.test(text)) {
    return text.startsWith("3.0") ? "3.0" : "3.1";
  }
  const message = `OpenAPI version "${version}" of '${path}' is not supported`;
  throw new LoadError(message, [], "supported versions are 2.0, 3.0 and 3.1");
}

function whatElse(root: RawApiMap, path: string): string {
  if (root.jobs !== undefined) return `it is a workflow: run it with runner ${path}`;
  if (root.asyncapi !== undefined) return "it is an AsyncAPI description";
  if (root.swaggerVersion !== undefined) {
    return "Swagger 1 is not supported; the versions 2.0 to 3.1 are";
  }
  return 'an OpenAPI description starts with its version, such as "openapi: 3.1.0"';
}

/** Parses a file as workflows are parsed, but JSON faster. Throws LoadError. */
async function parseDescription(source: Source): Promise<ParsedFile> {
  // YAML has mappings in braces too, and reports what is wrong.
  const value = /^\s*[[{]/.test(source.text) ? tryParseJson(source.text) : undefined;
  if (value === undefined) return await parseYaml(source);
  let positions: Positions | undefined;
  return {
    value,
    locate: (path) => (positions ??= findPositions([source])).locate(path),
  };
}

async function parseYaml(source: Source): Promise<ParsedFile> {
  try {
    const document = await readYaml([source], "OpenAPI file");
    return {
      value: document.value,
      locate: (path) => positionsOf(document).locate(path),
    };
  } catch (error) {
    if (!(error instanceof LoadError) || !source.name.toLowerCase().endsWith(".json")) throw error;
    const message = error.message.replace(/^YAML/, "JSON");
    throw new LoadError(message, error.diagnostics, error.hint);
  }
}

/** A map of a description, not validated. */
export type RawApiMap = Readonly<Record<string, unknown>>;

const NOTHING: RawApiMap = Object.freeze(Object.create(null));

/** Whether a part of a description is a map. */
export function isMap(value: unknown): value is RawApiMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A part of a description as a map; empty if it is not a map. */
export function mapOf(value: unknown): RawApiMap {
  return isMap(value) ? value : NOTHING;
}

/** A part of a description as a list; empty if it is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A part of a description as a string; undefined if it is not a string or blank. */
export function rawText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** The own property of a map; the name comes from the description. */
export function fieldOf(map: RawApiMap, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Whether a media type is JSON, by name or by suffix. */
export function isJson(type: string): boolean {
  const [plain = ""] = type.toLowerCase().split(";", 1);
  return /^(?:application|text)\/json$|\+json$/.test(plain.trim());
}
