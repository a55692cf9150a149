import { assertNever } from "../../base/errors.ts";
import type { ParsedTemplate } from "../expression.ts";
import type { CallExpression, Node } from "./ast.ts";

/** The nodes right below a node, in the order of the text. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.type) {
    case "Literal":
    case "Identifier":
    case "Pointer":
      return [];
    case "ArrayExpression":
      return node.elements;
    case "ObjectExpression":
      return node.properties.flatMap(({ key, value }) => [key, value]);
    case "UnaryExpression":
      return [node.argument];
    case "BinaryExpression":
    case "LogicalExpression":
      return [node.left, node.right];
    case "ComparisonChain":
      return [node.comparisons[0]!.left, ...node.comparisons.map(({ right }) => right)];
    case "ConditionalExpression":
      return [node.test, node.consequent, node.alternate];
    case "MemberExpression":
      return node.computed ? [node.object, node.property] : [node.object];
    case "SliceExpression":
      return [node.object, node.from, node.to].filter((part) => part !== null);
    case "ChainExpression":
      return [node.expression];
    case "CallExpression":
      // The name of a function is not read from the scope.
      return node.callee.type === "Identifier" ? node.arguments : [node.callee, ...node.arguments];
    case "Predicate":
      return [node.body];
    case "LetExpression":
      return [node.init, node.body];
    case "SequenceExpression":
      return node.expressions;
    default:
      return assertNever(node);
  }
}

/** The conditions that `&&` joins to one. */
export function joinedParts(node: Node): readonly Node[] {
  return node.type === "LogicalExpression" && node.operator === "&&"
    ? [...joinedParts(node.left), ...joinedParts(node.right)]
    : [node];
}

/** The expression of a template that has only spaces around it. */
export function onlyExpression({ parts }: ParsedTemplate): Node | undefined {
  let only: Node | undefined;
  for (const part of parts) {
    if (typeof part === "string") {
      if (part.trim() !== "") return undefined;
    } else if (only) {
      return undefined;
    } else {
      only = part;
    }
  }
  return only;
}

export function isCallOf(node: Node, name: string): node is CallExpression {
  return node.type === "CallExpression" && node.callee.type === "Identifier" &&
    node.callee.name === name;
}
