import { parse } from "acorn";
import { nodesOf } from "./walk.ts";

/** What the code of a module imports. */
export interface Imports {
  /** Specifiers at its top. */
  readonly fixed: readonly string[];
  /** Specifiers that are imported on the way. */
  readonly lazy: readonly string[];
}

/** Finds every import of a module but those whose specifier only a run knows. */
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
