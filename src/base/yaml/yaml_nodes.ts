import {
  COLLECTION_STYLE,
  EVENT_ID,
  getScalarValue,
  SCALAR_STYLE,
  type YamlEvent,
} from "./parse_yaml.ts";

/**
 * A YAML text as a tree that knows the offsets of its parts. An alias is
 * the node that it refers to, so a node can be reached in many ways, even from inside itself.
 */
export type YamlNode = YamlScalar | YamlList | YamlMap;

interface Extent {
  readonly start: number;
  readonly end: number;
}

export interface YamlScalar extends Extent {
  readonly kind: "scalar";
  /** The decoded node. Quotes and block headers are in its extent, which is empty for no value. */
  readonly text: string;
  readonly plain: boolean;
}

/** A list, marked by its first line unless it is `[ ]`. */
interface YamlList extends Extent {
  readonly kind: "list";
  readonly items: readonly YamlNode[];
}

/** A mapping, marked by its first line unless it is `{ }`. */
export interface YamlMap extends Extent {
  readonly kind: "map";
  readonly pairs: readonly YamlPair[];
}

export interface YamlPair {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

/** The tree of a text. */
export interface YamlTree {
  /** Undefined for an empty text. */
  readonly root: YamlNode | undefined;
  /** The nodes that aliases refer to. */
  readonly aliased: ReadonlySet<YamlNode>;
}

/** The tree that parser events describe. */
export function buildNodes(events: readonly YamlEvent[], text: string): YamlTree {
  const anchors = new Map<string, YamlNode>();
  const open: OpenNode[] = [];
  const aliased = new Set<YamlNode>();
  let root: YamlNode | undefined;
  /** The end of what was read last. */
  let last = 0;
  const add = (node: YamlNode) => {
    const parent = open.at(-1);
    if (!parent) root = node;
    else if (parent.kind === "list") parent.items.push(node);
    else if (parent.key === undefined) parent.key = node;
    else {
      parent.pairs.push({ key: parent.key, value: node });
      parent.key = undefined;
    }
  };
  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const { kind, flow } = open.at(-1) ?? {};
        const isItem = kind === "list" && !flow;
        const empty = isItem ? nextDash(text, last) : { start: last, end: last };
        const node = scalarNode(event, text, empty);
        setAnchor(anchors, event, text, node);
        last = node.end;
        add(node);
        break;
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const { start } = event;
        const flow = event.style === COLLECTION_STYLE.FLOW;
        const node: OpenNode = event.type === EVENT_ID.SEQUENCE
          ? { kind: "list", start, end: start, flow, items: [] }
          : { kind: "map", start, end: start, flow, pairs: [], key: undefined };
        setAnchor(anchors, event, text, node);
        last = flow ? start + 1 : start;
        open.push(node);
        break;
      }
      case EVENT_ID.ALIAS: {
        last = event.anchorEnd;
        const node = anchors.get(text.slice(event.anchorStart, event.anchorEnd));
        if (!node) break;
        aliased.add(node);
        add(node);
        break;
      }
      case EVENT_ID.POP: {
        const node = open.pop();
        if (!node) break;
        if (node.flow) last = closingBracket(text, last);
        node.end = node.flow ? last : Math.min(last, endOfLine(text, node.start));
        add(node);
      }
    }
  }
  return { root, aliased };
}

type OpenNode = (Open<YamlList> & { items: YamlNode[] }) | (Open<YamlMap> & OpenPairs);

type Open<T extends YamlNode> = T & { end: number; readonly flow: boolean };

interface OpenPairs {
  pairs: YamlPair[];
  /** The key whose value comes next. */
  key: YamlNode | undefined;
}

type ScalarEvent = Extract<YamlEvent, { readonly valueStart: number }>;

/** The node of a scalar; `empty` is its offset if it has no value. */
function scalarNode(event: ScalarEvent, text: string, empty: Extent): YamlScalar {
  const { valueStart, valueEnd, style } = event;
  const { PLAIN, SINGLE_QUOTED, DOUBLE_QUOTED } = SCALAR_STYLE;
  const plain = style === PLAIN;
  const decoded = getScalarValue(text, event);
  if (valueStart < 0) return { kind: "scalar", ...empty, text: decoded, plain };
  const quoted = style === SINGLE_QUOTED || style === DOUBLE_QUOTED;
  const start = plain ? valueStart : quoted ? valueStart - 1 : headerStart(text, valueStart);
  const end = quoted ? valueEnd + 1 : valueEnd;
  return { kind: "scalar", start, end, text: decoded, plain };
}

function setAnchor(
  anchors: Map<string, YamlNode>,
  event: { readonly anchorStart: number; readonly anchorEnd: number },
  text: string,
  node: YamlNode,
): void {
  if (event.anchorStart >= 0) anchors.set(text.slice(event.anchorStart, event.anchorEnd), node);
}

/** The offset of the `|` or `>` in the line above the first line of a block. */
function headerStart(text: string, contentStart: number): number {
  const lineStart = text.lastIndexOf("\n", contentStart - 2) + 1;
  const header = /[|>][-+0-9]*[ \t]*(?:#.*)?\r?\n?$/.exec(text.slice(lineStart, contentStart));
  return header ? lineStart + header.index : contentStart;
}

/** The dash that begins the next item of a list: all that there is of an item without a value. */
function nextDash(text: string, from: number): Extent {
  const pattern = /(?:\s|#[^\n]*)*-/y;
  pattern.lastIndex = from;
  const end = pattern.exec(text) ? pattern.lastIndex : from;
  return { start: Math.max(from, end - 1), end };
}

function closingBracket(text: string, from: number): number {
  const pattern = /(?:[\s,]|#[^\n]*)*[\]}]/y;
  pattern.lastIndex = from;
  return pattern.exec(text) ? pattern.lastIndex : from;
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline < 0 ? text.length : newline;
}
