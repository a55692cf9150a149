import { ExpressionError } from "../../base/errors.ts";
import { hintForName } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { LimitError, typeName, type Value, valueAt } from "../../base/value/value.ts";
import type { TestOperand } from "../expression.ts";
import type { Node } from "../parse/ast.ts";
import type { Evaluation, Missing, MissingItem, MissingName } from "./evaluation.ts";
import { Fault, NilOwner } from "../fault.ts";
import { hyphenHint, hyphenKeyHint } from "../hints.ts";
import { childrenOf } from "../parse/tree.ts";
import { neededIn, referencesIn } from "../references.ts";

const LONGEST_OWNER = 60;

/** Turns an error of the evaluation of `root` into an ExpressionError with its location. */
export function locateFault(error: unknown, run: Evaluation, source: string, root: Node): unknown {
  const fault = faultOf(error);
  if (!(fault instanceof Fault)) return error;
  const { message, start, end, hint } = located(fault, run, source);
  const { missing } = run;
  const isSought = missing && "within" in missing && start === missing.node.start;
  return new ExpressionError(message, start, end, hint, {
    reads: neededIn(root),
    operands: isSought ? soughtValues(missing, run, source) : undefined,
  });
}

/** The values that the condition of a call of find() reads of its scope. */
function soughtValues(
  { node: { arguments: [, predicate] } }: MissingItem,
  { scope }: Evaluation,
  source: string,
): readonly Omit<TestOperand, "start" | "end">[] {
  const references = predicate ? referencesIn(predicate) : [];
  const values = references.flatMap(({ root, keys, isOpen, start, end }) => {
    const path = [root, ...keys.map(({ name }) => name)];
    const value = isOpen ? undefined : valueAt(scope.names, path) as Value | undefined;
    if (value === undefined) return [];
    return { text: source.slice(start, end), value, type: typeName(value) };
  });
  return [...new Map(values.map((one) => [one.text, one])).values()];
}

/** Only walking or writing data that is far too large can exhaust the stack, or the length of a text. */
function faultOf(error: unknown): unknown {
  if (error instanceof LimitError) return new Fault("the value is too large");
  if (!(error instanceof RangeError)) return error;
  if (/call stack/.test(error.message)) return new Fault("the data is nested too deeply");
  return /string length/.test(error.message) ? new Fault("the text is too long") : error;
}

type LocatedFault = Pick<ExpressionError, "message" | "start" | "end" | "hint">;

function located(fault: Fault, run: Evaluation, source: string): LocatedFault {
  const { message, hint } = fault;
  const node = fault.node ?? run.at;
  if (!node) return { message, start: 0, end: source.length, hint };
  const { missing } = run;
  if (missing && [node, ...childrenOf(node)].some((part) => isOfMissing(part, missing))) {
    return missingFault(missing, run.scope.strict, source, hint);
  }
  const { start, end } = node;
  const blamed = nilPart(fault, node);
  const text = blamed && shortText(blamed, source);
  return { message, start, end, hint: hint ?? (text && `${text} is nil`) };
}

/** The part that was nil when a key of it was read, or the side of an operation that was. */
function nilPart(fault: Fault, node: Node): Node | undefined {
  if (fault instanceof NilOwner) {
    return node.type === "MemberExpression" ? node.object : undefined;
  }
  if (node.type !== "BinaryExpression") return undefined;
  const [, left, right] = /^cannot (?:compare|compute|add) (?:(nil) |.* (nil)$)/.exec(
    fault.message,
  ) ?? [];
  return left ? node.left : right ? node.right : undefined;
}

/** A part of an expression as a message names it; undefined if it is long, or between lines. */
function shortText({ start, end }: Node, source: string): string | undefined {
  const text = source.slice(start, end);
  return text.trim() === "" || text.length > LONGEST_OWNER || text.includes("\n")
    ? undefined
    : text;
}

/** The absent name is to blame, not the nil that it gave. */
function missingFault(
  missing: Missing,
  strict: boolean,
  source: string,
  hint: string | undefined,
): LocatedFault {
  if ("within" in missing) {
    const { start, end } = missing.node;
    return {
      message: notFound(missing, source),
      start,
      end,
      hint: missing.within && missingHint(missing.within, source),
    };
  }
  const { node, at, key } = missing;
  const { start, end } = at;
  const isComputed = node.type === "MemberExpression" && node.computed && at.type !== "Literal";
  if (isComputed && !(node.object.type === "Identifier" && node.object.name === "outputs")) {
    // A key that was computed may hold a secret, and is not named, unless it is the id of a step.
    return { message: "unknown key", start, end, hint: thereIs(Object.keys(missing.among)) };
  }
  const isName = node.type === "Identifier";
  const message = isName && strict ? `unknown name "${key}"` : absence(node, key, source);
  const better = hyphenHint(at, source) ?? hyphenKeyHint(missing, source) ??
    (isName ? hintForName(key) : undefined) ??
    nearHint(missing);
  return { message, start, end, hint: better ?? hint };
}

/** A hint for a part that is nil because a key is missing: the path that was read, and a similar key. */
export function missingHint(missing: Missing, source: string): string | undefined {
  if ("within" in missing) return notFound(missing, source);
  const { node, at, key } = missing;
  if (node.type !== "MemberExpression") return nearHint(missing);
  // A key that was computed may hold a secret, and is not named.
  if (node.computed && at.type !== "Literal") return undefined;
  const near = nearHint(missing);
  const hint = absence(node, key, source);
  return near === undefined ? hint : `${hint}; ${near}`;
}

/** Whether a missing name or item is the reason why a part is nil. */
export function isOfMissing(part: Node, missing: Missing): boolean {
  const link = bare(part);
  return link === missing.node ||
    link.type === "MemberExpression" && isOfMissing(link.object, missing) ||
    link.type === "LogicalExpression" && isOfMissing(link.right, missing);
}

/** `find(…) found no item with .name == "pot"`. */
function notFound({ node }: MissingItem, source: string): string {
  const [, predicate] = node.arguments;
  const text = predicate && shortText(predicate, source);
  const what = text === undefined ? "no item" : `no item with ${text}`;
  return `${source.slice(node.callee.start, node.callee.end)}(…) found ${what}`;
}

/** `res.body has no "totl"`: in a list of failures there is only the message. */
function absence(node: Node, key: string, source: string): string {
  // In a predicate there may be nothing before the dot.
  const owner = node.type === "MemberExpression" ? shortText(node.object, source) : undefined;
  return owner === undefined ? `there is no "${key}" here` : `${owner} has no "${key}"`;
}

/** `did you mean "x"?`, or the existing keys. */
function nearHint({ key, among }: MissingName): string | undefined {
  const keys = Object.keys(among);
  return didYouMean(key, keys) ?? thereIs(keys);
}

function thereIs(keys: readonly string[]): string | undefined {
  if (keys.length === 0) return "it is empty";
  const some = keys.slice(0, 6).map((key) => JSON.stringify(key)).join(", ");
  return `there is ${some}${keys.length > 6 ? " and more" : ""}`;
}

/** A node without the chain round it. */
function bare(node: Node): Node {
  return node.type === "ChainExpression" ? node.expression : node;
}
