/** A key that is read of a map: `.token`, `?.token`, `["token"]`. */
const KEY = /\s*\??(?:\.\s*(\w+)|\.?\[\s*["'`]([^"'`]+)["'`]\s*\])/y;

/** The keys that are read one after the other, from an offset on, and where each ends. */
export function* keysOf(
  read: string,
  from: number,
): Generator<{ readonly key: string; readonly start: number; readonly end: number }> {
  for (let start = from;;) {
    KEY.lastIndex = start;
    const found = KEY.exec(read);
    if (!found) return;
    const end = start + found[0].length;
    yield { key: found[1] ?? found[2]!, start, end };
    start = end;
  }
}

/** What stands under a key of a map, as long as it is one. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
