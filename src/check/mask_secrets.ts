import type { Diagnostic } from "../base/diagnostic.ts";
import { excerptOf, spanInFile } from "../base/source.ts";
import { constructValues, parseYaml } from "../base/yaml/parse_yaml.ts";
import { MASK, Masker } from "../secrets/masker.ts";
import { isCredentialHeader, passwordsIn } from "../secrets/secrets.ts";
import {
  findLiteralSecrets,
  findSentSecrets,
  isSecretValue,
  replaceTokens,
} from "./literal_secrets.ts";

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

/** The hard-coded secrets of the YAML files of which diagnostics show a line. */
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

/** The characters that are searched on either side of a position: more than is ever shown. */
const REACH = 2000;

/**
 * The secrets in the lines of a file that diagnostics show. The file may be invalid, so the lines
 * are read by patterns.
 */
function secretsInLines(diagnostics: readonly Diagnostic[]): string[] {
  const lines = new Set<string>();
  for (const { span } of diagnostics) {
    if (!span) continue;
    const { text, from } = excerptOf(span);
    lines.add(text.slice(Math.max(0, from - REACH), from + REACH));
  }
  return [...lines].flatMap((line) => [
    ...fieldsIn(line)
      .filter(([, value]) => !READ.test(value))
      .filter(([name, value]) => isSecretValue(name, value, isCredentialHeader(name)))
      .map(([, value]) => value),
    ...passwordsIn(line).filter((password) => !password.includes("{{")),
  ]);
}

/** Expressions that read a value, as in outputs: `res.body.token`, `trim(res.stdout)`. */
const READ = /(?:^|[(!\s])(?:res|req|vars|outputs)(?:\.|\?\.|\[)["'A-Za-z_]/;

const NAME = "[\"']?([\\w.-]+)[\"']?";

/** A line that is a field, whose value has no quotes and ends at a comment or at the line end. */
const BLOCK = new RegExp(`^\\s*(?:- +)*${NAME}:\\s+([^\\s"'{[&*!|>#].*)$`);

/** A field anywhere in a line, in quotes or up to the end of a value between brackets. */
const FLOW = new RegExp(
  `${NAME}\\s*:\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|'((?:[^']|'')*)'|([^\\s"'{[,}\\]][^,}\\]]*))`,
  "g",
);

function fieldsIn(line: string): (readonly [name: string, value: string])[] {
  const [, name, rest] = BLOCK.exec(line) ?? [];
  if (name !== undefined && rest !== undefined) {
    return [[name, rest.split(/\s#/, 1)[0]!.trim()]];
  }
  return [...line.matchAll(FLOW)].map(([, name = "", double, single, plain = ""]) =>
    [name, double ?? single ?? plain.trim()] as const
  );
}
