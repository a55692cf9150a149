import { StepError } from "../../base/errors.ts";
import { typeMeantBy } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { formatJson, formatValue } from "../../base/value/format_value.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import {
  type Dict,
  isDict,
  isNumber,
  plain,
  readField,
  typeName,
  type Value,
} from "../../base/value/value.ts";
import { loadRegexEngine, matchesRegex, regexProblem } from "../evaluate/regex.ts";
import { Fault, kindOf } from "../fault.ts";
import { BODIES as CHECKS } from "./checks.ts";
import { type ConstantArgument, define, type FunctionBodies } from "./function.ts";
import { countOf } from "../../base/text/count_of.ts";
import { isEqual } from "../../base/value/compare.ts";

const EXPECTED: ConstantArgument = { position: 1, problem: patternProblem, isDeep: true };

/** Functions that compare data with an expected value, and matchers for parts of it. */
export const BODIES: FunctionBodies = {
  match_json: define(
    "Whether both are equal; an expected string between slashes is a regular expression.",
    (actual: Dict, expected: Dict) => isAsExpected(actual, expected, "match"),
    {
      load: loadRegexEngine,
      constant: EXPECTED,
      mismatches: (actual: Value, expected: Value) => findMismatches(actual, expected, "match"),
    },
  ),
  diff_json: define(
    'The first difference that match_json finds, as a sentence, or "No diff".',
    (actual: Dict, expected: Dict) => {
      const [found] = differences(actual, expected, "match");
      return found ? `Key '${keyPath(found.path)}': ${found.message}` : "No diff";
    },
    { load: loadRegexEngine, constant: EXPECTED },
  ),
  includes_json: define(
    "Whether the value contains the part: in maps the keys of the part, in lists the same number of items in the same order; a string between slashes is a regular expression.",
    (actual: Value, part: Value) => isAsExpected(actual, part, "include"),
    { load: loadRegexEngine, constant: EXPECTED, mismatches: findMismatches },
  ),
  anything: define(
    "In an expected value: any value, nil too, if there is one.",
    () => makeMatcher({ kind: "anything" }),
  ),
  is_type: define(
    "In an expected value: any value of a type of `type()`, or of `integer`, `number`, `boolean` or `list`.",
    (name: string) => {
      const problem = typeProblem(name);
      if (problem !== undefined) throw new Fault(problem);
      return makeMatcher({ kind: "is_type", type: name });
    },
    { constant: { position: 0, problem: typeProblem } },
  ),
  unordered: define(
    "In an expected value: a list of these items in any order.",
    (items: readonly Value[]) => makeMatcher({ kind: "unordered", items }),
  ),
};

/** The problem of a regular expression in an expected value; undefined if there is none. */
function patternProblem(text: string): string | undefined {
  const pattern = patternIn(text);
  return pattern === undefined ? undefined : regexProblem(pattern);
}

function keyPath(path: MatchProblem["path"]): string {
  return path.map((step, index) =>
    typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`
  ).join("");
}

/** Every place where a value is not as expected. */
export function findMismatches(
  actual: Value,
  expected: Value,
  how: Comparison = "include",
): Mismatch[] {
  return [...differences(actual, expected, how)].map(({ path, expected, actual, note }) => ({
    path,
    expected: expected === undefined ? undefined : describeExpected(expected),
    actual,
    note,
  }));
}

/**
 * Loads the comparison of `includes_json()` for an action: it gives every mismatch of a value and
 * a part, and throws a StepError for an invalid regular expression and for lists that are too long.
 */
export async function loadMatching(): Promise<typeof findMismatches> {
  await loadRegexEngine();
  return (actual, part) => {
    try {
      return findMismatches(actual, part);
    } catch (error) {
      throw error instanceof Fault ? new StepError(error.message, error.hint) : error;
    }
  };
}

function typeProblem(name: string): string | undefined {
  if (TYPE_NAMES.includes(name)) return undefined;
  const other = typeMeantBy(name);
  const hint = other === undefined ? didYouMean(name, TYPE_NAMES) : `write "${other}"`;
  const types = `the types are ${TYPE_NAMES.join(", ")}`;
  return `unknown type "${name}" in is_type(): ${hint ?? types}`;
}

/** The forms of strings that have a function: `uuid` of `is_uuid()`. */
const FORMS: ReadonlyMap<string, (value: Value) => Value> = new Map(
  Object.entries(CHECKS).filter(([name]) => name.startsWith("is_"))
    .map(([name, { call }]) => [name.slice("is_".length), call as (value: Value) => Value]),
);

/** The problem of a rule of a snapshot for values: a form, a type or a regular expression. */
export function ruleProblem(
  rule: string,
  problemOf: (pattern: string) => string | undefined,
): string | undefined {
  const pattern = patternIn(rule);
  if (pattern !== undefined) return problemOf(pattern);
  const names = [...FORMS.keys(), ...TYPE_NAMES];
  if (names.includes(rule)) return undefined;
  const hint = didYouMean(rule, names) ?? `the rules are ${names.join(", ")}, and /pattern/`;
  return `unknown rule "${rule}": ${hint}`;
}

export function followsRule(value: Value, rule: string): boolean {
  const pattern = patternIn(rule);
  if (pattern !== undefined) {
    return (typeof value !== "object" || value === null) &&
      matchesRegex(formatValue(value), pattern);
  }
  return FORMS.get(rule)?.(value) === true || isOfNamedType(value, rule);
}

/** A matcher, which may replace a part of an expected value. */
type Matcher =
  | { readonly kind: "anything" }
  | { readonly kind: "is_type"; readonly type: string }
  | { readonly kind: "unordered"; readonly items: readonly Value[] };

const MATCHER = Symbol("matcher");

/** A map that describes a matcher; it matches only as an expected value. */
export function makeMatcher(matcher: Matcher): Value {
  const map: Record<string, Value> = Object.create(null);
  map[matcher.kind] = matcher.kind === "anything"
    ? true
    : matcher.kind === "is_type"
    ? matcher.type
    : matcher.items;
  // Not enumerable, so that data from outside can never be one.
  return Object.freeze(Object.defineProperty(map, MATCHER, { value: matcher }));
}

/** The matcher that a value is, if it is one. */
function matcherIn(value: Value): Matcher | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as { [MATCHER]?: Matcher })[MATCHER];
}

/** A place where data is not as expected. */
interface MatchProblem {
  /** Keys and indexes, from the outside. */
  readonly path: readonly (string | number)[];
  /** The problem, in the words of diff_json. */
  readonly message: string;
  /** The values there; undefined where a side has none. */
  readonly actual: Value | undefined;
  readonly expected: Value | undefined;
  /** A note about what the two values do not show: `3 items, not 2`. */
  readonly note?: string;
}

/**
 * How data is compared with what is expected of it. `match_json` refuses additional keys of maps,
 * and takes the digits of a number for the number; `includes_json` does neither.
 */
export type Comparison = "match" | "include";

/**
 * Every place where data is not as expected: by keys and indexes, with strings between slashes as
 * regular expressions, and matchers. Throws a Fault for an invalid regular expression.
 */
function* differences(
  actual: Value,
  expected: Value,
  how: Comparison,
  path: MatchProblem["path"] = [],
): Generator<MatchProblem, void> {
  const here = (message: string, note?: string) => ({ path, message, actual, expected, note });
  const wrongKind = (kind: "map" | "list") =>
    here(
      `Expected a ${kind === "list" ? "slice" : kind}, got ${typeName(actual)}`,
      `it is ${kindOf(actual)}, not ${kind}`,
    );
  const matcher = matcherIn(expected);
  if (matcher?.kind === "anything") return;
  if (matcher?.kind === "is_type") {
    if (isOfNamedType(actual, matcher.type)) return;
    const message = `Expected type ${matcher.type}, got ${typeName(actual)}`;
    yield here(message, `it is ${kindOf(actual)}`);
  } else if (matcher) {
    if (!Array.isArray(actual)) yield wrongKind("list");
    else yield* unorderedDifferences(actual, expected, matcher.items, how, path);
  } else if (isDict(expected)) {
    if (!isDict(actual)) yield wrongKind("map");
    else yield* mapDifferences(actual, expected, how, path);
  } else if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) yield wrongKind("list");
    else if (actual.length !== expected.length) {
      const [wanted, got] = [expected.length, actual.length];
      yield here(
        `Slice length mismatch (expected ${wanted}, got ${got})`,
        lengthNote(got, wanted),
      );
    } else {
      for (const [index, item] of expected.entries()) {
        yield* differences(plain(actual[index]), plain(item), how, [...path, index]);
      }
    }
  } else {
    const pattern = typeof expected === "string" ? patternIn(expected) : undefined;
    const problem = pattern === undefined
      ? scalarProblem(actual, expected, how)
      : regexMismatch(actual, pattern);
    if (problem) yield here(...problem);
  }
}

function* mapDifferences(
  actual: Dict,
  expected: Dict,
  how: Comparison,
  path: MatchProblem["path"],
): Generator<MatchProblem, void> {
  for (const key of Object.keys(expected)) {
    const wanted = readField(expected, key) ?? null;
    const value = readField(actual, key);
    const inside = [...path, key];
    if (value !== undefined) yield* differences(value, wanted, how, inside);
    else {
      yield { path: inside, message: "Missing in source", actual: undefined, expected: wanted };
    }
  }
  if (how === "include") return;
  for (const key of Object.keys(actual)) {
    if (readField(expected, key) !== undefined) continue;
    const value = readField(actual, key);
    const message = "Extra field in source";
    const note = "it is not expected";
    yield { path: [...path, key], message, actual: value, expected: undefined, note };
  }
}

function* unorderedDifferences(
  actual: readonly Value[],
  expected: Value,
  items: readonly Value[],
  how: Comparison,
  path: MatchProblem["path"],
): Generator<MatchProblem, void> {
  const fits = (wanted: number, other: number) =>
    isAsExpected(plain(actual[other]), plain(items[wanted]), how);
  const left = pairUp(items.length, actual.length, fits);
  const message = `Items that match none in any order: ${left.wanted.length + left.others.length}`;
  if (how === "match") {
    if (left.wanted.length + left.others.length > 0) yield { path, message, actual, expected };
    return;
  }
  const lengths = actual.length === items.length
    ? ""
    : `; ${lengthNote(actual.length, items.length)}`;
  for (let index = 0; index < Math.max(left.wanted.length, left.others.length); index++) {
    const [wanted, other] = [left.wanted[index], left.others[index]];
    yield {
      path: other === undefined ? path : [...path, other],
      message,
      expected: wanted === undefined ? undefined : plain(items[wanted]),
      actual: other === undefined ? undefined : plain(actual[other]),
      note: `in any order${lengths}`,
    };
  }
}

type Problem = readonly [message: string, note?: string];

function regexMismatch(actual: Value, pattern: string): Problem | undefined {
  const isNested = typeof actual === "object" && actual !== null;
  const text = isNested ? "" : formatValue(actual);
  if (!isNested && matchesRegex(text, pattern)) return undefined;
  const message = `Regex mismatch (pattern: ${pattern}, value: ${text})`;
  return isNested ? [message, `no pattern fits a ${kindOf(actual)}`] : [message];
}

function scalarProblem(actual: Value, expected: Value, how: Comparison): Problem | undefined {
  if (isEqual(actual, expected)) return undefined;
  if (how === "match" && isNumber(expected) && actual === String(expected)) return undefined;
  const [kind, wanted] = [kindOf(actual), kindOf(expected)];
  const quote = isNumber(expected) ? "" : "'";
  const say = (value: Value) => {
    const text = value === null && quote !== "" ? "<nil>" : formatValue(value);
    return quote + text + quote;
  };
  const message = `Expected ${say(expected)}, got ${say(actual)}`;
  return kind === wanted ? [message] : [message, `it is ${kind}, not ${wanted}`];
}

function lengthNote(count: number, wanted: number): string {
  return `${countOf(count, "item")}, not ${wanted}`;
}

function isAsExpected(actual: Value, expected: Value, how: Comparison): boolean {
  return differences(actual, expected, how).next().done === true;
}

/** An expected value as an expression writes it. */
function describeExpected(expected: Value): string {
  const matcher = matcherIn(expected);
  if (matcher) return describeMatcher(matcher);
  if (Array.isArray(expected)) {
    return `[${expected.map((item) => describeExpected(plain(item))).join(",")}]`;
  }
  if (isDict(expected)) {
    const fields = Object.keys(expected).sort().map((key) =>
      `${JSON.stringify(key)}:${describeExpected(readField(expected, key) ?? null)}`
    );
    return `{${fields.join(",")}}`;
  }
  if (typeof expected === "string" && patternIn(expected) !== undefined) return expected;
  return expected === null ? "nil" : formatJson(expected);
}

function describeMatcher(matcher: Matcher): string {
  switch (matcher.kind) {
    case "anything":
      return "anything()";
    case "is_type":
      return `is_type(${JSON.stringify(matcher.type)})`;
    case "unordered":
      return `unordered(${describeExpected(matcher.items)})`;
  }
}

const TYPES: ReadonlyMap<string, readonly ReturnType<typeof typeName>[]> = new Map([
  ["nil", ["nil"]],
  ["bool", ["bool"]],
  ["int", ["int"]],
  ["float", ["float"]],
  ["string", ["string"]],
  ["array", ["array"]],
  ["map", ["map"]],
  ["integer", ["int"]],
  ["number", ["int", "float"]],
  ["boolean", ["bool"]],
  ["list", ["array"]],
]);

/** The types that `is_type()` takes. */
const TYPE_NAMES: readonly string[] = [...TYPES.keys()];

/** Whether a value is of a type that `is_type()` takes. */
function isOfNamedType(value: Value, name: string): boolean {
  return TYPES.get(name)?.includes(typeName(value)) ?? false;
}

/** The indexes of the items of two lists that remain after pairing as many as possible. */
interface Leftovers {
  readonly wanted: readonly number[];
  readonly others: readonly number[];
}

const MAX_PAIRS = 1_000_000;

/**
 * Pairs the items of two lists so that as many as possible have a partner that fits them: a maximum
 * bipartite matching by augmenting paths, so that a pattern that fits many items leaves the one that
 * another pattern needs.
 */
export function pairUp(
  wanted: number,
  others: number,
  fits: (wanted: number, other: number) => boolean,
): Leftovers {
  const known = new Map<number, boolean>();
  const fitsOnce = (one: number, other: number): boolean => {
    const key = one * others + other;
    const result = known.get(key) ?? fits(one, other);
    known.set(key, result);
    if (known.size > MAX_PAIRS) {
      throw new Fault("the lists are too long to be compared in any order");
    }
    return result;
  };
  const partners = new Map<number, number>();
  const findPartner = (one: number, tried: Set<number>): boolean => {
    for (let step = 0; step < others; step++) {
      // The same index first: most lists are nearly in order.
      const other = (one + step) % others;
      if (tried.has(other) || !fitsOnce(one, other)) continue;
      tried.add(other);
      const rival = partners.get(other);
      if (rival !== undefined && !findPartner(rival, tried)) continue;
      partners.set(other, one);
      return true;
    }
    return false;
  };
  const indexes = (length: number) => Array.from({ length }, (_, index) => index);
  return {
    wanted: indexes(wanted).filter((one) => !findPartner(one, new Set())),
    others: indexes(others).filter((other) => !partners.has(other)),
  };
}

/** The regular expression in `/…/`, if a text is one. */
function patternIn(text: string): string | undefined {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/")
    ? text.slice(1, -1)
    : undefined;
}
