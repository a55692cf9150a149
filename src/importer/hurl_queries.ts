import { quoteText } from "../openapi/gen/templates.ts";
import {
  comparisonOf,
  containsOf,
  existenceOf,
  headerOf,
  joined,
  jsonPathOf,
  nullOf,
  TYPE_TESTS,
} from "./expressions.ts";
import type { Names } from "./import_names.ts";

/** A translated query with its filters, and the text after it. */
interface Query {
  readonly expression: string;
  /** The list of the nodes that a path selects; the expression is their value. */
  readonly nodes?: string;
  readonly rest: string;
}

/** Translates a query with its filters; undefined if it is not supported. */
export function queryOf(text: string, names: Names): Query | undefined {
  const [, kind = "", after = ""] = /^(\w+)\s*(.*)$/s.exec(text.trim()) ?? [];
  const [argument, rest] = firstText(after);
  const isAlone: Readonly<Record<string, string>> = {
    status: "res.code",
    body: "(res.rawbody ?? res.body)",
    duration: "rt.sec * 1000",
    url: "res.url",
    version: "res.version",
    redirects: "res.redirects",
    sha256: "res.sha256",
    md5: "res.md5",
    bytes: "(res.rawbody ?? res.body)",
  };
  if (kind === "bytes" && /^count\b/.test(after)) {
    return { expression: "res.size", rest: after.slice("count".length).trim() };
  }
  if (isAlone[kind] !== undefined) return filtered(isAlone[kind]!, after.trim(), names);
  if (argument === undefined) return undefined;
  switch (kind) {
    case "jsonpath": {
      const keys = argument.includes("{{") ? "" : jsonPathOf(argument, "first");
      return keys.startsWith("res.body")
        ? filtered(keys, rest, names)
        : selected(`json_path(res.body, ${textOf(argument, names)})`, rest, names);
    }
    case "variable":
      return filtered(names.read(argument), rest, names);
    case "xpath":
      return filtered(`xpath(res.body, ${quoteText(argument)})`, rest, names);
    case "header":
      // Headers of one name are one text.
      if (/^(?:count|first|last|nth)\b/.test(rest)) return undefined;
      return filtered(headerOf(argument), rest, names);
    case "regex":
      return filtered(`capture(res.rawbody ?? res.body, ${quoteText(argument)})[1]`, rest, names);
    case "cookie":
      return filtered(cookieOf(argument), rest, names);
    default:
      return undefined;
  }
}

/** A cookie, or one of its attributes: `sid[SameSite]`. */
function cookieOf(text: string): string {
  const [, name = "", attribute = "Value"] = /^(.*?)(?:\[(.*)\])?$/s.exec(text)!;
  const key = attribute.replace(/-|(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  const isFlag = key === "secure" || key === "http_only";
  const cookie = `find(res.cookies, .name == ${quoteText(name)}${isFlag ? ` && .${key}` : ""})`;
  return isFlag ? cookie : `${cookie}?.${key}`;
}

/** Splits off a quoted text or a pattern between slashes at the beginning. */
function firstText(text: string): [argument: string | undefined, rest: string] {
  const [all = "", quoted, pattern] = /^"((?:[^"\\]|\\.)*)"|^\/((?:[^/\\]|\\.)*)\//.exec(text) ??
    [];
  if (all === "") return [undefined, text];
  const argument = quoted === undefined ? pattern!.replaceAll("\\/", "/") : unescape(quoted);
  return [argument, text.slice(all.length).trim()];
}

/** A text with its escapes resolved; a backslash before anything else stays. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:u\{([\da-fA-F]{1,6})\}|([nrtbf"\\#]))/g,
    (_, code, letter) =>
      code === undefined
        ? { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }[letter as string] ?? letter
        : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)),
  );
}

/** The value of a path: a single node is that value, several are a list. */
function selected(nodes: string, rest: string, names: Names): Query {
  const list = `(let found = ${nodes}; len(found) == 1 ? flatten(found) : found)`;
  if (/^(?:count|first|last|nth)\b/.test(rest)) return filtered(list, rest, names);
  const value = `(let found = ${nodes}; len(found) > 1 ? found : first(found))`;
  const query = filtered(value, rest, names);
  return query.expression === value ? { ...query, nodes } : query;
}

/** Filters as expressions of the value and of their arguments, texts or numbers. */
const FILTERS: Readonly<Record<string, (value: string, one: string, two: string) => string>> = {
  base64Decode: (value) => `decode_base64(${value})`,
  base64Encode: (value) => `encode_base64(${value})`,
  base64UrlSafeDecode: (value) => `decode_base64url(${value})`,
  base64UrlSafeEncode: (value) => `encode_base64url(${value})`,
  count: (value) => `len(${value})`,
  first: (value) => `${value}[0]`,
  last: (value) => `${value}[-1]`,
  location: (value) => `${value}.location`,
  nth: (value, index) => `${value}[${index}]`,
  regex: (value, pattern) => `capture(${value}, ${pattern})[1]`,
  replace: (value, old, text) => `replace(${value}, ${old}, ${text})`,
  split: (value, separator) => `split(${value}, ${separator})`,
  toFloat: (value) => `float(${value})`,
  toHex: (value) => `encode_hex(${value})`,
  toInt: (value) => `int(${value})`,
  toString: (value: string) => `string(${value})`,
  urlDecode: (value) => `decode_url(${value})`,
  // A slash is not encoded.
  urlEncode: (value) => `replace(encode_url(${value}), '%2F', '/')`,
};

/** The filters with arguments, and how many they have. */
const ARGUMENTS: Readonly<Record<string, number>> = { nth: 1, regex: 1, replace: 2, split: 1 };

function filtered(expression: string, text: string, names: Names): Query {
  const [, name = "", after = ""] = /^(\w+)\s*(.*)$/s.exec(text) ?? [];
  const taken: string[] = [];
  let rest = after;
  while (taken.length < (ARGUMENTS[name] ?? (name === "jsonpath" ? 1 : 0))) {
    const [quoted, left] = firstText(rest);
    const [all = "", number] = quoted === undefined ? /^(-?\d+)\s*/.exec(rest) ?? [] : [];
    const argument = quoted === undefined ? number : textOf(quoted, names);
    if (argument === undefined) return { expression, rest: text };
    taken.push(argument);
    rest = quoted === undefined ? rest.slice(all.length) : left;
  }
  const [one = "", two = ""] = taken;
  if (name === "jsonpath") {
    return selected(`json_path(fromJSON(${expression}), ${one})`, rest, names);
  }
  const filter = FILTERS[name];
  if (!filter) return { expression, rest: text };
  return filtered(filter(expression, one, two), rest.trim(), names);
}

const OPERATORS: Readonly<Record<string, string>> = {
  "==": "==",
  "!=": "!=",
  ">": ">",
  ">=": ">=",
  "<": "<",
  "<=": "<=",
  equals: "==",
  notEquals: "!=",
  greaterThan: ">",
  lessThan: "<",
  contains: "contains",
  includes: "contains",
  startsWith: "startsWith",
  endsWith: "endsWith",
  matches: "matches",
};

const PREDICATES: Readonly<Record<string, (value: string) => string>> = {
  isInteger: (value) => `type(${value}) == "int"`,
  isFloat: (value) => `type(${value}) == "float"`,
  isNumber: TYPE_TESTS.number,
  isString: TYPE_TESTS.string,
  isBoolean: TYPE_TESTS.boolean,
  isCollection: (value) => `type(${value}) in ["array", "map"]`,
  isList: TYPE_TESTS.array,
  isObject: TYPE_TESTS.object,
  isEmpty: (value) => `len(${value}) == 0`,
  isIsoDate: (value) => `(is_iso_date(${value}) && ${value} contains "T")`,
  isUuid: (value) => `is_uuid(${value})`,
};

/** Translates a line of `[Asserts]`; undefined if it is not supported. */
export function assertOf(text: string, names: Names): string | undefined {
  const query = queryOf(text, names);
  if (!query) return undefined;
  const { expression, nodes, rest } = query;
  const [, not, word = "", value = ""] = /^(not\s+)?(\S+)\s*(.*)$/s.exec(rest) ?? [];
  // A path that finds nothing has an empty list.
  const list = nodes ?? (expression.startsWith("xpath(") ? expression : undefined);
  const exists = list === undefined ? existenceOf(expression) : `len(${list}) > 0`;
  if (word === "exists" && value === "") return not ? `not (${exists})` : exists;
  // In Hurl, a missing value passes no test.
  const guard = nodes !== undefined || MAY_BE_MISSING.test(expression) ? `${exists} && ` : "";
  const negated = (test: string) => not ? `${guard}not (${test})` : test;
  const predicate = PREDICATES[word];
  if (predicate && value === "") return negated(predicate(expression));
  const operator = OPERATORS[word];
  const [, hex] = /^hex,([\da-fA-F]+);$/.exec(value.replace(/\s/g, "")) ?? [];
  const isHash = /^res\.(?:sha256|md5)$/.test(expression);
  const actual = hex === undefined || isHash ? expression : `encode_hex(${expression})`;
  const expected = hex === undefined ? valueOf(value, names) : quoteText(hex.toLowerCase());
  if (operator === undefined || expected === undefined) return undefined;
  if (nodes !== undefined && operator === "contains") {
    const one = containsOf("first(found)", expected);
    return negated(`(let found = ${nodes}; len(found) == 1 ? ${one} : ${expected} in found)`);
  }
  if (nodes !== undefined && operator === "==" && !/^(?:vars|outputs)\./.test(expected)) {
    return negated(`${nodes} == [${expected}]`);
  }
  if (operator === "contains") return negated(containsOf(actual, expected));
  if (operator === "==" && expected === "nil") return negated(nullOf(actual));
  const test = comparisonOf(actual, operator, expected);
  return operator === "!=" && expected !== "nil" && !not ? `${guard}${test}` : negated(test);
}

/** Values that may be missing; in Hurl, a missing value is not a different one. */
const MAY_BE_MISSING = /^(?:res\.(?:body|headers)[.[]|capture\(|find\()/;

/** A value as Hurl writes it. */
function valueOf(text: string, names: Names): string | undefined {
  const variable = /^\{\{\s*([\w-]+)\s*\}\}$/.exec(text);
  if (variable) return names.read(variable[1]!);
  const [argument, rest] = firstText(text);
  if (argument !== undefined) return rest === "" ? textOf(argument, names) : undefined;
  if (/^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text)) return text;
  if (text === "null") return "nil";
  return /^`(.*)`$/.test(text) ? quoteText(text.slice(1, -1)) : undefined;
}

/** A text that may have variables in it, as an expression. */
export function textOf(text: string, names: Names): string {
  return joined(text.split(/\{\{\s*([\w-]+)\s*\}\}/), names);
}
