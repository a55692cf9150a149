import { assertNever } from "../source/errors.ts";
import type { Node } from "./ast.ts";

/** The nodes right below a node, in the order in which they stand in the text. */
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
      return node.operands;
    case "ConditionalExpression":
      return [node.test, node.consequent, node.alternate];
    case "MemberExpression":
      return node.computed ? [node.object, node.property] : [node.object];
    case "SliceExpression":
      return [node.object, node.from, node.to].filter((part) => part !== null);
    case "ChainExpression":
      return [node.expression];
    case "CallExpression":
      // The name of a function is no name of the context.
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

/** Whether evaluating a node may need the engine for regular expressions. */
export function usesRegex(node: Node): boolean {
  return node.type === "BinaryExpression" && node.operator === "matches" ||
    node.type === "CallExpression" && node.callee.type === "Identifier" &&
      REGEX_FUNCTIONS.has(node.callee.name) ||
    childrenOf(node).some(usesRegex);
}

const REGEX_FUNCTIONS: ReadonlySet<string> = new Set(["matches", "match_json", "diff_json"]);

/** The names of the context that a node reads, `$env` among them; those of `let` are left out. */
export function namesIn(node: Node): ReadonlySet<string> {
  const names = new Set<string>();
  collectNames(node, new Set(), names);
  return names;
}

function collectNames(node: Node, locals: ReadonlySet<string>, names: Set<string>): void {
  if (node.type === "Identifier") {
    if (!locals.has(node.name)) names.add(node.name);
  } else if (node.type === "LetExpression") {
    collectNames(node.init, locals, names);
    collectNames(node.body, new Set([...locals, node.id.name]), names);
  } else {
    for (const child of childrenOf(node)) collectNames(child, locals, names);
  }
}
