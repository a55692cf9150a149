/** Data nested deeper than this could not be walked safely afterwards. */
const DEEPEST = 500;

/** As many digits in a row may make an integer that a number cannot hold. */
const LONG_INTEGER = /\d{16}/;

/**
 * Reads JSON as data. An integer that a number cannot hold exactly stays the text that it was,
 * so that an id survives into the next request. Throws `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  const value = LONG_INTEGER.test(text) ? JSON.parse(text, keepInteger) : JSON.parse(text);
  if (text.length > 2 * DEEPEST && isDeeper(value, DEEPEST)) {
    throw new SyntaxError(`JSON is nested more than ${DEEPEST} levels deep`);
  }
  return value;
}

/** A reviver; what stands in the text is given by engines that know JSON.parse source access. */
function keepInteger(_key: string, value: unknown, context?: { readonly source?: string }) {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) && String(value) !== source
    ? source
    : value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
