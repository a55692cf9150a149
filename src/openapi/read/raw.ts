/** A mapping of a description, in which nothing has been checked. */
export type RawMap = Readonly<Record<string, unknown>>;

const NOTHING: RawMap = Object.freeze(Object.create(null));

/** Whether a part of a description is a mapping. */
export function isMap(value: unknown): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A part of a description as a mapping; an empty one where it is none. */
export function mapOf(value: unknown): RawMap {
  return isMap(value) ? value : NOTHING;
}

/** A part of a description as a list; an empty one where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A part of a description as text; undefined where it is none, or nothing but space. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** What a mapping holds itself under a name that the description chose. */
export function ownOf(map: RawMap, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Whether HTTP allows a name for a header. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name);
}
