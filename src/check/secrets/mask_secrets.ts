import type { Diagnostic } from "../../base/diagnostic.ts";
import { MASK, Masker } from "../../secrets/masker.ts";
import { spanInFile } from "../../base/source.ts";
import { constructValues, parseYaml } from "../../base/yaml/parse_yaml.ts";
import { findLiteralSecrets } from "./literal_secrets.ts";
import { secretsInLines } from "./secrets_in_lines.ts";
import { findSentSecrets } from "./sent_secrets.ts";
import { replaceTokens } from "./token_forms.ts";

/**
 * Masks the known secrets in texts about a file: those that were found in it, those in the files
 * and lines that diagnostics show, and everything that has the form of one.
 */
export function makeSecretMask(
  known: Masker,
  diagnostics: readonly Diagnostic[],
  found: readonly string[] = [],
): (text: string) => string {
  const secrets = [...found, ...secretsInLines(diagnostics), ...secretsInFiles(diagnostics)];
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
    const rest = long.reduce((text, secret) => text.replaceAll(secret, MASK), known.mask(text));
    return replaceTokens(maskWords(masker.mask(rest)), MASK);
  };
}

/** The hard-coded secrets of the files that diagnostics show a line of, where they are YAML. */
function secretsInFiles(diagnostics: readonly Diagnostic[]): readonly string[] {
  const files = new Set(diagnostics.flatMap(({ span }) => span ? spanInFile(span).source : []));
  return [...files].flatMap((file) => {
    try {
      const [root] = constructValues(parseYaml([file]));
      const secrets = [...findLiteralSecrets(root, [file]), ...findSentSecrets(root)];
      return secrets.map(({ text }) => text);
    } catch {
      return [];
    }
  });
}

/** Longer ones are masked only as they are written. */
const LONGEST_IN_ALL_FORMS = 5000;

/** The text before a value, in a file or in a message about one. */
const VALUE_FOLLOWS = `(?<=[:=,[]\\s*["']?|\\b(?:not|is|names) ["'])`;
const NO_KEY = `(?![\\w-]|["']?\\s*:)`;
