import { MASK, Masker } from "../value/masker.ts";
import { replaceTokens } from "./token_forms.ts";

/** Takes secrets that stand in a file out of texts, and all that has the form of one. */
export function makeSecretMask(secrets: readonly string[]): (text: string) => string {
  const masker = new Masker();
  // A secret that is a word, like "swordfish", may stand elsewhere as a word.
  const words = new Set(secrets.filter((secret) => /^[a-z]+$/i.test(secret)));
  for (const secret of secrets) if (!words.has(secret)) masker.add(secret);
  const asValue = words.size === 0
    ? /(?!)/g
    : new RegExp(`(?<=[:=,[]\\s*["']?|["'])(?:${[...words].join("|")})(?![\\w-])`, "g");
  return (text) => replaceTokens(masker.mask(text).replace(asValue, MASK), MASK);
}
