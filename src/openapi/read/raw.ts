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

/** The keys of a path that are operations. */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Whether HTTP allows a name for a header. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name);
}

/** Whether a media type is JSON, by name or by suffix. */
export function isJson(type: string): boolean {
  const [plain = ""] = type.toLowerCase().split(";", 1);
  return /^(?:application|text)\/json$|\+json$/.test(plain.trim());
}
