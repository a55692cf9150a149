import type { Path, Source, Span } from "../../base/source.ts";
import { inheritedPath } from "../decode/inherited_path.ts";
import type { Positions } from "../model.ts";
import { type ParsedYaml, spanAt } from "../../base/yaml/parse_yaml.ts";
import {
  buildNodes,
  type YamlMap,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
} from "../../base/yaml/yaml_nodes.ts";

/** Finds the values of a document by their paths, in the tree of its text. */
export function makePositions(parsed: ParsedYaml, value: unknown): Positions {
  const tree = buildNodes(parsed.events, parsed.text);
  const root = joinRoots(tree.root);
  const spanOf = ({ start, end }: YamlNode) => spanAt(parsed, start, end);
  const findNode = makeFinder();
  const find = (path: Path) => {
    const written = inheritedPath(value, path);
    const found = findNode(root, written);
    return { ...found, isWhole: found.depth === written.length };
  };
  const locate = (path: Path, part: "key" | "value" = "value"): Span => {
    const { node, key, isWhole } = find(path);
    if (!node) return spanAt(parsed, 0, 0);
    const wanted = isWhole ? part : "value";
    const empty = node.start === node.end;
    return spanOf(key && (wanted === "key" || empty) ? key : node);
  };
  const text = (path: Path): Source | undefined => {
    const { node, isWhole } = find(path);
    if (!isWhole || node?.kind !== "scalar" || node.start === node.end) return undefined;
    const origin = spanOf(node);
    return { name: origin.source.name, text: node.text, origin };
  };
  const keysOfUsedAnchors = (): ReadonlySet<string> => {
    const pairs = root?.kind === "map" ? root.pairs : [];
    const anchors = [...tree.aliased].map(({ start }) => start).sort((a, b) => a - b);
    let next = 0;
    return new Set(pairs.flatMap(({ key }, index) => {
      const end = pairs[index + 1]?.key.start ?? Infinity;
      while (anchors[next]! < key.start) next++;
      return anchors[next]! < end ? [keyText(key)] : [];
    }));
  };
  return { locate, text, keysOfUsedAnchors };
}

/** The one node of all files, whose top-level keys are those of one mapping. */
function joinRoots(files: YamlNode | undefined): YamlNode | undefined {
  const roots = files?.kind === "list" ? files.items : [];
  const [first] = roots;
  if (roots.length < 2 || first?.kind !== "map") return first;
  return { ...first, pairs: roots.flatMap((root) => root.kind === "map" ? root.pairs : []) };
}

/** The deepest node on the way of a path, its key, and how many parts of the path led there. */
interface Found {
  readonly node: YamlNode | undefined;
  readonly key?: YamlNode;
  readonly depth: number;
}

function makeFinder(): (root: YamlNode | undefined, path: Path) => Found {
  const indexes = new Map<YamlMap, ReadonlyMap<string, YamlPair>>();
  const pairsOf = (map: YamlMap): ReadonlyMap<string, YamlPair> => {
    let index = indexes.get(map);
    if (!index) {
      // Set first, so that a mapping that is merged into itself ends here.
      indexes.set(map, new Map());
      indexes.set(map, index = indexPairs(map, pairsOf));
    }
    return index;
  };
  return (root, path) => {
    let found: Found = { node: root, depth: 0 };
    for (const part of path) {
      const { node, depth } = found;
      if (node?.kind === "list" && typeof part === "number") {
        const item = node.items[part];
        if (!item) break;
        found = { node: item, depth: depth + 1 };
      } else if (node?.kind === "map") {
        const pair = pairsOf(node).get(String(part));
        if (!pair) break;
        found = { node: pair.value, key: pair.key, depth: depth + 1 };
      } else break;
    }
    return found;
  };
}

/** A mapping's own keys, the last of the same name; then merged ones, the first of the name. */
function indexPairs(
  map: YamlMap,
  pairsOf: (map: YamlMap) => ReadonlyMap<string, YamlPair>,
): ReadonlyMap<string, YamlPair> {
  const index = new Map<string, YamlPair>();
  for (const pair of map.pairs) {
    if (!isMerge(pair)) index.set(keyText(pair.key), pair);
  }
  for (const { value } of map.pairs.filter(isMerge)) {
    for (const source of value.kind === "list" ? value.items : [value]) {
      if (source.kind !== "map") continue;
      for (const [name, pair] of pairsOf(source)) {
        if (!index.has(name)) index.set(name, pair);
      }
    }
  }
  return index;
}

function isMerge({ key, value }: YamlPair): boolean {
  return key.kind === "scalar" && key.plain && key.text === "<<" && value.kind !== "scalar";
}

/** The name that a key has in the value that was read. */
function keyText(key: YamlNode): string {
  return key.kind === "scalar" ? scalarKey(key) : "[object Object]";
}

function scalarKey({ text, plain }: YamlScalar): string {
  return plain && (text === "" || text === "~") ? "null" : text;
}
