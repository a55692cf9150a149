import { ExpressionError } from "../../source/errors.ts";
import { didYouMean } from "../../source/suggest.ts";
import type { Node } from "../parse/ast.ts";
import type { Evaluation, Missing } from "./evaluation.ts";
import { Fault } from "../fault.ts";
import { hyphenHint, hyphenKeyHint } from "../hints/hyphen_hint.ts";
import { nameHint } from "../hints/known_slips.ts";
import { childrenOf } from "../parse/tree.ts";
import { referencesIn } from "../references.ts";

const LONGEST_OWNER = 60;

/** The error for the caller in place of the one that the evaluation of `root` threw. */
export function placeFault(error: unknown, run: Evaluation, source: string, root: Node): unknown {
  const fault = isStackOverflow(error) ? new Fault("the data is nested too deeply") : error;
  if (!(fault instanceof Fault)) return error;
  const { message, start, end, hint } = placed(fault, run, source);
  return new ExpressionError(message, start, end, hint, { reads: referencesIn(root) });
}

/** Only walking data that is nested without end can exhaust the stack in an evaluation. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/.test(error.message);
}

type PlacedFault = Pick<ExpressionError, "message" | "start" | "end" | "hint">;

function placed(fault: Fault, run: Evaluation, source: string): PlacedFault {
  const { message, hint } = fault;
  const node = fault.node ?? run.at;
  if (!node) return { message, start: 0, end: source.length, hint };
  const { missing } = run;
  if (missing && [node, ...childrenOf(node)].some((part) => isOfMissing(part, missing))) {
    return missingFault(missing, run.scope.strict, source, hint);
  }
  return { message, start: node.start, end: node.end, hint };
}

/** The absent name is to blame, not the nil that it gave. */
function missingFault(
  missing: Missing,
  strict: boolean,
  source: string,
  hint: string | undefined,
): PlacedFault {
  const { node, at, key } = missing;
  const { start, end } = at;
  if (node.type === "MemberExpression" && node.computed && at.type !== "Literal") {
    // A key that was computed may hold a secret, and is not named.
    return { message: "unknown key", start, end, hint };
  }
  const isName = node.type === "Identifier";
  const message = isName && strict ? `unknown name "${key}"` : absence(node, key, source);
  const better = hyphenHint(at, source) ?? hyphenKeyHint(missing, source) ??
    (isName ? nameHint(key) : undefined) ??
    nearHint(missing);
  return { message, start, end, hint: better ?? hint };
}

/** A hint for a part that is nil because a key is missing: the path that was read, and a similar key. */
export function missingHint(missing: Missing, source: string): string | undefined {
  const { node, at, key } = missing;
  if (node.type !== "MemberExpression") return nearHint(missing);
  // A key that was computed may hold a secret, and is not named.
  if (node.computed && at.type !== "Literal") return undefined;
  const near = nearHint(missing);
  const hint = absence(node, key, source);
  return near === undefined ? hint : `${hint}; ${near}`;
}

/** Whether a part came out nil because that is missing, or what it is read of with `?.`. */
export function isOfMissing(part: Node, missing: Missing): boolean {
  const link = bare(part);
  return link === missing.node ||
    link.type === "MemberExpression" && isOfMissing(link.object, missing);
}

/** `res.body has no "totl"`: in a list of failures there is only the message. */
function absence(node: Node, key: string, source: string): string {
  const owner = node.type === "MemberExpression"
    ? source.slice(node.object.start, node.object.end)
    : "";
  // In a predicate there may be nothing before the dot.
  const isShort = owner.trim() !== "" && owner.length <= LONGEST_OWNER && !owner.includes("\n");
  return isShort ? `${owner} has no "${key}"` : `there is no "${key}" here`;
}

/** `did you mean "x"?`, or what else there is. */
function nearHint({ key, among }: Missing): string | undefined {
  const keys = Object.keys(among);
  return didYouMean(key, keys) ?? thereIs(keys);
}

function thereIs(keys: readonly string[]): string | undefined {
  if (keys.length === 0) return undefined;
  const some = keys.slice(0, 6).map((key) => JSON.stringify(key)).join(", ");
  return `there is ${some}${keys.length > 6 ? " and more" : ""}`;
}

/** A node without the chain round it. */
function bare(node: Node): Node {
  return node.type === "ChainExpression" ? node.expression : node;
}
