import { tryParseJson } from "../../base/value/parse_json.ts";
import { isDict, isNumber, plain, readKey, type Value } from "../../base/value/value.ts";
import type { MemberExpression, Node } from "../parse/ast.ts";
import type { Evaluation } from "./evaluation.ts";
import { Fault, kindOf, NilOwner } from "../fault.ts";

/** The value under a key of a map or at an index of a list or string. Nothing is inherited. */
export function readMember(
  node: MemberExpression,
  object: Value,
  key: Value,
  run: Evaluation,
): Value {
  if (Array.isArray(object)) return readIndex(node, object, key, "list");
  if (isDict(object)) {
    if (key === null) return null;
    if (typeof key !== "string") {
      throw new Fault(`a key of a map is a string, got ${kindOf(key)}`);
    }
    const value = readKey(object, key);
    if (value === undefined) {
      run.missing = { node, at: node.property, key, among: object };
      return null;
    }
    return value;
  }
  if (object === null) {
    throw new NilOwner(`cannot read ${spell(node)} of nil`, foundHint(node));
  }
  if (typeof object === "string") {
    if (isNumber(key)) return readIndex(node, charactersOf(object, run), key, "string");
    throw new Fault(`a string has no ${spell(node)}`, textHint(key, object), node.property);
  }
  throw new Fault(`${kindOf(object)} has no ${spell(node)}`, undefined, node.property);
}

function readIndex(
  node: MemberExpression,
  list: ArrayLike<unknown>,
  key: Value,
  what: string,
): Value {
  if (!isNumber(key)) {
    const hint = isLength(key)
      ? "use len(…)"
      : isCookieList(node.object)
      ? `write cookie(res, "${key}")`
      : "write [0] for its first item";
    throw new Fault(`a ${what} has no ${spell(node)}`, hint, node.property);
  }
  const whole = Math.trunc(Number(key));
  const index = whole < 0 ? list.length + whole : whole;
  if (!(index >= 0 && index < list.length)) {
    throw new Fault(
      `index ${key} is outside a ${what} of length ${list.length}`,
      foundHint(node, list.length),
    );
  }
  return plain(list[index]);
}

/** A hint for an index into the result of a function that finds values; a length of 0 also means nil. */
function foundHint({ object }: MemberExpression, length = 0): string | undefined {
  const { name } = object.type === "CallExpression" && object.callee.type === "Identifier"
    ? object.callee
    : { name: "" };
  if (name === "capture") {
    if (length === 0) return "the pattern does not match; use ?. where it may not";
    return length === 1 ? "the pattern has no groups: put one in parentheses" : undefined;
  }
  return length === 0 && FINDERS.includes(name) ? `${name}() found nothing` : undefined;
}

const FINDERS: readonly string[] = ["json_path", "xpath", "css", "filter"];

/** A part of a list or text; indexes outside it are ignored. */
export function readSlice(
  value: Value,
  from: Value | undefined,
  to: Value | undefined,
  run: Evaluation,
): Value {
  if (typeof value !== "string" && !Array.isArray(value)) {
    throw new Fault(`cannot cut a part out of ${kindOf(value)}`);
  }
  const whole = typeof value === "string" ? charactersOf(value, run) : value as readonly Value[];
  const start = bound(from, 0, whole.length);
  const end = Math.max(start, bound(to, whole.length, whole.length));
  run.step(end - start);
  const part = whole.slice(start, end);
  return typeof value === "string" && typeof part !== "string" ? part.join("") : part;
}

function bound(value: Value | undefined, missing: number, length: number): number {
  if (value === undefined) return missing;
  if (!isNumber(value)) {
    throw new Fault(`a bound of a part is a number, got ${kindOf(value)}`);
  }
  const whole = Math.trunc(Number(value));
  return Math.min(Math.max(whole < 0 ? length + whole : whole, 0), length);
}

/** Whether it is `res.cookies`. */
function isCookieList(node: Node): boolean {
  return node.type === "MemberExpression" && spell(node) === ".cookies" &&
    node.object.type === "Identifier" && node.object.name === "res";
}

/** The member as written; a computed key may be a secret and is not shown. */
function spell({ property, computed }: MemberExpression): string {
  if (!computed && property.type === "Identifier") return `.${property.name}`;
  return property.type === "Literal" ? `[${JSON.stringify(property.value)}]` : "member";
}

function isLength(key: Value): boolean {
  return key === "length" || key === "size" || key === "count";
}

/** A text longer than this is not read to give a hint. */
const LONGEST_LOOK = 100_000;

/** A hint for a text that was taken for a map, without its parts, which may be secrets. */
function textHint(key: Value, text: string): string | undefined {
  if (isLength(key)) return "use len(…)";
  if (text.trim() === "") return "the text is empty";
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:/.test(text)) return "date_parts(…) has the parts of a time";
  if (/^\s*<[!?a-z]/i.test(text)) return "the text looks like HTML or XML, not JSON";
  if (!/^\s*[[{]/.test(text)) return undefined;
  return text.length > LONGEST_LOOK || tryParseJson(text) !== undefined
    ? "if it holds JSON, read it with parse_json(…) first"
    : "the text begins like JSON but is not valid";
}

const SURROGATE = /[\ud800-\udfff]/;

/** The number of characters of a text; one outside the basic plane counts as one, not two. */
export function countCharacters(text: string): number {
  return charactersOf(text).length;
}

/** The characters of a text, as something that can be indexed and sliced. */
function charactersOf(text: string, run?: Evaluation): string | readonly string[] {
  run?.step(text.length >> 6);
  if (!SURROGATE.test(text)) return text;
  run?.step(text.length);
  return [...text];
}
