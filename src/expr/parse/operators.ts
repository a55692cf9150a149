/** Binding powers of the binary operators: a higher one binds tighter. */
export const POWER: ReadonlyMap<string, number> = new Map([
  ["|", 0],
  ...each(10, "||", "or"),
  ...each(15, "&&", "and"),
  ...each(20, "==", "!=", "<", "<=", ">", ">="),
  ...each(20, "in", "contains", "matches", "startsWith", "endsWith"),
  ["..", 25],
  ...each(30, "+", "-"),
  ...each(60, "*", "/", "%"),
  ...each(100, "**", "^"),
  ["??", 500],
]);

/** Binding powers of the prefix operators. */
export const PREFIX_POWER: ReadonlyMap<string, number> = new Map([
  ...each(50, "!", "not"),
  ...each(90, "-", "+"),
]);

/** Operators that group from the right: `2 ** 3 ** 2` is 512. */
export const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(["**", "^"]);

/** Operators that chain: `a < b <= c`. */
export const COMPARISONS: ReadonlySet<string> = new Set(["<", "<=", ">", ">="]);

/** Words that test a left side against a right one, and that `not` may precede. */
export const TEST_WORDS: ReadonlySet<string> = new Set([
  "in",
  "contains",
  "matches",
  "startsWith",
  "endsWith",
]);

/** All words that are operators. */
export const OPERATOR_WORDS: ReadonlySet<string> = new Set(["and", "or", "not", ...TEST_WORDS]);

/** Words with a syntax of their own, which cannot be names. */
export const KEYWORDS: ReadonlySet<string> = new Set(["let", "if", "else"]);

/** The one spelling that the tree knows of an operator that has two. */
export const CANONICAL: ReadonlyMap<string, string> = new Map([
  ["and", "&&"],
  ["or", "||"],
  ["not", "!"],
  ["^", "**"],
]);

function each(power: number, ...operators: string[]): [string, number][] {
  return operators.map((operator) => [operator, power]);
}
