import type { Diagnostic } from "../../source/diagnostic.ts";
import { MASK, Masker } from "../../value/masker.ts";
import { secretsInLines } from "./secrets_in_lines.ts";
import { replaceTokens } from "./token_forms.ts";

/**
 * Takes secrets that stand in a file out of texts: those that were found there, those in the lines
 * that diagnostics show, and all that has the form of one.
 */
export function makeSecretMask(
  found: readonly string[],
  diagnostics: readonly Diagnostic[],
): (text: string) => string {
  const secrets = [...found, ...secretsInLines(diagnostics)];
  const masker = new Masker();
  // A secret that is a word, like "swordfish", may stand elsewhere as a word.
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

/** What is longer is looked for as it is written: that it was encoded somewhere is far-fetched. */
const LONGEST_IN_ALL_FORMS = 5000;

/** What precedes a value, in a file or in a message about one. */
const VALUE_FOLLOWS = `(?<=[:=,[]\\s*["']?|\\b(?:not|is|names) ["'])`;
const NO_KEY = `(?![\\w-]|["']?\\s*:)`;
