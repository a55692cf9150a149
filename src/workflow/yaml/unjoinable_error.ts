import { LoadError } from "../../source/errors.ts";
import { excerptOf, type Source } from "../../source/source.ts";
import { describeValue } from "../../value/value.ts";
import type { JsYaml } from "./js_yaml.ts";
import { joinFiles } from "../read_files.ts";
import { parseNodes, type YamlNode } from "./yaml_nodes.ts";

/**
 * What to tell of files that YAML cannot read as one document since one of them, for all that it
 * is right by itself, is none to which keys can be added; nothing where that is not why.
 */
export function unjoinableError(files: readonly Source[], yaml: JsYaml): LoadError | undefined {
  if (files.length < 2) return undefined;
  for (const source of files) {
    const { text } = joinFiles([source]);
    const root = nodesOf(text, yaml);
    if (!root || root.kind === "map" && text[root.start] !== "{") continue;
    const isMap = root.kind === "map";
    const { start } = root;
    const span = { source, start, end: isMap ? start + 1 : root.end };
    const lines = 'write "key: value" lines';
    return new LoadError(`YAML syntax error at line ${excerptOf(span).line}`, [{
      severity: "error",
      code: "yaml",
      message: `${isMap ? "a mapping in braces" : describeNode(root)} cannot be joined ` +
        "with other files",
      hint: isMap ? `${lines} without the braces` : `each of them must be a mapping: ${lines}`,
      span,
    }]);
  }
  return undefined;
}

function nodesOf(text: string, yaml: JsYaml): YamlNode | undefined {
  try {
    return parseNodes(text, yaml);
  } catch (error) {
    if (error instanceof yaml.YAMLException) return undefined;
    throw error;
  }
}

function describeNode(node: YamlNode): string {
  return describeValue(node.kind === "scalar" ? node.text : []);
}
