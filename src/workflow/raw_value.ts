/** A mapping of a document, as it was read. */
export type RawMap = Readonly<Record<string, unknown>>;

/** Whether a value of a document is a mapping. */
export function isRawMap(value: unknown): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value of a document in words that stay short: `a list`, `"abc"`, `1.5`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  // JSON has no words for .inf and .nan.
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : "a long text";
}
