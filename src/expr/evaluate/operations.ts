import { compareValues, isEqual } from "../../base/value/compare.ts";
import {
  integer,
  isDict,
  isNumber,
  readKey,
  typeName,
  type Value,
} from "../../base/value/value.ts";
import { readTimestamp, writeTimestamp } from "../../base/value/timestamp.ts";
import type { BinaryOperator, Comparison } from "../parse/ast.ts";
import { Fault, kindOf } from "../fault.ts";
import { limitItems, limitText } from "../limits.ts";
import { type Evaluation, lengthOf } from "./evaluation.ts";
import { matchesRegex } from "./regex.ts";

/** What depends on the size of an operand is counted by `run`. */
type Operation = (left: Value, right: Value, run: Evaluation) => Value;

export const OPERATIONS: Readonly<Record<BinaryOperator, Operation>> = {
  "==": isEqual,
  "!=": (left, right, run) => !isEqual(left, right, run),
  "<": (left, right) => compare("<", left, right),
  "<=": (left, right) => compare("<=", left, right),
  ">": (left, right) => compare(">", left, right),
  ">=": (left, right) => compare(">=", left, right),
  "+": add,
  "-": (left, right) => compute("-", left, right),
  "*": (left, right) => compute("*", left, right),
  "/": (left, right) => compute("/", left, right),
  "%": (left, right) => compute("%", left, right),
  "**": (left, right) => compute("**", left, right),
  in: isIn,
  contains: (left, right, run) => testText("contains", left, right, run),
  startsWith: (left, right, run) => testText("startsWith", left, right, run),
  endsWith: (left, right, run) => testText("endsWith", left, right, run),
  matches: (left, right, run) => testText("matches", left, right, run),
  "..": range,
};

/** Numbers by size, times by when they are, texts by code point; nothing else has an order. */
function compare(operator: Comparison, a: Value, b: Value): boolean {
  if (typeof a === "string" && typeof b === "string") checkVersions(operator, a, b);
  const order = compareTimes(a, b) ?? compareValues(a, b);
  if (order === undefined) {
    const message = `cannot compare ${kindOf(a)} ${operator} ${kindOf(b)}`;
    throw new Fault(message, orderHint(a, b) ?? orderHint(b, a));
  }
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

/** Results of semver() can only be compared with each other. */
function checkVersions(operator: Comparison, a: string, b: string): void {
  if (isComparableVersion(a) === isComparableVersion(b)) return;
  const [left, right] = [a, b].map((side) => isComparableVersion(side) ? "semver(…)" : "string");
  throw new Fault(`cannot compare ${left} ${operator} ${right}`, "write semver(…) on both sides");
}

/** Whether a string is a result of semver(). */
export function isComparableVersion(text: string): boolean {
  return /^[A-Z]\d+\.[A-Z]\d+\.[A-Z]\d+[~-]/.test(text);
}

/** Compares two times in any zones; undefined for other values. */
function compareTimes(a: Value, b: Value): number | undefined {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const left = readTimestamp(a);
  const right = left === undefined ? undefined : readTimestamp(b);
  if (left === undefined || right === undefined) return undefined;
  return left - right || compareValues(finerPart(a), finerPart(b));
}

/** The digits of a time after its milliseconds, without zeros at their end. */
function finerPart(time: string): string {
  return (/\.\d{3}(\d+)/.exec(time)?.[1] ?? "").replace(/0+$/, "");
}

/** A hint for a text that is compared with a number. */
function orderHint(text: Value, other: Value): string | undefined {
  if (typeof text !== "string" || !isNumber(other)) return undefined;
  if (/^\s*[-+]?\d+(\.\d+)?\s*$/.test(text)) {
    const isBare = text === text.trim();
    return `turn the text into a number with ${isBare ? "float(…)" : "float(trim(…))"}`;
  }
  if (readTimestamp(text) !== undefined) return "date(…) turns a Unix time into such a text";
  const isTime = /^\d+(\.\d+)?(ns|µs|ms|s|m|h)/.test(text);
  return isTime ? "a duration is text; rt.sec is a number, in seconds" : undefined;
}

/** The truth of a condition: nil counts as false, and only true is true. */
export function truth(value: Value, hint = "compare it with something"): boolean {
  if (typeof value === "boolean") return value;
  if (value === null) return false;
  throw new Fault(`expected true or false, got ${kindOf(value)}`, hint);
}

export function signed(operator: "-" | "+", value: Value): number | bigint {
  if (!isNumber(value)) {
    throw new Fault(`cannot put ${operator} before ${kindOf(value)}`);
  }
  return operator === "-" ? calculate("-", 0, value) : value;
}

function add(a: Value, b: Value): Value {
  if (isNumber(a) && isNumber(b)) return calculate("+", a, b);
  const moved = typeof a === "number" ? moveTime(b, a) : moveTime(a, b);
  if (moved !== undefined) return moved;
  if (typeof a !== "string" || typeof b !== "string") {
    const oneIsText = typeof a === "string" || typeof b === "string";
    throw new Fault(
      `cannot add ${kindOf(a)} + ${kindOf(b)}`,
      oneIsText && a !== null && b !== null ? addHint(a, b) : undefined,
    );
  }
  limitText(a.length + b.length);
  return a + b;
}

/** `2026-03-01`, or `1.3.2026`. */
const DATE = /^(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4})(?!\d)/;

function addHint(a: Value, b: Value): string {
  return [a, b].some((side) => typeof side === "string" && DATE.test(side))
    ? "read a time with date(text, layout) first"
    : "turn the other one into text with string(…)";
}

/** Adds seconds to a time; undefined for other values. */
function moveTime(time: Value, seconds: Value): string | undefined {
  if (typeof time !== "string" || typeof seconds !== "number") return undefined;
  const instant = readTimestamp(time);
  if (instant === undefined) return undefined;
  const moved = writeTimestamp(instant + seconds * 1000);
  if (moved === undefined) throw new Fault("this time is not in the years 0 to 9999");
  return moved;
}

/** The seconds between two times, or a time before another; undefined for other values. */
function subtractTime(a: Value, b: Value): Value | undefined {
  if (typeof b === "number") return moveTime(a, -b);
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const [later, earlier] = [readTimestamp(a), readTimestamp(b)];
  return later === undefined || earlier === undefined ? undefined : (later - earlier) / 1000;
}

function compute(operator: "-" | "*" | "/" | "%" | "**", a: Value, b: Value): Value {
  if (operator === "-" && typeof a === "string") {
    const result = subtractTime(a, b);
    if (result !== undefined) return result;
  }
  if (!isNumber(a) || !isNumber(b)) {
    throw new Fault(`cannot compute ${kindOf(a)} ${operator} ${kindOf(b)}`);
  }
  if (operator === "%" && (typeName(a) !== "int" || typeName(b) !== "int")) {
    throw new Fault(`% needs two whole numbers, got ${kindOf(a)} % ${kindOf(b)}`);
  }
  if (operator === "%" && b === 0) throw new Fault("division by zero");
  return calculate(operator, a, b);
}

type Arithmetic = "+" | "-" | "*" | "/" | "%" | "**";

/**
 * The result of an operation on two numbers. Where it or one of them is an integer beyond ±2^53, it
 * is exact; a quotient, and a number with a fraction, could not be, and are refused.
 */
export function calculate(
  operator: Arithmetic,
  a: number | bigint,
  b: number | bigint,
): number | bigint {
  const result = COMPUTE[operator](Number(a), Number(b));
  const areFloats = typeof a === "number" && typeof b === "number";
  if (areFloats && Math.abs(result) < 2 ** 53) {
    return operator === "%" ? result + 0 : result; // no negative zero
  }
  if (operator !== "/" && (operator !== "**" || b >= 0) && isExact(a) && isExact(b)) {
    if (Number.isFinite(result)) {
      return integer(COMPUTE[operator](BigInt(a) as never, BigInt(b) as never) as never);
    }
    throw new Fault(`the result of ${kindOf(a)} ${operator} ${kindOf(b)} is too large`);
  }
  if (areFloats) return result;
  throw new Fault(
    `cannot compute ${kindOf(a)} ${operator} ${kindOf(b)} exactly`,
    "float(…) gives the nearest number to compute with",
  );
}

/** Whether a number has all its digits, as floats of this size may not. */
function isExact(value: number | bigint): boolean {
  return typeof value === "bigint" || Number.isInteger(value) && Math.abs(value) <= 2 ** 53;
}

/** These work for two floats and for two bigints. */
const COMPUTE: Readonly<Record<Arithmetic, (x: number, y: number) => number>> = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  "/": (x, y) => x / y,
  "%": (x, y) => x % y,
  "**": (x, y) => x ** y,
};

/** Whether a list holds a value, or a map has a key. */
function isIn(needle: Value, haystack: Value, run: Evaluation): boolean {
  if (haystack === null) return false;
  if (Array.isArray(haystack)) return haystack.some((item) => isEqual(item, needle, run));
  if (isDict(haystack)) {
    return typeof needle === "string" && readKey(haystack, needle) !== undefined;
  }
  throw new Fault(
    `in needs a list or a map on its right, got ${kindOf(haystack)}`,
    typeof haystack === "string" ? "for a part of a text write text contains part" : undefined,
  );
}

/** Tests on two texts; nil passes none. */
export function testText(
  operator: Extract<BinaryOperator, "contains" | "startsWith" | "endsWith" | "matches">,
  text: Value,
  part: Value,
  run: Evaluation,
): boolean {
  if (text === null || part === null) return false;
  if (typeof text !== "string" || typeof part !== "string") {
    const hint = Array.isArray(text) && operator === "contains"
      ? "for an item of a list write item in list"
      : undefined;
    throw new Fault(
      `${operator} needs two strings, got ${kindOf(text)} and ${kindOf(part)}`,
      hint,
    );
  }
  run.step(lengthOf(text));
  if (operator === "matches") return matchesRegex(text, part, run);
  if (operator === "contains") return text.includes(part);
  return operator === "startsWith" ? text.startsWith(part) : text.endsWith(part);
}

function range(from: Value, to: Value, run: Evaluation): Value {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) {
    throw new Fault(`a range needs two whole numbers, got ${kindOf(from)}..${kindOf(to)}`);
  }
  const size = Math.max(0, Number(to) - Number(from) + 1);
  limitItems(size);
  run.step(size);
  const items: number[] = [];
  for (let item = Number(from); item <= Number(to); item++) items.push(item);
  return items;
}
