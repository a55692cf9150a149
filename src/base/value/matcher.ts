import type { Value } from "./value.ts";

/** A matcher, which may replace a part of an expected value. */
export type Matcher =
  | { readonly kind: "anything" }
  | { readonly kind: "is_type"; readonly type: string }
  | { readonly kind: "unordered"; readonly items: readonly Value[] };

const MATCHER = Symbol("matcher");

/** A map that shows what a matcher is, and is one only where it is expected of something. */
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
export function matcherIn(value: Value): Matcher | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as { [MATCHER]?: Matcher })[MATCHER];
}
