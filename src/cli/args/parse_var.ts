import { LoadError, UsageError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import type { Value } from "../../base/value/value.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";

/** A value with the dotted name that it was given for. */
export interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

const FORMS = "write --var name=value, or --var name:=json";

/**
 * Reads `name=value`, where a number, `true` and the like are what they are in YAML, or
 * `name:=json`. Throws UsageError, which never quotes the value: it may be a secret.
 */
export async function parseVar(text: string): Promise<NamedValue> {
  const equals = text.indexOf("=");
  if (equals < 0) {
    const [shown] = /^[\w.-]*/.exec(text)!;
    throw new UsageError(`option --var needs a name and a value, and got only "${shown}"`, FORMS);
  }
  const isJson = text[equals - 1] === ":";
  const name = text.slice(0, isJson ? equals - 1 : equals);
  if (name.split(".").includes("")) {
    throw new UsageError(`option --var cannot set "${name}"`, FORMS);
  }
  const written = text.slice(equals + 1);
  return { name, value: isJson ? readJson(name, written) : await readScalar(written) };
}

function readJson(name: string, text: string): Value {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  const hint = `a text is given by --var ${name}=text, or in double quotes`;
  throw new UsageError(`option --var ${name}:= is not valid JSON`, hint);
}

const NOTHING = /^(?:~|null|Null|NULL)$/;
/** Texts that YAML may read as a value of another type. */
const TYPED = /^(?:[-+.\w]+|"[^]*"|'[^]*')$/;

/** A number to the base of eight for YAML; hardly for people, whose zip codes begin like this. */
const OCTAL = /^[-+]?0[\d_]+$/;

/**
 * A text as YAML types it. Nothing at all is an empty text here, and digits after a zero are text
 * too.
 */
async function readScalar(text: string): Promise<Value> {
  if (NOTHING.test(text)) return null;
  if (!TYPED.test(text) || OCTAL.test(text)) return text;
  try {
    const { value } = await readYaml([{ name: "--var", text }]);
    return typeof value === "object" ? text : value as Value;
  } catch (error) {
    // Quotes that are not a pair, as in "a" or "b": it is plain text.
    if (error instanceof LoadError) return text;
    throw error;
  }
}
