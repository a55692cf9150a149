import { quoteText } from "../openapi/make/literal.ts";
import {
  comparisonOf,
  containsOf,
  existenceOf,
  headerOf,
  joined,
  jsonPathOf,
  nullOf,
} from "./expressions.ts";
import type { Names } from "./import_names.ts";

/** A query with its filters, and what follows them. */
export function queryOf(text: string): { expression: string; rest: string } | undefined {
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
  if (isAlone[kind] !== undefined) return filtered(isAlone[kind]!, after.trim());
  if (argument === undefined) return undefined;
  switch (kind) {
    case "jsonpath":
      return filtered(jsonPathOf(argument), rest);
    case "xpath":
      return filtered(`xpath(res.body, ${quoteText(argument)})`, rest);
    case "header":
      // Headers of one name are one text.
      if (/^(?:count|first|last|nth)\b/.test(rest)) return undefined;
      return filtered(headerOf(argument), rest);
    case "regex":
      return filtered(`capture(res.rawbody ?? res.body, ${quoteText(argument)})[1]`, rest);
    case "cookie":
      return filtered(cookieOf(argument), rest);
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

/** A quoted text or a pattern between slashes at the beginning, and what follows. */
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

const FILTERS: Readonly<Record<string, (value: string, argument: string) => string>> = {
  count: (value) => `len(${value})`,
  first: (value) => `${value}[0]`,
  nth: (value, argument) => `${value}[${argument}]`,
  toInt: (value) => `int(${value})`,
  toString: (value: string) => `string(${value})`,
  regex: (value, argument) => `capture(${value}, ${quoteText(argument)})[1]`,
  split: (value, argument) => `split(${value}, ${quoteText(argument)})`,
};

function filtered(
  expression: string,
  text: string,
): { expression: string; rest: string } {
  const [, name = "", after = ""] = /^(\w+)\s*(.*)$/s.exec(text) ?? [];
  const filter = FILTERS[name];
  if (!filter) return { expression, rest: text };
  const takes = ["nth", "regex", "split"].includes(name);
  if (!takes) return filtered(filter(expression, ""), after.trim());
  const [quoted, rest] = firstText(after);
  const [, number = "", left = ""] = quoted === undefined
    ? /^(\d+)\s*(.*)$/s.exec(after) ?? []
    : [];
  return filtered(filter(expression, quoted ?? number), quoted === undefined ? left : rest);
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
  // A path that finds nothing has an empty list.
  exists: (value) =>
    /^(?:xpath|json_path)\(/.test(value) ? `len(${value}) > 0` : existenceOf(value),
  isInteger: (value) => `type(${value}) == "int"`,
  isFloat: (value) => `type(${value}) == "float"`,
  isNumber: (value) => `type(${value}) in ["int", "float"]`,
  isString: (value) => `type(${value}) == "string"`,
  isBoolean: (value) => `type(${value}) == "bool"`,
  isCollection: (value) => `type(${value}) in ["array", "map"]`,
  isList: (value) => `type(${value}) == "array"`,
  isObject: (value) => `type(${value}) == "map"`,
  isEmpty: (value) => `len(${value}) == 0`,
};

/** The test of a line of `[Asserts]`; undefined where there is none like it. */
export function assertOf(text: string, names: Names): string | undefined {
  const query = queryOf(text);
  if (!query) return undefined;
  const { expression, rest } = query;
  const [, not, word = "", value = ""] = /^(not\s+)?(\S+)\s*(.*)$/s.exec(rest) ?? [];
  const negated = (test: string) => not ? `not (${test})` : test;
  const predicate = PREDICATES[word];
  if (predicate && value === "") return negated(predicate(expression));
  const operator = OPERATORS[word];
  const [, hash] = /^hex,([\da-fA-F]+);$/.exec(value.replace(/\s/g, "")) ?? [];
  const isHash = hash !== undefined && /^res\.(?:sha256|md5)$/.test(expression);
  const expected = isHash ? quoteText(hash.toLowerCase()) : valueOf(value, names);
  if (operator === undefined || expected === undefined) return undefined;
  if (operator === "==" && expected === "nil") return negated(nullOf(expression));
  if (operator === "!=" && expected !== "nil" && MAY_BE_MISSING.test(expression)) {
    return negated(`${expression} != nil && ${comparisonOf(expression, "!=", expected)}`);
  }
  return negated(
    operator === "contains"
      ? containsOf(expression, expected)
      : comparisonOf(expression, operator, expected),
  );
}

/** A missing value is not a different value in Hurl. */
const MAY_BE_MISSING = /^(?:res\.(?:body|headers)[.[]|first\(|capture\(|find\()/;

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
