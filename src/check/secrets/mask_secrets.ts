import type { Diagnostic } from "../../source/diagnostic.ts";
import { MASK, Masker } from "../../value/masker.ts";
import { secretsInLines } from "./secrets_in_lines.ts";
import { replaceTokens } from "./token_forms.ts";

/**
 * Masks the secrets of a file in texts: those that were found in it, those in the lines that
 * diagnostics show, and everything that has the form of one.
 */
export function makeSecretMask(
  found: readonly string[],
  diagnostics: readonly Diagnostic[],
): (text: string) => string {
  const secrets = [...found, ...secretsInLines(diagnostics)];
  const masker = new Masker();
  // A secret that is a word, such as "swordfish", may be an ordinary word elsewhere.
  const words = new Set(secrets.filter((secret) => /^[a-z]+$/i.test(secret)));
  const long = secrets.filter((secret) => secret.length > LONGEST_IN_ALL_FORMS);
  for (const secret of secrets) {
    if (!words.has(secret) && secret.length <= LONGEST_IN_ALL_FORMS) masker.add(secret);
  }
  const asValue = new RegExp(`${VALUE_FOLLOWS}(?:${[...words].join("|")})${NO_KEY}`, "g");
  const maskWords = (text: string) => words.size === 0 ? text : text.replace(asValue, MASK);
  return (text) => {
    const rest = long.reduce((text, secret) => text.replaceAll(secret, MASK), text);
    return replaceTokens(maskWords(masker.mask(rest)), MASK);
  };
}

/** Longer ones are masked only as they are written. */
const LONGEST_IN_ALL_FORMS = 5000;

/** The text before a value, in a file or in a message about one. */
const VALUE_FOLLOWS = `(?<=[:=,[]\\s*["']?|\\b(?:not|is|names) ["'])`;
const NO_KEY = `(?![\\w-]|["']?\\s*:)`;
