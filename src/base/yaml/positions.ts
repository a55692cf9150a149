import type { Path, Source, Span } from "../source.ts";
import { valueAt } from "../value/value.ts";
import type { Document, Positions } from "./document.ts";
import { parseYaml, spanAt } from "./parse_yaml.ts";
import { orLoadError } from "./yaml_fault.ts";
import { buildTree, type YamlMap, type YamlNode, type YamlPair } from "./yaml_tree.ts";

/** The positions of documents that are in use: a run asks for them at each failure. */
const known = new WeakMap<Document, Positions>();

/** The positions of the values of a document; a run without failures needs none. */
export function positionsOf(document: Document): Positions {
  const found = known.get(document) ?? findIn(document);
  known.set(document, found);
  return found;
}

function findIn({ files, value, writtenAt, joined }: Document): Positions {
  if (!joined) return findPositions(files, (path) => writtenAt?.(value, path) ?? path);
  const [own, outer] = [positionsOf(joined.own), positionsOf(joined.outer)];
  const find = (path: Path) => {
    const written = writtenAt?.(value, path) ?? path;
    const isOuter = written[0] === "defaults" &&
      valueAt({ defaults: joined.values }, written) !== undefined;
    return isOuter ? { positions: outer, path: written } : { positions: own, path };
  };
  return {
    locate(path, part) {
      const found = find(path);
      return found.positions.locate(found.path, part);
    },
    text(path) {
      const found = find(path);
      return found.positions.text(found.path);
    },
    keysOfUsedAnchors: () => own.keysOfUsedAnchors(),
  };
}

/**
 * The positions of the values in files, by their paths in the tree of the text. `writtenAt` gives the
 * path at which a value is written.
 */
export function findPositions(
  files: readonly Source[],
  writtenAt = (path: Path) => path,
): Positions {
  // Parsed anew: the events take many times the memory of the text.
  const parsed = orLoadError(() => parseYaml(files));
  const tree = buildTree(parsed.events, parsed.text);
  const root = joinRoots(tree.roots);
  const findNode = makeFinder(root);
  const spanOf = ({ start, end }: YamlNode) => spanAt(parsed, start, end);
  const find = (path: Path) => {
    const written = writtenAt(path);
    const found = findNode(written);
    return { ...found, isWhole: found.depth === written.length };
  };
  const locate = (path: Path, part: "key" | "value" = "value"): Span => {
    const { node, key, isWhole } = find(path);
    if (!node) return spanAt(parsed, 0, 0);
    const isKeyMeant = isWhole && part === "key" || node.start === node.end;
    return spanOf(key && isKeyMeant ? key : node);
  };
  const text = (path: Path): Source | undefined => {
    const { node, isWhole } = find(path);
    if (!isWhole || node?.kind !== "scalar" || node.start === node.end) return undefined;
    const origin = spanOf(node);
    return { name: origin.source.name, text: node.text, origin };
  };
  const keysOfUsedAnchors = (): ReadonlySet<string> => {
    const pairs = root?.kind === "map" ? root.pairs : [];
    const anchors = [...tree.aliased].map(({ start }) => start);
    return new Set(pairs.flatMap(({ key }, index) => {
      const end = pairs[index + 1]?.key.start ?? Infinity;
      return anchors.some((at) => key.start <= at && at < end) ? keyText(key) : [];
    }));
  };
  return { locate, text, keysOfUsedAnchors };
}

/** The one node of all files, whose top-level keys are those of one mapping. */
function joinRoots(roots: readonly YamlNode[]): YamlNode | undefined {
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

function makeFinder(root: YamlNode | undefined): (path: Path) => Found {
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
  return (path) => {
    let found: Found = { node: follow(root), depth: 0 };
    for (const part of path) {
      const { node, depth } = found;
      const pair: Partial<YamlPair> | undefined = node?.kind === "list" && typeof part === "number"
        ? node.items[part]
        : node?.kind === "map"
        ? pairsOf(node).get(String(part))
        : undefined;
      if (!pair) break;
      found = { node: follow(pair.value), key: follow(pair.key), depth: depth + 1 };
    }
    return found;
  };
}

/** The node that an alias refers to; any other node itself. */
function follow(node: YamlNode | undefined): YamlNode | undefined {
  return node?.kind === "alias" ? node.target ?? node : node;
}

/** A mapping's own keys, the last of the same name; then merged ones, the first of the name. */
function indexPairs(
  map: YamlMap,
  pairsOf: (map: YamlMap) => ReadonlyMap<string, YamlPair>,
): ReadonlyMap<string, YamlPair> {
  const index = new Map<string, YamlPair>();
  for (const pair of map.pairs) {
    if (mergedMaps(pair).length === 0) index.set(keyText(pair.key), pair);
  }
  for (const source of map.pairs.flatMap(mergedMaps)) {
    for (const [name, pair] of pairsOf(source)) {
      if (!index.has(name)) index.set(name, pair);
    }
  }
  return index;
}

/** The mappings that a key `<<` merges; empty for any other key. */
function mergedMaps({ key, value }: YamlPair): readonly YamlMap[] {
  if (key.kind !== "scalar" || key.style !== "plain" || key.text !== "<<") return [];
  const merged = follow(value);
  const sources = merged?.kind === "list"
    ? merged.items.map((item) => follow(item.value))
    : [merged];
  return sources.filter((source): source is YamlMap => source?.kind === "map");
}

/** The name that a key has in the value that was read. */
function keyText(key: YamlNode): string {
  const node = follow(key);
  if (node?.kind !== "scalar") return "[object Object]";
  const { text, style } = node;
  return style === "plain" && (text === "" || text === "~") ? "null" : text;
}
