import { join } from "@std/path/join";
import { keysAt, type KnownActions } from "./format.ts";
import type { YamlNode, YamlScalar } from "../base/yaml/yaml_tree.ts";
import { contentOf, itemsOf, pairsOf, type TextRange } from "./loose_yaml.ts";
import type { Outline } from "./outline.ts";

/** A part of a file that names another file. */
export interface FileLink extends TextRange {
  readonly path: string;
}

/** The files that keys, parameters and the `$ref`s of an OpenAPI description name. */
export function fileLinksIn(
  outline: Outline,
  from: string,
  known: KnownActions,
): readonly FileLink[] {
  const links: FileLink[] = [];
  eachScalar(outline.root, (scalar, path) => {
    const { text } = scalar;
    if (text === "" || /\{\{|\n|:\/\//.test(text)) return;
    const key = path.findLast((part) => typeof part === "string");
    const isReference = key === "$ref";
    if (!isReference && !namesFile(outline, path, known)) return;
    const name = isReference ? text.replace(/#.*$/, "") : text;
    if (name === "") return;
    const target = isAbsolute(name) ? join(name) : join(from, "..", name);
    const { start } = contentOf(scalar);
    links.push({ path: target, start, end: start + name.length });
  });
  return links;
}

/** Visits all texts in a node but for keys, each with its path. */
function eachScalar(
  node: YamlNode | undefined,
  visit: (scalar: YamlScalar, path: readonly (string | number)[]) => void,
  path: readonly (string | number)[] = [],
): void {
  if (node?.kind === "scalar") visit(node, path);
  for (const [index, item] of itemsOf(node).entries()) eachScalar(item, visit, [...path, index]);
  for (const { key, value } of pairsOf(node)) eachScalar(value, visit, [...path, key.text]);
}

/** Whether a path is one from the root of a file system. */
export function isAbsolute(path: string | URL): boolean {
  return path instanceof URL || /^(?:[\\/]|[a-z]:)/i.test(path);
}

/** Whether the value at a path is the name of a file. */
export function namesFile(
  outline: Outline,
  path: readonly (string | number)[],
  known: KnownActions,
): "any" | "yaml" | undefined {
  const key = path.at(-1);
  if (typeof key === "number") {
    return path.length === 2 && outline.kind === "suite" && path[0] === "workflows"
      ? "yaml"
      : undefined;
  }
  const keys = keysAt(outline, path.slice(0, -1), known);
  if (keys?.kind === "parameters") {
    return keys.parameters.find(({ name }) => name === key)?.namesFile;
  }
  if (keys?.kind !== "fields" || key === undefined) return undefined;
  return keys.fields.find(({ name }) => name === key)?.namesFile;
}
