import { type AnyNode, parse } from "acorn";

/** The imports of a module. */
export interface Imports {
  /** Specifiers of import and export declarations, loaded before the module runs. */
  readonly fixed: readonly string[];
  /** Specifiers of `import("…")`. */
  readonly lazy: readonly string[];
}

/** Finds every import of a module except those whose specifier is computed. */
export function importsOf(code: string): Imports {
  const fixed: string[] = [];
  const lazy: string[] = [];
  for (const node of nodesOf(parse(code, { ecmaVersion: "latest", sourceType: "module" }))) {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        if (node.source) fixed.push(String(node.source.value));
        break;
      case "ImportExpression":
        if (node.source.type === "Literal") lazy.push(String(node.source.value));
        break;
    }
  }
  return { fixed, lazy };
}

/** A node and everything below it. */
function* nodesOf(node: AnyNode): Generator<AnyNode> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield* nodesOf(child);
    }
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value &&
    typeof value.type === "string";
}
