import type { Diagnostic } from "../../base/diagnostic.ts";
import { excerptOf } from "../../base/source.ts";
import { isCredentialHeader, passwordsIn } from "../../secrets/secrets.ts";
import { isSecretValue } from "./literal_secrets.ts";

/** The characters that are searched on either side of a position: more than is ever shown. */
const REACH = 2000;

/**
 * The secrets in the lines of a file that diagnostics show. The file may be invalid, so the lines
 * are read by patterns.
 */
export function secretsInLines(diagnostics: readonly Diagnostic[]): string[] {
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

/** The names and values of the fields in a line. */
function fieldsIn(line: string): (readonly [name: string, value: string])[] {
  const [, name, rest] = BLOCK.exec(line) ?? [];
  if (name !== undefined && rest !== undefined) {
    return [[name, rest.split(/\s#/, 1)[0]!.trim()]];
  }
  return [...line.matchAll(FLOW)].map(([, name = "", double, single, plain = ""]) =>
    [name, double ?? single ?? plain.trim()] as const
  );
}
