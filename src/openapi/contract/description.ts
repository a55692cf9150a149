import { join } from "@std/path/join";
import { LoadError } from "../../base/errors.ts";
import { excerptOf, type Path } from "../../base/source.ts";
import { isMap, mapOf, type RawApiMap } from "../read/raw.ts";
import type { DescriptionFiles, ParsedFile } from "../read/resolve_references.ts";

/** A place in the files of a description. */
export interface PartPlace {
  readonly file: string;
  readonly path: Path;
}

/** A part of a description, and where it is. */
export interface FoundPart {
  readonly value: unknown;
  readonly at: PartPlace;
}

/** The versions of OpenAPI that there are, as far as they differ for a contract. */
export type Version = "2.0" | "3.0" | "3.1";

/**
 * A description whose references are followed where they are met, so that each part knows where
 * it was written and a large description costs little before it is used.
 */
export interface Description {
  readonly file: string;
  readonly version: Version;
  readonly root: FoundPart;
  /** The part at these keys below another; undefined if it is not there. */
  child(from: FoundPart, ...keys: readonly (string | number)[]): FoundPart | undefined;
  /** The target of a part that is a reference, or the part itself. */
  follow(found: FoundPart): FoundPart;
  /** A place for people: `api.yml:12:7`. */
  locate(place: PartPlace): Promise<string>;
}

/** Reads a description and the files that it refers to. Throws LoadError. */
export async function openDescription(
  path: string,
  { read, yaml }: DescriptionFiles,
): Promise<Description> {
  const files = new Map<string, ParsedFile>();
  const load = async (file: string) => {
    if (files.has(file)) return;
    const source = await read(file);
    files.set(file, await yaml.parse(source));
    for (const [, text] of source.text.matchAll(OTHER_FILE)) {
      if (!/^[a-z][a-z\d+.-]+:|^\/\//i.test(text!)) await load(beside(file, text!));
    }
  };
  await load(path);
  const root = { value: files.get(path)!.value, at: { file: path, path: [] } };
  const version = versionOf(path, mapOf(root.value));

  const follow = (found: FoundPart): FoundPart => {
    let current = found;
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const { $ref } = mapOf(current.value);
      if (typeof $ref !== "string") return current;
      current = resolve($ref, current.at.file);
    }
    throw new LoadError(`'${path}' has a reference that refers to itself`);
  };
  const resolve = (reference: string, from: string): FoundPart => {
    const [name = "", pointer = ""] = reference.split("#", 2);
    const file = name === "" ? from : beside(from, name);
    const target = files.get(file);
    const keys = pointer === "" || pointer.startsWith("/")
      ? pointer.split("/").slice(1).map(unescapePointer)
      : anchorsOf(file).get(pointer);
    if (!keys) throw unresolved(path, reference);
    let value = target?.value;
    const at: (string | number)[] = [];
    for (const key of keys) {
      // A part on the way may be a reference itself.
      const { $ref } = mapOf(value);
      if (typeof $ref === "string") {
        const { value: other, at: place } = follow({ value, at: { file, path: at } });
        return below({ value: other, at: place }, keys.slice(at.length), reference);
      }
      value = step(value, key);
      at.push(Array.isArray(value) ? Number(key) : key);
    }
    if (!target || value === undefined) throw unresolved(path, reference);
    return { value, at: { file, path: at } };
  };
  const anchors = new Map<string, ReadonlyMap<string, readonly string[]>>();
  const anchorsOf = (file: string) => {
    let found = anchors.get(file);
    if (!found) anchors.set(file, found = findAnchors(files.get(file)?.value));
    return found;
  };
  const below = (from: FoundPart, keys: readonly string[], reference: string): FoundPart => {
    const found = child(from, ...keys);
    if (!found) throw unresolved(path, reference);
    return found;
  };
  const child: Description["child"] = (from, ...keys) => {
    let current = follow(from);
    for (const key of keys) {
      const value = step(current.value, key);
      if (value === undefined) return undefined;
      const { file, path } = current.at;
      current = follow({ value, at: { file, path: [...path, key] } });
    }
    return current;
  };
  const locate = async ({ file, path }: PartPlace) => {
    const { line, column } = excerptOf(await files.get(file)!.locate(path));
    return `${file}:${line}:${column}`;
  };
  return { file: path, version, root, child, follow, locate };
}

/** The paths of the parts that `$anchor` names. */
function findAnchors(root: unknown): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  // Aliases of YAML may repeat a part very often.
  const seen = new Set<unknown>();
  const walk = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    const { $anchor } = mapOf(value);
    if (typeof $anchor === "string") found.set($anchor, path);
    for (const [key, part] of Object.entries(value)) walk(part, [...path, key]);
  };
  walk(root, []);
  return found;
}

/** The name of another file in a reference. */
const OTHER_FILE = /["']?\$ref["']?\s*:\s*["']?([^#\s"'{}][^#\s"'{},]*)/g;

const MOST_STEPS = 100;

function beside(file: string, other: string): string {
  return other.startsWith("/") ? other : join(file, "..", decodeURIComponent(other));
}

function step(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function unescapePointer(text: string): string {
  const plain = text.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function unresolved(path: string, reference: string): LoadError {
  return new LoadError(`cannot resolve the reference "${reference}" of '${path}'`);
}

function versionOf(path: string, { openapi, swagger }: RawApiMap): Version {
  if (openapi === undefined && String(swagger).startsWith("2")) return "2.0";
  const text = String(openapi);
  if (text.startsWith("3.0")) return "3.0";
  if (text.startsWith("3")) return "3.1";
  throw openapi === undefined && swagger === undefined
    ? new LoadError(
      `'${path}' is not an OpenAPI description`,
      [],
      'a description starts with its version, such as "openapi: 3.1.0"',
    )
    : new LoadError(
      `OpenAPI version "${openapi ?? swagger}" of '${path}' is not supported`,
      [],
      "supported versions are 2.0, 3.0 and 3.1",
    );
}
