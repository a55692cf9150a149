/** Names come again with each response, and there are few of them. */
const known = new Map<string, string>();
const MOST_KNOWN = 1000;

/** A header's name as responses are keyed by it: `content-type` and `CONTENT-TYPE` are `Content-Type`. */
export function canonicalName(name: string): string {
  let canonical = known.get(name);
  if (canonical !== undefined) return canonical;
  canonical = name.toLowerCase().replace(/(^|-)([a-z])/g, (part) => part.toUpperCase());
  if (known.size < MOST_KNOWN) known.set(name, canonical);
  return canonical;
}

/** Whether a text can be the name of a header or a method. */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}
