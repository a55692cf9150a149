import { join } from "@std/path/join";
import { keysAt, type KnownActions } from "./format.ts";
import { isAbsolute } from "./job_files.ts";
import type { TextRange } from "./loose_yaml.ts";
import { eachScalar, type Outline, textRange } from "./outline.ts";

/** A part of a file that names another file. */
export interface FileLink extends TextRange {
  readonly path: string;
}

/** The files that a file names: what keys and parameters take, and the `$ref`s of a description. */
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
    links.push({ path: target, ...textRange({ ...scalar, text: name }) });
  });
  return links;
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
  return Object.hasOwn(keys.table.fields, key) ? keys.table.fields[key]!.namesFile : undefined;
}
