import { didYouMean, suggest } from "../../source/suggest.ts";
import { FUNCTIONS } from "../functions/registry.ts";

/** What to write in place of a function that there is not: other tools have it, or it is misspelt. */
export function functionHint(name: string): string | undefined {
  return ELSEWHERE.get(name.toLowerCase()) ?? didYouMean(name, FUNCTIONS.keys()) ??
    ELSEWHERE.get(suggest(name, ELSEWHERE.keys()) ?? "");
}

/** What to write in place of a method. */
export function methodHint(name: string): string {
  const operator = OPERATOR_METHODS.get(name);
  if (operator) return `write value ${operator} …`;
  const record = FUNCTIONS.get(name);
  if (record) return record.most === 1 ? `write ${name}(value)` : `write ${name}(value, …)`;
  return METHODS.get(name) ?? "write function(value)";
}

/** What to write in place of a name that other tools have. */
export function nameHint(name: string): string | undefined {
  return NAMES.get(name);
}

/** The same for a misspelling of such a name. */
export function misspeltNameHint(name: string): string | undefined {
  // Of short names too many are alike.
  return NAMES.get(suggest(name, [...NAMES.keys()].filter((known) => known.length > 5)) ?? "");
}

const ENVIRONMENT = "read the environment in vars at the top of the workflow, as in {{HOME}}";

const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["random", "use random_int(100)"],
  ["iso8601", "the time is unixtime(), in seconds"],
  ["now", "the time is unixtime(), in seconds"],
  ["date", "there are no dates; the time is unixtime(), in seconds"],
  ["duration", "there are no dates; rt.sec is the time of a step in seconds"],
  ["timezone", "there are no dates; the time is unixtime(), in seconds"],
  ["base64", "use encode_base64(text)"],
  ["base64encode", "use encode_base64(text)"],
  ["base64decode", "use decode_base64(text)"],
  ["urlencode", "use encode_url(text)"],
  ["urldecode", "use decode_url(text)"],
  ["encodeuricomponent", "use encode_url(text)"],
  ["decodeuricomponent", "use decode_url(text)"],
  ["base64url", "use encode_base64url(text)"],
  ["hex", "use encode_hex(text)"],
  ["uuidv4", "use uuid()"],
  ["closeto", "use approx(a, b, tolerance)"],
  ["regex_match", "use capture(text, pattern)"],
  ["regex_capture", "use capture(text, pattern)"],
  ["exec", "use capture(text, pattern)"],
  ["extract", "use capture(text, pattern)"],
  ["scan", "use capture(text, pattern)"],
  ["findbetween", "use capture(text, pattern)"],
  ["parsehtml", "use css(text, selector)"],
  ["queryselector", "use css(text, selector)[0]"],
  ["queryselectorall", "use css(text, selector)"],
  ["jp", "use jmespath(value, expression)"],
  ["jq", "use jmespath(value, expression) or json_path(value, path)"],
  ["version", "use semver(text)"],
  ["fromyaml", "use parse_yaml(text)"],
  ["yaml", "use parse_yaml(text)"],
  ["fromcsv", "use parse_csv(text)"],
  ["csv", "use parse_csv(text)"],
  ["add", "write a + b"],
  ["sub", "write a - b"],
  ["mul", "write a * b"],
  ["div", "write a / b"],
  ["mod", "write a % b"],
  ["env", ENVIRONMENT],
  ["default", "write value ?? fallback"],
  ["coalesce", "write a ?? b ?? c"],
  ["tojson", "use toJSON(value)"],
  ["fromjson", "use fromJSON(text)"],
  ["jsonpath", 'use json_path(value, "$..name"), or write the path itself: res.body.items[0].name'],
  ["length", "use len(value)"],
  ["size", "use len(value)"],
  ["typeof", "use type(value)"],
  ["substring", "write text[0:3]"],
  ["substr", "write text[0:3]"],
  ["slice", "write list[0:3]"],
  ["includes", "write text contains part, or item in list"],
  ["has", 'write "key" in map'],
  ["some", "use any(list, # > 1)"],
  ["every", "use all(list, # > 1)"],
  ["touppercase", "use upper(text)"],
  ["tolowercase", "use lower(text)"],
  ["tostring", "use string(value)"],
  ["str", "use string(value)"],
  ["number", "use float(text) or int(text)"],
  ["parseint", "use int(text)"],
  ["parsefloat", "use float(text)"],
  ["isstring", 'write type(value) == "string"'],
  ["isnumber", 'write type(value) in ["int", "float"]'],
  ["isboolean", 'write type(value) == "bool"'],
  ["isarray", 'write type(value) == "array"'],
  ["islist", 'write type(value) == "array"'],
  ["isobject", 'write type(value) == "map"'],
  ["isnull", "write value == nil"],
  ["isempty", "write len(value) == 0"],
  ["exists", "write value != nil"],
  ["defined", "write value != nil"],
  ["isdefined", "write value != nil"],
  ["match", 'write text matches "^a+$"'],
  ["regex", 'write text matches "^a+$"'],
  ["between", "write 1 <= value <= 9"],
  ["today", "there are no dates; the time is unixtime(), in seconds"],
  ["timestamp", "the time is unixtime(), in seconds"],
  ["not_in", "write item not in list"],
  ["if", "write if test { a } else { b }, or test ? a : b"],
]);

const OPERATOR_METHODS: ReadonlyMap<string, string> = new Map([
  ["contains", "contains"],
  ["includes", "contains"],
  ["startsWith", "startsWith"],
  ["endsWith", "endsWith"],
  ["matches", "matches"],
  ["match", "matches"],
  ["test", "matches"],
]);

const METHODS: ReadonlyMap<string, string> = new Map([
  ["length", "write len(value)"],
  ["size", "write len(value)"],
  ["has", 'write "key" in value'],
  ["substring", "write value[0:3]"],
  ["substr", "write value[0:3]"],
  ["slice", "write value[0:3]"],
  ["some", "write any(value, # > 1)"],
  ["every", "write all(value, # > 1)"],
  ["toUpperCase", "write upper(value)"],
  ["toLowerCase", "write lower(value)"],
  ["toString", "write string(value)"],
  ["replaceAll", "write replace(value, old, new)"],
]);

const NAMES: ReadonlyMap<string, string> = new Map([
  ["env", ENVIRONMENT],
  ["jobs", "outputs of earlier steps are in outputs"],
  ["steps", "outputs of earlier steps are in outputs"],
  ["response", "the result of the action is res"],
  ["request", "the request of the action is req"],
  ["body", "write res.body"],
  ["code", "write res.code"],
  ["statusCode", "write res.code"],
  ["status_code", "write res.code"],
  ["headers", 'write res.headers["Content-Type"]'],
  ["cookies", "write res.cookies"],
  ["$", "the body of a response is res.body"],
  ["duration", "the seconds that the action took are rt.sec"],
  ["elapsed", "the seconds that the action took are rt.sec"],
  ["undefined", "write nil"],
  ["None", "write nil"],
  ["True", "write true"],
  ["False", "write false"],
]);
