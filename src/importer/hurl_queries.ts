import { quoteText } from "../draft/draft.ts";
import { headerOf, keyOf, TYPE_TESTS } from "./expressions.ts";
import type { Parts, Token } from "./hurl_entries.ts";
import type { Variables } from "./hurl_variables.ts";

const { hash } = await import("node:crypto");

/** What a query gives. */
type Kind =
  /** A value of JSON, whose type is known in a run only. */
  | "any"
  | "text"
  | "integer"
  | "list"
  /** What `xpath()` gives. A list is a set of nodes, which is not a list in Hurl. */
  | "nodes"
  /** Bytes: the expression is their SHA-256, their hexadecimal digits or their base64. */
  | "body"
  | "digest"
  | "base64"
  /** The URLs to which redirects led, and one of them. */
  | "redirects"
  | "redirect"
  /** Something that exists or not. */
  | "flag";

interface Query {
  readonly kind: Kind;
  /** Nil where nothing is found, or an error. */
  readonly value: string;
  /** Whether something is found; undefined if it always is. */
  readonly found?: string;
  /** What must be true for any assert, also for one that nothing would pass. */
  readonly needs?: string;
  /** The nodes that a path finds, and the value that is made of `found`, which has them. */
  readonly nodes?: string;
  readonly item?: string;
  /** The value by its keys, which is nil or an error where nothing is found. */
  readonly short?: string;
  /** The value as it can be compared with a text that has no comma. */
  readonly joined?: string;
  /** The nodes of data in which `1.0` is not an integer. */
  readonly exact?: string;
}

type Test = (value: string) => string;

/** The text of the body; nil if the body is not text. */
export const BODY = "(res.rawbody ?? res.body)";

/** Headers that are sent once; with any other, several are a list in Hurl. */
export const SENT_ONCE =
  /^(?:content-(?:type|length|location|range|disposition)|location|etag|date|last-modified|expires|server|age|retry-after)$/i;

/** Reads the tokens of a capture or an assert. */
export class QueryReader {
  #at = 0;

  constructor(readonly tokens: readonly Token[], readonly variables: Variables) {}

  /** The value of a capture, and the test that there is one; undefined if it is not supported. */
  capture(): { readonly value: string; readonly found?: string } | undefined {
    const query = this.#query();
    const isSecret = this.#takeWord("redact");
    const isValue = query && /^(?:any|text|integer|list|nodes)$/.test(query.kind);
    if (!isValue || this.#at < this.tokens.length) return undefined;
    const value = query.short ?? query.value;
    return { ...query, value: isSecret ? `secret(${value})` : value };
  }

  /** The test of an assert; undefined if it is not supported. */
  assert(): string | undefined {
    const query = this.#query();
    if (!query) return undefined;
    const not = this.#takeWord("not");
    const operator = this.#word() ?? "";
    const test = operator === "exists" ? query.found : this.#compare(query, operator, not);
    if (test === undefined || this.#at < this.tokens.length) return undefined;
    const whole = not ? `not (${test})` : test;
    const isExact = /^is(?:Integer|Float)$/.test(operator) && query.kind === "any";
    const last = this.tokens.at(-1);
    const isEmpty = operator === "isEmpty" || last?.kind === "text" && last.parts.length === 0;
    const isNegative = not || isEmpty || operator === "!=" || operator === "notEquals";
    const needs = isExact ? NO_EXPONENTS : isNegative ? query.needs : undefined;
    return needs === undefined ? whole : `${needs} && ${whole}`;
  }

  /** Whether something is found that passes; what has the wrong type is an error, and fails. */
  #compare(query: Query, word: string, not: boolean): string | undefined {
    const operator = OPERATORS[word] ?? word;
    const expected = this.tokens[this.#at];
    if (/^is(?:Integer|Float)$/.test(operator) && query.kind === "any") {
      if (query.exact === undefined) return undefined;
      const type = operator === "isFloat" ? "float" : "int";
      return `map(${query.exact}, type(#)) == ["${type}"]`;
    }
    const isConstant = expected?.kind === "word" || expected?.kind === "text" &&
        expected.parts.every((part) => typeof part === "string");
    const isEquation = operator === "==" || operator === "!=";
    if (isEquation && query.joined !== undefined && isConstant && !hasComma(expected)) {
      return this.#compare(
        { kind: "text", value: query.joined, found: query.found },
        operator,
        not,
      );
    }
    const test = this.#test(query.kind, operator, not);
    if (test === undefined) return undefined;
    const { value, found, nodes, item = "", short } = query;
    // Nil passes no other test.
    const isNull = expected?.kind === "variable" ||
      expected?.kind === "word" && expected.word === "null";
    const fails = !not && operator !== "!=" && !isNull;
    if (short !== undefined && fails) return test(short);
    if (nodes === undefined) {
      return found === undefined || fails ? test(value) : `${found} && ${test(value)}`;
    }
    if (isConstant && operator === "==") return `${nodes} == [${this.#valueOf(expected)}]`;
    if (short !== undefined && operator === "!=") return `${found} && ${test(short)}`;
    return `(let found = ${nodes}; found != [] && ${test(item)})`;
  }

  /** The test of an operator; undefined if it is not supported for this kind of value. */
  #test(kind: Kind, operator: string, not: boolean): Test | undefined {
    if (kind === "body" || kind === "digest" || kind === "base64") {
      if (kind === "body" && operator === "isEmpty") return () => "res.size == 0";
      // Invalid base64 is an error.
      const isKnown = kind === "base64" ? operator === "==" && !not : /^[!=]=$/.test(operator);
      const bytes = isKnown ? this.#bytes(kind) : undefined;
      return bytes === undefined ? undefined : (value) => `${value} ${operator} ${bytes}`;
    }
    if (/^(?:flag|redirects?)$/.test(kind)) return undefined;
    if (Object.hasOwn(TYPES, operator)) {
      // Each number of XPath is a float, and a set of nodes is not a list.
      if (kind !== "nodes" || !/^is(?:Integer|Float|List)$/.test(operator)) return TYPES[operator];
      return operator === "isFloat" ? TYPES.isNumber : undefined;
    }
    // Nil is not a text, but would be an operand without an error.
    const text: Test = (value) => not && kind === "any" ? `(${value} ?? 0)` : value;
    if (operator === "isUuid") return (value) => `${text(value)} matches '${UUID}'`;
    if (operator === "isIsoDate") {
      return (value) =>
        `(let value = ${text(value)}; value matches ${DATE} && ` +
        "is_iso_date(replace(upper(value), ' ', 'T')))";
    }
    if (operator === "matches") {
      const pattern = this.#pattern();
      return pattern && ((value) => `${text(value)} matches ${quoteText(pattern.pattern)}`);
    }
    const token = this.tokens[this.#at++];
    const expected = this.#valueOf(token);
    if (expected === undefined) return undefined;
    const isText = token?.kind === "text" || token?.kind === "variable";
    switch (operator) {
      case "==":
      case "!=":
        return (value) => `${value} ${operator} ${expected}`;
      case ">":
      case ">=":
      case "<":
      case "<=":
        // Texts of times are compared as times.
        if (token?.kind === "text" && /\d{4}-\d\d-\d\d/.test(expected)) return undefined;
        return (value) => `${value} ${operator} ${expected}`;
      case "startsWith":
      case "endsWith":
        return isText ? (value) => `${text(value)} ${operator} ${expected}` : undefined;
      case "includes":
      case "contains":
        if (kind === "list" || kind === "any" && (operator === "includes" || !isText)) {
          return (value) => `${expected} in concat(${value})`;
        }
        if (!isText || operator === "includes") return undefined;
        if (kind !== "any") return (value) => `${text(value)} contains ${expected}`;
        return (value) =>
          `(let value = ${text(value)}; ` +
          `type(value) == "array" ? ${expected} in value : value contains ${expected})`;
      default:
        return undefined;
    }
  }

  /** The value that an operator compares with. */
  #valueOf(token: Token | undefined): string | undefined {
    if (token?.kind === "text") return this.variables.textOf(token.parts);
    if (token?.kind === "variable") return this.variables.valueOf(token.name);
    if (token?.kind !== "word") return undefined;
    if (token.word === "null") return "nil";
    return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(token.word) ? token.word : undefined;
  }

  /** Takes bytes, as the text that a kind has for them. */
  #bytes(kind: "body" | "digest" | "base64"): string | undefined {
    const token = this.tokens[this.#at++];
    if (kind === "body") return token && bodyHash(token);
    if (token?.kind !== "bytes") return undefined;
    return quoteText(kind === "digest" ? token.bytes.toHex() : token.bytes.toBase64());
  }

  /** Takes a pattern; undefined if it has variables, or RE2 has none with the same meaning. */
  #pattern(): Pattern | undefined {
    const token = this.tokens[this.#at++];
    if (token?.kind === "pattern") return translatePattern(token.pattern);
    const isConstant = token?.kind === "text" &&
      token.parts.every((part) => typeof part === "string");
    return isConstant ? translatePattern(token.parts.join("")) : undefined;
  }

  #query(): Query | undefined {
    let query = this.#source();
    while (query) {
      const name = this.#word(false);
      if (name === undefined || !Object.hasOwn(FILTERS, name)) return query;
      this.#at++;
      query = FILTERS[name]!(query, this);
    }
    return undefined;
  }

  #source(): Query | undefined {
    const name = this.#word() ?? "";
    if (Object.hasOwn(SOURCES, name)) return SOURCES[name];
    if (name === "regex") return this.groupOf(SOURCES.body!);
    const parts = this.takeText();
    if (!parts) return undefined;
    const { variables } = this;
    const [only] = parts;
    const constant = parts.length === 1 && typeof only === "string" ? only : undefined;
    switch (name) {
      case "header":
        return headerQuery(constant, variables.textOf(parts));
      case "cookie":
        return cookieQuery(parts, variables);
      case "jsonpath":
        return pathQuery(
          constant === "$" ? "fromJSON(res.rawbody)" : "res.body",
          variables.textOf(parts),
          constant,
        );
      case "variable":
        return constant === undefined
          ? undefined
          : { kind: "any", value: variables.valueOf(constant) };
      case "xpath": {
        const mark = '(res.headers["Content-Type"] startsWith "text/html" ' +
          '? "<!doctype html>" : "<?xml?>")';
        const value = `xpath(${mark} + res.body, ${variables.textOf(parts)})`;
        return { kind: "nodes", value, found: `${value} != []` };
      }
      default:
        return undefined;
    }
  }

  /** The first group of the pattern that follows, in a text. */
  groupOf({ value: text, needs }: Query): Query | undefined {
    const pattern = this.#pattern();
    if (!pattern?.hasGroup) return undefined;
    const value = `capture(${text}, ${quoteText(pattern.pattern)})?.[1]`;
    return { kind: "text", value, found: `${value} != nil`, needs };
  }

  takeText(): Parts | undefined {
    const token = this.tokens[this.#at];
    if (token?.kind !== "text") return undefined;
    this.#at++;
    return token.parts;
  }

  takeIndex(): string | undefined {
    const word = this.#word();
    return /^-?\d+$/.test(word ?? "") ? word : undefined;
  }

  #word(isTaken = true): string | undefined {
    const token = this.tokens[this.#at];
    if (token?.kind !== "word") return undefined;
    if (isTaken) this.#at++;
    return token.word;
  }

  #takeWord(word: string): boolean {
    const isThere = this.#word(false) === word;
    if (isThere) this.#at++;
    return isThere;
  }
}

export function hashOf(content: string | Uint8Array): string {
  return quoteText(hash("sha256", content, "hex"));
}

/** The SHA-256 that a body of these bytes has. */
export function bodyHash(token: Token): string | undefined {
  if (token.kind === "bytes") return hashOf(token.bytes);
  if (token.kind !== "file") return undefined;
  const isConstant = token.path.every((part) => typeof part === "string");
  return isConstant ? `sha256_file(${quoteText(token.path.join(""))})` : undefined;
}

function hasComma(token: Token | undefined): boolean {
  return token?.kind === "text" && token.parts.join("").includes(",");
}

const OPERATORS: Readonly<Record<string, string>> = {
  equals: "==",
  notEquals: "!=",
  greaterThan: ">",
  greaterThanOrEquals: ">=",
  lessThan: "<",
  lessThanOrEquals: "<=",
};

/** In JSON without exponents, this letter is in texts and in `true` and `false` alone. */
const NO_EXPONENTS = "res.rawbody matches " +
  quoteText('^(?:"(?:[^"\\\\]|\\\\.)*"|true|false|[^"eE])*$');

const DATE = quoteText(
  "^\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d:\\d\\d(?:[.]\\d+)?(?:[Zz]|[+-]\\d\\d:\\d\\d)$",
);
const HEX = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}";
const UUID = `(?i)^(?:[0-9a-f]{32}|(?:urn:uuid:)?${HEX}|[{]${HEX}[}])$`;

/** Queries that have no argument and always a value. */
const SOURCES: Readonly<Record<string, Query>> = {
  status: { kind: "integer", value: "res.code" },
  version: { kind: "text", value: "res.version" },
  url: { kind: "text", value: "res.url" },
  duration: { kind: "integer", value: "floor(rt.sec * 1000)" },
  // One that is not text is in a file.
  body: { kind: "text", value: BODY, needs: "res.filepath == nil" },
  bytes: { kind: "body", value: "res.sha256" },
  sha256: { kind: "digest", value: "res.sha256" },
  md5: { kind: "digest", value: "res.md5" },
  redirects: { kind: "redirects", value: "concat(map(res.redirects, .url), [res.url])[1:]" },
};

function headerQuery(constant: string | undefined, name: string): Query {
  const value = constant === undefined ? `res.headers[${name}]` : headerOf(constant);
  const found = `${value} != nil`;
  if (constant !== undefined && SENT_ONCE.test(constant)) return { kind: "text", value, found };
  if (constant !== undefined && /^set-cookie$/i.test(constant)) {
    const all = "map(res.cookies, .raw)";
    return { kind: "any", value: `(len(${all}) > 1 ? ${all} : first(${all}))`, found };
  }
  const values = value.replace("res.headers", "res.repeated_headers?.");
  return { kind: "any", value: `(${values} ?? ${value})`, found, joined: value };
}

/** A cookie, or one of its attributes: `sid[SameSite]`. */
function cookieQuery(parts: Parts, variables: Variables): Query | undefined {
  const last = parts.at(-1);
  const [, end = "", attribute = "value"] = typeof last === "string"
    ? /^(.*?)(?:\[ *([\w-]+) *\])?$/s.exec(last)!
    : [];
  const name = typeof last === "string" ? [...parts.slice(0, -1), end] : parts;
  const cookie = `find(res.cookies, .name == ${
    variables.textOf(name.filter((part) => part !== ""))
  })`;
  const key = attribute.toLowerCase();
  if (key === "value") {
    return { kind: "text", value: `${cookie}?.value`, found: `${cookie} != nil` };
  }
  const content = {
    ...{ secure: "", httponly: "", expires: "=[^;]+", "max-age": "=(-?[0-9]+)" },
    ...{ domain: "=([^;]*)", path: "=([^;]*)", samesite: "=([^;]*)" },
  }[key];
  if (content === undefined) return undefined;
  const pattern = quoteText(`(?i); *${key}${content} *(?:;|$)`);
  const match = `capture(${cookie}?.raw ?? '', ${pattern})`;
  const found = `${match} != nil`;
  if (!content.includes("(")) return { kind: "flag", value: match, found };
  const value = `${match}?.[1]`;
  return key === "max-age"
    ? { kind: "integer", value: `int(${value})`, found }
    : { kind: "text", value, found };
}

/** What a JSONPath finds in data: the only node, or the list of several. */
function pathQuery(data: string, path: string, constant = ""): Query {
  const nodes = `json_path(${data}, ${path})`;
  const isSingle = /^\$(?:\.[A-Za-z_]\w*|\[(?:-?\d+|'[^'\\]*'|"[^"\\]*")\])+$/.test(constant);
  const item = isSingle ? "found[0]" : "(len(found) > 1 ? found : found[0])";
  const isBody = data === "res.body";
  const keys = isBody && /^\$(?:\.[A-Za-z_]\w*|\['[^'\\]*'\])+$/.test(constant)
    ? [...constant.matchAll(/\.(\w+)|\['(.*?)'\]/g)].map(([, key, quoted]) => keyOf(key ?? quoted!))
    : [];
  return {
    kind: "any",
    nodes,
    item,
    value: isSingle ? `${nodes}[0]` : `(let found = ${nodes}; ${item.slice(1, -1)})`,
    found: `${nodes} != []`,
    ...isBody ? { needs: "res.rawbody != nil" } : {},
    ...isBody && constant !== "" && !constant.includes("?")
      ? { exact: `json_path(fromJSON(replace(res.rawbody, '.0', '.01')), ${path})` }
      : {},
    ...keys.length > 0 ? { short: `res.body${keys.join("")}` } : {},
  };
}

/** Tests of types, which fail for nil. */
const TYPES: Readonly<Record<string, Test>> = {
  isEmpty: (value) => `len(${value}) == 0`,
  isString: TYPE_TESTS.string,
  isBoolean: TYPE_TESTS.boolean,
  isNumber: TYPE_TESTS.number,
  isCollection: (value) => `type(${value}) in ["array", "map"]`,
  isList: TYPE_TESTS.array,
  isObject: TYPE_TESTS.object,
  isInteger: (value) => `type(${value}) == "int"`,
  isFloat: (value) => `type(${value}) == "float"`,
};

/** Filters, which fail without a value. */
const FILTERS: Readonly<Record<string, (query: Query, reader: QueryReader) => Query | undefined>> =
  {
    base64Decode: textFilter("base64", (value) => value),
    count({ kind, value }) {
      if (kind === "body") return { kind: "integer", value: "res.size" };
      const isList = /^(?:list|redirects)$/.test(kind);
      if (!isList && kind !== "any" && kind !== "nodes") return undefined;
      return { kind: "integer", value: isList ? `len(${value})` : `count(${value}, true)` };
    },
    first: (query) => itemOf(query, "0"),
    last: (query) => itemOf(query, "-1"),
    nth: (query, reader) => itemOf(query, reader.takeIndex()),
    jsonpath(query, reader) {
      const path = reader.takeText();
      return path && isText(query)
        ? pathQuery(`fromJSON(${query.value})`, reader.variables.textOf(path))
        : undefined;
    },
    location: ({ kind, value }) => kind === "redirect" ? { kind: "text", value } : undefined,
    regex: (query, reader) => isText(query) ? reader.groupOf(query) : undefined,
    replace(query, reader) {
      const [old, text] = [reader.takeText(), reader.takeText()];
      if (!old || !text || !isText(query)) return undefined;
      const { variables } = reader;
      const value = `replace(${query.value}, ${variables.textOf(old)}, ${variables.textOf(text)})`;
      return { kind: "text", value };
    },
    split(query, reader) {
      const separator = reader.takeText();
      if (!separator?.length || !isText(query)) return undefined;
      return {
        kind: "list",
        value: `split(${query.value}, ${reader.variables.textOf(separator)})`,
      };
    },
    toFloat: textFilter("any", (value) => `float(${value})`),
    toHex: ({ kind, value }) => kind === "digest" ? { kind: "text", value } : undefined,
    toInt: textFilter("integer", (value) => `int(${value})`),
    toString: ({ kind, value }: Query): Query | undefined =>
      kind === "text"
        ? { kind, value }
        : kind === "integer"
        ? { kind: "text", value: `string(${value})` }
        : undefined,
    urlDecode: textFilter("text", (value) => `decode_url(${value})`),
    urlEncode: textFilter("text", (value) =>
      [..."!*'()"].reduce(
        (all, mark) =>
          `replace(${all}, ${quoteText(mark)}, '%${
            mark.charCodeAt(0).toString(16).toUpperCase()
          }')`,
        `replace(encode_url(${value}), '%2F', '/')`,
      )),
  };

function isText({ kind }: Query): boolean {
  return kind === "any" || kind === "text" || kind === "nodes" || kind === "integer";
}

function textFilter(kind: Kind, write: Test): (query: Query) => Query | undefined {
  return (query) => isText(query) ? { kind, value: write(query.value) } : undefined;
}

function itemOf({ kind, value }: Query, index: string | undefined): Query | undefined {
  if (index === undefined) return undefined;
  if (kind === "list") return { kind: "text", value: `${value}[${index}]` };
  if (kind === "any") return { kind, value: `concat(${value})[${index}]` };
  return kind === "redirects" ? { kind: "redirect", value: `${value}[${index}]` } : undefined;
}

/** A pattern of Hurl for RE2. */
interface Pattern {
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
function translatePattern(pattern: string): Pattern | undefined {
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
