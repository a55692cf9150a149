/** A mapping of a document, as it was read. */
export type RawMap = Readonly<Record<string, unknown>>;

/** Whether a value of a document is a mapping. */
export function isRawMap(value: unknown): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
