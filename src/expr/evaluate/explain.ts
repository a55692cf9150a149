import { type Dict, isNumber, pathText, typeName, type Value } from "../../base/value/value.ts";
import type { CallExpression, ComparisonChain, Node } from "../parse/ast.ts";
import { applyFunction, evaluateNode } from "./evaluate.ts";
import { Evaluation, type Local } from "./evaluation.ts";
import type { Explanation, Parsed, Scope, TestOperand } from "../expression.ts";
import { isComparableVersion } from "./operations.ts";
import { differencesOf, sidesOf, type UnequalPart } from "../functions/diff.ts";
import type { ValueFunction } from "../functions/function.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { missingHint } from "../hints.ts";
import { isOfMissing } from "./locate_fault.ts";
import { childrenOf, isCallOf } from "../parse/tree.ts";
import { isRead, limitValue } from "../limits.ts";

/**
 * Why a test came out true or false: the sides of the comparisons that decided it, with their
 * values. It evaluates parts of the test once more, and never throws.
 */
export function explain(expression: Parsed, scope: Scope, result: boolean): Explanation {
  const explainer = new Explainer(expression, scope);
  try {
    explainer.explain(expression.node, result, {});
  } catch {
    // A part that cannot be evaluated now, on its own, is left out.
  }
  const { decisive: { start, end }, operands, hint, unequal, mismatches } = explainer;
  return { start, end, operands, hint, unequal, mismatches };
}

/** The scope of a part: the names of `let`, and the item of a predicate. */
interface Frame {
  readonly locals?: Local;
  readonly item?: Value;
  readonly index?: number;
}

/** Longer values are not parsed again for a hint. */
const LONGEST_SIDE = 60;
/** A longer literal that a part of the test begins with is not repeated in its name. */
const LONGEST_LITERAL = 20;

/** Collects operands on its way down to the part of the test that decided. */
class Explainer {
  readonly operands: TestOperand[] = [];
  hint: string | undefined;
  unequal: Explanation["unequal"];
  mismatches: Explanation["mismatches"];
  decisive: Node;
  /** Whether the decisive part was found; it does not move to the parts below it. */
  #isFound = false;
  /** Whether names may be those of `let`, whose values share their parts. */
  #hasLocals = false;

  constructor(readonly expression: Parsed, readonly scope: Scope) {
    this.decisive = expression.node;
  }

  /** Explains why a node is true or false. */
  explain(node: Node, result: boolean, frame: Frame): void {
    if (!this.#isFound) this.decisive = node;
    switch (node.type) {
      case "Literal":
        return;
      case "UnaryExpression":
        if (node.operator === "!") return this.explain(node.argument, !result, frame);
        break;
      case "LogicalExpression":
        if (node.operator === "??") break;
        return this.#explainLogical(node.left, node.right, node.operator === "&&", result, frame);
      case "ConditionalExpression": {
        const test = this.#evaluate(node.test, frame) === true;
        return this.explain(test ? node.consequent : node.alternate, result, frame);
      }
      case "BinaryExpression":
        this.#show(node.left, frame);
        this.#show(node.right, frame);
        if (node.operator !== "==" || result) return;
        if (isCallOf(node.left, "diff")) this.#explainDiff(node.left, frame);
        else this.#explainUnequal(node.left, node.right, frame);
        return;
      case "ComparisonChain":
        return this.#explainChain(node, frame);
      case "CallExpression":
        return this.#explainCall(node, result, frame);
      case "LetExpression": {
        this.#hasLocals = true;
        const value = this.#evaluate(node.init, frame);
        const local = { name: node.id.name, value, outer: frame.locals };
        return this.explain(node.body, result, { ...frame, locals: local });
      }
      case "SequenceExpression":
        return this.explain(node.expressions.at(-1)!, result, frame);
    }
    this.#show(node, frame);
  }

  /** One side decides where `&&` is false or `||` is true; otherwise both do. */
  #explainLogical(left: Node, right: Node, isAnd: boolean, result: boolean, frame: Frame): void {
    if (result === isAnd) {
      this.#isFound = true;
      this.explain(left, result, frame);
      this.explain(right, result, frame);
      return;
    }
    const leftDecides = (this.#evaluate(left, frame) === true) === result;
    this.explain(leftDecides ? left : right, result, frame);
  }

  #explainChain(node: ComparisonChain, frame: Frame): void {
    const decisive = node.comparisons.find((pair) => !this.#evaluate(pair, frame));
    if (!decisive) return;
    if (!this.#isFound) this.decisive = decisive;
    this.#show(decisive.left, frame);
    this.#show(decisive.right, frame);
  }

  #explainCall(node: CallExpression, result: boolean, frame: Frame): void {
    const [list, predicate] = node.arguments;
    const name = node.callee.type === "Identifier" ? node.callee.name : "";
    const body = FUNCTIONS.get(name)?.body;
    if (body?.kind === "value" && body.mismatches && !result) {
      return this.#explainMismatches(node, body, frame);
    }
    if (body?.kind !== "list" || !list || predicate?.type !== "Predicate") {
      for (const argument of node.arguments) this.#show(argument, frame);
      if (name === "approx" && !result) this.#explainApart(node, frame);
      return;
    }
    const items = this.#evaluate(list, frame);
    // The predicate has this result for the one item that decided, if one did.
    const wanted = name === "all" ? false : true;
    const oneDecides = name === "all" && !result || name === "none" && !result ||
      name === "any" && result;
    const index = oneDecides && Array.isArray(items)
      ? items.findIndex((item: Value, index) =>
        (this.#evaluate(predicate.body, { ...frame, item, index }) === true) === wanted
      )
      : -1;
    if (index < 0) return this.#show(list, frame);
    this.#isFound = true;
    const item = (items as readonly Value[])[index] ?? null;
    this.#add(list, this.#text(list, `[${index}]`), item);
    this.explain(predicate.body, wanted, { ...frame, item, index });
  }

  /** The distance between two numbers. */
  #explainApart({ arguments: [one, other] }: CallExpression, frame: Frame): void {
    if (!one || !other) return;
    const [a, b] = [this.#evaluate(one, frame), this.#evaluate(other, frame)];
    if (typeof a !== "number" || typeof b !== "number") return;
    this.hint ??= `they differ by ${Number(Math.abs(a - b).toPrecision(6))}`;
  }

  /** Shows the arguments of a diff() that is not empty as two sides, without what it ignores. */
  #explainDiff({ arguments: [left, right, options] }: CallExpression, frame: Frame): void {
    if (!left || !right) return;
    const compared = sidesOf(
      this.#evaluate(left, frame),
      this.#evaluate(right, frame),
      options && this.#evaluate(options, frame) as Dict,
    );
    this.#setUnequal(left, compared.left, right, compared.right);
  }

  /** Lists every mismatch between the first argument and the others. */
  #explainMismatches(
    node: CallExpression,
    record: ValueFunction,
    frame: Frame,
  ): void {
    const [received, ...rest] = node.arguments;
    const [expected] = rest;
    if (!received || !expected) return;
    const values = [received, ...rest].map((node) => this.#evaluate(node, frame));
    if (values[0] === null) return this.#show(received, frame);
    const run = new Evaluation(this.scope);
    run.at = node;
    this.mismatches = {
      expected: this.#text(expected),
      received: this.#text(received),
      places: applyFunction(record.mismatches!, record, run, values),
    };
  }

  /** Adds a node with its value, unless the node is a constant. */
  #show(node: Node, frame: Frame): void {
    const isItem = node.type === "Pointer" && node.name === "";
    if (isItem || isConstant(node) || node.type === "ObjectExpression") return;
    if (isCallOf(node, "semver")) {
      // Its own value has an order, and says nothing to a reader.
      for (const version of node.arguments) this.#show(version, frame);
      return;
    }
    this.#add(node, this.#text(node), this.#evaluate(node, frame));
  }

  #add(node: Node, text: string, value: Value): void {
    if (this.operands.some((known) => known.text === text)) return;
    if (this.#hasLocals || !isRead(node)) limitValue(value, node);
    const { start, end } = node;
    this.operands.push({ start, end, text, value, type: typeName(value) });
  }

  /** A part of the test as reports name it, and a path in its value. */
  #text(node: Node, path = ""): string {
    const { source } = this.expression;
    const root = rootOf(node);
    const text = root !== node && root.end - root.start > LONGEST_LITERAL && isLiteral(root)
      ? `${root.type === "ArrayExpression" ? "[…]" : "{…}"}${source.slice(root.end, node.end)}`
      : source.slice(node.start, node.end);
    const isLoose = node.type === "LogicalExpression" || node.type === "ConditionalExpression";
    return path !== "" && isLoose ? `(${text})${path}` : text + path;
  }

  /** A side of a comparison, for a hint that should be short. */
  #side(node: Node, which: "left" | "right"): string {
    const text = this.#text(node);
    return text.length > LONGEST_SIDE ? `the ${which} side` : text;
  }

  #evaluate(node: Node, frame: Frame): Value {
    const run = new Evaluation(this.scope);
    run.locals = frame.locals;
    run.item = frame.item ?? null;
    run.index = frame.index ?? 0;
    const value = evaluateNode(node, run, this.expression.source);
    if (value === null && run.missing && isOfMissing(node, run.missing)) {
      this.hint ??= missingHint(run.missing, this.expression.source);
    }
    return value;
  }

  /** A hint for two values that are not equal. */
  #explainUnequal(left: Node, right: Node, frame: Frame): void {
    const [a, b] = [this.#evaluate(left, frame), this.#evaluate(right, frame)];
    if (a === null || b === null) return;
    if (typeof a === "object" && typeof b === "object") {
      const [difference] = differencesOf(a, b);
      if (!difference || difference.path.length === 0) return;
      this.#showDifference(left, right, difference);
      this.#setUnequal(left, a, right, b);
    } else if (typeof a === "string" && typeof b === "string") {
      if (isComparableVersion(a) !== isComparableVersion(b)) {
        this.hint ??= "write semver(…) on both sides";
      } else if (a !== "" && b !== "") this.#setUnequal(left, a, right, b);
    } else if (typeof a !== typeof b && !(isNumber(a) && isNumber(b))) {
      // Values of different types are never equal, even if they look the same.
      const [one, other] = [this.#side(left, "left"), this.#side(right, "right")];
      const types = `${one} is ${typeName(a)}, ${other} is ${typeName(b)}`;
      const repair = isNumber(a)
        ? conversionHint(b, right, this.#text(right))
        : isNumber(b)
        ? conversionHint(a, left, this.#text(left))
        : undefined;
      this.hint ??= repair === undefined ? types : `${types}: ${repair}`;
    }
  }

  #setUnequal(left: Node, a: Value, right: Node, b: Value): void {
    const [one, other] = [
      { text: this.#text(left), value: a },
      { text: this.#text(right), value: b },
    ];
    const isTurned = isConstant(left) || readsResult(right) && !readsResult(left);
    this.unequal ??= isTurned
      ? { expected: one, received: other }
      : { expected: other, received: one };
  }

  #showDifference(left: Node, right: Node, difference: UnequalPart): void {
    const path = pathText(difference.path);
    const add = (node: Node, value: Value | undefined) => {
      if (isLiteral(node) || value === undefined) return;
      this.#add(node, this.#text(node, path), value);
    };
    add(left, difference.left);
    add(right, difference.right);
    const lacks = difference.left === undefined
      ? "the left side has none"
      : difference.right === undefined
      ? "the right side has none"
      : undefined;
    this.hint ??= `they differ at ${path}${lacks === undefined ? "" : `: ${lacks}`}`;
  }
}

/** Whether a node reads the result of the step, and therefore is the received side. */
function readsResult(node: Node): boolean {
  return node.type === "Identifier" && node.name === "res" || childrenOf(node).some(readsResult);
}

/** How a string that looks like a number compares with one. */
function conversionHint(value: Value, node: Node, text: string): string | undefined {
  if (typeof value !== "string" || !/^\s*-?\d+(\.\d+)?\s*$/.test(value)) return undefined;
  const isBare = value === value.trim();
  if (isConstant(node)) return isBare ? `write ${value} without quotes` : undefined;
  if (text.length > LONGEST_SIDE) return undefined;
  const name = value.includes(".") ? "parse_float" : "parse_int";
  return `write ${name}(${isBare ? text : `trim(${text})`})`;
}

/** What a chain of members begins with: the map of `{ a: 1 }.a`. */
function rootOf(node: Node): Node {
  return node.type === "MemberExpression" ? rootOf(node.object) : node;
}

/** Whether a node is data that is written in the test itself, which needs not be shown again. */
function isLiteral(node: Node): boolean {
  return isConstant(node) || node.type === "ObjectExpression" || node.type === "ArrayExpression";
}

/** Whether a node shows its own value: it reads no name. */
function isConstant(node: Node): boolean {
  if (node.type === "Literal") return true;
  const fixed = node.type === "ArrayExpression" || node.type === "ObjectExpression" ||
    node.type === "UnaryExpression";
  return fixed && childrenOf(node).every(isConstant);
}
