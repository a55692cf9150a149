import { isEqual } from "../../../base/value/compare.ts";
import { formatJson, formatValue } from "../../../base/value/format_value.ts";
import { type Matcher, matcherIn } from "../../../base/value/matcher.ts";
import { StepError } from "../../../base/errors.ts";
import { boundedMeter, LimitError, type Meter } from "../../../base/value/meter.ts";
import type { Mismatch } from "../../../base/value/mismatch.ts";
import { isDict, plain, readField, typeName, type Value } from "../../../base/value/value.ts";
import { loadRegexEngine, matchesRegex, patternIn } from "../../evaluate/regex.ts";
import { Fault, kindOf } from "../../fault.ts";
import { isOfNamedType } from "./matchers.ts";
import { pairUp } from "./pair_up.ts";

type Path = Mismatch["path"];

/** Steps of the comparison of two values for an action. */
const MOST_STEPS = 1_000_000;

/**
 * Loads the comparison of `includes_json()` for an action: it gives every mismatch of a value and
 * a part, and throws a StepError for an invalid regular expression and for too much data.
 */
export async function loadMatching(): Promise<
  (actual: Value, part: Value) => readonly Mismatch[]
> {
  await loadRegexEngine();
  return (actual, part) => {
    try {
      return findMismatches(boundedMeter(MOST_STEPS), actual, part);
    } catch (error) {
      if (error instanceof Fault) throw new StepError(error.message, error.hint);
      if (error instanceof LimitError) throw new StepError("the data is too large to be compared");
      throw error;
    }
  };
}

/**
 * Every place where a value does not include a part: maps by the keys of the part, lists item by
 * item with the same length, strings between slashes as regular expressions, and matchers. Throws
 * a Fault for an invalid regular expression.
 */
export function findMismatches(meter: Meter, actual: Value, part: Value): Mismatch[] {
  return [...mismatchesAt(meter, actual, part, [])];
}

/** Whether a value includes a part. */
export function includesJson(meter: Meter, actual: Value, part: Value): boolean {
  return mismatchesAt(meter, actual, part, []).next().done === true;
}

function* mismatchesAt(
  meter: Meter,
  actual: Value,
  part: Value,
  path: Path,
): Generator<Mismatch, void> {
  meter.spend(1);
  const matcher = matcherIn(part);
  if (matcher) return yield* matcherMismatches(meter, actual, matcher, path);
  if (isDict(part)) {
    if (!isDict(actual)) return yield* here(`it is ${kindOf(actual)}, not map`);
    for (const key of Object.keys(part)) {
      const [wanted, value] = [readField(part, key) ?? null, readField(actual, key)];
      const inside = [...path, key];
      if (value !== undefined) yield* mismatchesAt(meter, value, wanted, inside);
      else yield { path: inside, expected: describePart(wanted, meter), actual: undefined };
    }
    return;
  }
  if (Array.isArray(part)) {
    if (!Array.isArray(actual)) return yield* here(`it is ${kindOf(actual)}, not list`);
    if (actual.length !== part.length) {
      return yield* here(`${countItems(actual.length)}, not ${part.length}`);
    }
    for (const [index, item] of part.entries()) {
      yield* mismatchesAt(meter, plain(actual[index]), plain(item), [...path, index]);
    }
    return;
  }
  const pattern = typeof part === "string" ? patternIn(part) : undefined;
  if (pattern === undefined) {
    if (isEqual(actual, part)) return;
    const kinds = [actual, part].map(kindOf);
    return yield* here(kinds[0] === kinds[1] ? undefined : `it is ${kinds[0]}, not ${kinds[1]}`);
  }
  if (typeof actual === "object" && actual !== null) {
    return yield* here(`no pattern fits a ${kindOf(actual)}`);
  }
  if (!matchesRegex(formatValue(actual, meter), pattern, meter)) yield* here();

  function* here(note?: string): Generator<Mismatch, void> {
    const expected = describePart(part, meter);
    yield { path, expected, actual, ...note === undefined ? {} : { note } };
  }
}

function* matcherMismatches(
  meter: Meter,
  actual: Value,
  matcher: Matcher,
  path: Path,
): Generator<Mismatch, void> {
  switch (matcher.kind) {
    case "anything":
      return;
    case "is_type":
      if (isOfNamedType(actual, matcher.type)) return;
      yield { path, expected: describeMatcher(matcher, meter), actual, note: typeNote(actual) };
      return;
    case "unordered": {
      const { items } = matcher;
      if (!Array.isArray(actual)) {
        const note = `it is ${kindOf(actual)}, not list`;
        yield { path, expected: describeMatcher(matcher, meter), actual, note };
        return;
      }
      const left = pairUp(
        items.length,
        actual.length,
        (wanted, given) => includesJson(meter, plain(actual[given]), plain(items[wanted])),
        meter,
      );
      const lengths = actual.length === items.length
        ? ""
        : `; ${countItems(actual.length)}, not ${items.length}`;
      for (let index = 0; index < Math.max(left.wanted.length, left.given.length); index++) {
        const [wanted, given] = [left.wanted[index], left.given[index]];
        yield {
          path: given === undefined ? path : [...path, given],
          expected: wanted === undefined ? undefined : describePart(plain(items[wanted]), meter),
          actual: given === undefined ? undefined : plain(actual[given]),
          note: `in any order${lengths}`,
        };
      }
    }
  }
}

function typeNote(actual: Value): string {
  return `it is ${kindOf(actual)}`;
}

function countItems(count: number): string {
  return count === 1 ? "1 item" : `${count} items`;
}

/** A part of an expected value as an expression writes it. */
function describePart(part: Value, meter: Meter): string {
  const matcher = matcherIn(part);
  if (matcher) return describeMatcher(matcher, meter);
  if (Array.isArray(part)) {
    return `[${part.map((item) => describePart(plain(item), meter)).join(",")}]`;
  }
  if (isDict(part)) {
    const fields = Object.keys(part).sort().map((key) =>
      `${formatJson(key, meter)}:${describePart(readField(part, key) ?? null, meter)}`
    );
    return `{${fields.join(",")}}`;
  }
  if (typeof part === "string" && patternIn(part) !== undefined) return part;
  return typeName(part) === "nil" ? "nil" : formatJson(part, meter);
}

function describeMatcher(matcher: Matcher, meter: Meter): string {
  switch (matcher.kind) {
    case "anything":
      return "anything()";
    case "is_type":
      return `is_type(${formatJson(matcher.type, meter)})`;
    case "unordered":
      return `unordered(${describePart(matcher.items, meter)})`;
  }
}
