import { findOpenings } from "../base/yaml/find_opening.ts";
import { parseYaml, YamlFault } from "../base/yaml/parse_yaml.ts";
import { buildTree, type YamlNode } from "../base/yaml/yaml_tree.ts";

/** The tree of YAML that is being typed. */
export type LooseNode = LooseMap | LooseList | LooseScalar;

/** A part of the text of a file, in UTF-16 offsets. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

interface LooseMap extends TextRange {
  readonly kind: "map";
  readonly pairs: readonly LoosePair[];
}

interface LoosePair {
  readonly key: LooseScalar;
  readonly value: LooseNode;
}

interface LooseList extends TextRange {
  readonly kind: "list";
  readonly items: readonly LooseNode[];
}

/** A text as it is written, without its quotes or the header of its block. */
export interface LooseScalar extends TextRange {
  readonly kind: "scalar";
  readonly text: string;
  /** Where the text begins. */
  readonly from: number;
}

/** A file with more mistakes is read up to the next one. */
const MAX_MISTAKES = 30;

/** A text that may be invalid, as far as it can be read. */
interface Readable {
  readonly root: LooseNode;
  /** The text with spaces in place of what the parser rejects: a value without an end, or a line. */
  readonly text: string;
}

/** Reads a text without what the parser rejects. */
export function readLoosely(text: string): Readable {
  let readable = text;
  for (let mistakes = 0; readable.trim() !== ""; mistakes++) {
    try {
      const parsed = parseYaml([{ name: "", text: readable }]);
      const [root] = buildTree(parsed.events, parsed.text).roots;
      return { root: root ? toLoose(root, text) : scalarOf(text, 0, 0), text: readable };
    } catch (fault) {
      if (!(fault instanceof YamlFault)) throw fault;
      const isLast = mistakes >= MAX_MISTAKES;
      const { start, end } = mistakeOf(readable, fault, isLast);
      readable = readable.slice(0, start) +
        (isLast ? "" : " ".repeat(end - start) + readable.slice(end));
    }
  }
  return { root: scalarOf(text, 0, 0), text: "" };
}

/** The part of a text that the parser rejects, from an innermost bracket or the outermost on. */
function mistakeOf(
  text: string,
  { offset, reason }: YamlFault,
  isOutermost: boolean,
): TextRange {
  const open = findOpenings(text, offset);
  // Of brackets that are nested too deeply to be read, none can stay.
  const isDeep = reason.startsWith("nesting");
  const opening = open.at(isDeep || isOutermost ? 0 : -1);
  if (opening !== undefined) {
    return { start: opening, end: lineAround(text, isDeep ? offset : opening).end };
  }
  const line = lineAround(text, offset);
  // A key without a colon is rejected in the next line that is not empty.
  const isAbove = reason.includes("multiline key") ||
    text.slice(line.start, line.end).trim() === "";
  return isAbove ? lineAround(text, text.slice(0, line.start).trimEnd().length) : line;
}

function lineAround(text: string, offset: number): TextRange {
  const newline = text.indexOf("\n", offset);
  return {
    start: text.lastIndexOf("\n", offset - 1) + 1,
    end: newline < 0 ? text.length : newline,
  };
}

function toLoose(node: YamlNode, text: string): LooseNode {
  const { outerStart: start, outerEnd: end } = node;
  switch (node.kind) {
    case "list":
      return {
        kind: "list",
        start,
        end,
        items: node.items.map(({ value }) => toLoose(value, text)),
      };
    case "map": {
      const pairs = node.pairs.flatMap(({ key, value }) => {
        const name = toLoose(key, text);
        return name.kind === "scalar" ? [{ key: name, value: toLoose(value, text) }] : [];
      });
      return { kind: "map", start, end, pairs };
    }
    case "alias":
      return scalarOf(text, node.start, node.end);
    case "scalar": {
      if (node.style === "plain") return scalarOf(text, node.start, node.end);
      if (node.style !== "block") {
        return scalarOf(text, node.start, node.end, node.start + 1, node.end - 1);
      }
      const from = Math.min(lineAround(text, node.start).end + 1, node.end);
      return scalarOf(text, node.start, node.end, from, text.slice(0, node.end).trimEnd().length);
    }
  }
}

function scalarOf(
  text: string,
  start: number,
  end: number,
  from = start,
  to = end,
): LooseScalar {
  return { kind: "scalar", start, end, from, text: text.slice(from, to) };
}

/** The way to a place in a tree, from the root on. */
export interface Spot {
  readonly path: readonly (string | number)[];
  /** Whether the place is in the last key of the path. */
  readonly isKey: boolean;
  readonly scalar: LooseScalar;
}

/** The node at an offset; undefined if there is no text. */
export function spotAt(root: LooseNode, offset: number): Spot | undefined {
  const path: (string | number)[] = [];
  let node = root;
  const isIn = ({ start, end }: TextRange) => start <= offset && offset <= end;
  for (;;) {
    if (node.kind === "scalar") {
      return isIn(node) ? { path, isKey: false, scalar: node } : undefined;
    }
    if (node.kind === "list") {
      const index = node.items.findLastIndex(({ start }) => start <= offset);
      if (index < 0) return undefined;
      path.push(index);
      node = node.items[index]!;
      continue;
    }
    const pair: LoosePair | undefined = node.pairs.findLast(({ key }) => key.start <= offset);
    if (!pair) return undefined;
    path.push(pair.key.text);
    if (isIn(pair.key)) return { path, isKey: true, scalar: pair.key };
    node = pair.value;
  }
}

/** The value of a key of a mapping. */
export function fieldOf(node: LooseNode | undefined, key: string): LooseNode | undefined {
  return node?.kind === "map" ? node.pairs.find((pair) => pair.key.text === key)?.value : undefined;
}

/** The items of a list; none of something else. */
export function itemsOf(node: LooseNode | undefined): readonly LooseNode[] {
  return node?.kind === "list" ? node.items : [];
}

/** The pairs of a mapping; none of something else. */
export function pairsOf(node: LooseNode | undefined): readonly LoosePair[] {
  return node?.kind === "map" ? node.pairs : [];
}
