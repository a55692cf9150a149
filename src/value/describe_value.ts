/** A value that does not fit, in words that stay short: `a list`, `"abc"`, `1.5`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  // JSON has no words for .inf and .nan.
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  // A text cut short could be a secret that is no longer recognized as one.
  return text.length <= 60 ? text : "a long text";
}
