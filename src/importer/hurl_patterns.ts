/** A pattern of Hurl for RE2. */
export interface Pattern {
  readonly pattern: string;
  /** Whether it has a group whose text can be taken. */
  readonly hasGroup: boolean;
}

/** The classes that have characters of all languages in Hurl, and ASCII alone in RE2. */
const CLASSES: Readonly<Record<string, string>> = {
  w: "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200c}\\x{200d}" +
    "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}",
  d: "\\p{Nd}",
  s: "\\t-\\r\\x{85}\\p{Z}",
};

/** The longest pattern of an expression. */
const LONGEST = 1000;

/** A pattern with the same meaning; undefined where RE2 has none, or may have another one. */
export function translatePattern(pattern: string): Pattern | undefined {
  const parts = pattern.match(/\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\.|\[:\^?\w+:\]|\(\?P?<?[^()]?|./gsu);
  let isInClass = false;
  let hasGroup = false;
  let translated = "";
  for (const part of parts ?? []) {
    const [, escaped = ""] = /^\\(.)/s.exec(part) ?? [];
    const known = CLASSES[escaped.toLowerCase()];
    if (known !== undefined) {
      const isNegative = escaped !== escaped.toLowerCase();
      // A class cannot have the complement of another one.
      if (isInClass && isNegative) return undefined;
      translated += isInClass ? known : `[${isNegative ? "^" : ""}${known}]`;
    } else if (escaped === "u") {
      translated += `\\x{${part.replace(/\W|^\\u/g, "")}}`;
    } else if (/[bB<>QECGXZhHRKk1-9]/.test(escaped)) {
      return undefined;
    } else if (escaped !== "") translated += part;
    else {
      if (isInClass) {
        if (part === "[" || /(?:&&|--|~~)$/.test(translated + part)) return undefined;
        if (part === "]" && !/\[\^?$/.test(translated)) isInClass = false;
      } else if (part === "[") isInClass = true;
      else if (part === "(" || /^\(\?P?<[A-Za-z_]/.test(part)) hasGroup = true;
      else if (part.startsWith("(?") && !/^\(\?[:imsU-]/.test(part)) return undefined;
      translated += part;
    }
  }
  const flags = [...pattern.matchAll(/\(\?([a-zA-Z-]+)[:)]/g)].map(([, letters]) => letters!);
  const isKnown = flags.every((letters) => /^[imsU-]+$/.test(letters));
  return isKnown && translated.length <= LONGEST ? { pattern: translated, hasGroup } : undefined;
}
