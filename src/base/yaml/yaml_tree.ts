import {
  COLLECTION_STYLE,
  EVENT_ID,
  getScalarValue,
  SCALAR_STYLE,
  type YamlEvent,
} from "./parse_yaml.ts";

/** A YAML text as a tree that knows the offsets of its parts. */
export type YamlNode = YamlScalar | YamlAlias | YamlList | YamlMap;

interface Extent {
  readonly start: number;
  readonly end: number;
}

interface NodeBase extends Extent {
  /** Where it begins with its anchor and its tag. */
  readonly outerStart: number;
  /** Where all of it ends. The `end` of a list or mapping without brackets is that of its first line. */
  readonly outerEnd: number;
}

export interface YamlScalar extends NodeBase {
  readonly kind: "scalar";
  readonly style: "plain" | "single" | "double" | "block";
  /** The decoded text. Quotes and block headers are in the extent, which is empty for no value. */
  readonly text: string;
}

interface YamlAlias extends NodeBase {
  readonly kind: "alias";
  /** Undefined if the anchor is in another text. */
  readonly target: YamlNode | undefined;
}

interface YamlList extends NodeBase {
  readonly kind: "list";
  readonly isFlow: boolean;
  readonly items: readonly YamlItem[];
}

interface YamlItem {
  /** Where its dash is; in brackets, where its value may begin. */
  readonly dash: number;
  readonly value: YamlNode;
}

export interface YamlMap extends NodeBase {
  readonly kind: "map";
  readonly isFlow: boolean;
  readonly pairs: readonly YamlPair[];
}

export interface YamlPair {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

interface YamlTree {
  readonly roots: readonly YamlNode[];
  readonly aliased: ReadonlySet<YamlNode>;
}

/** A list or mapping whose parts are still read. */
type Open = (Writable<YamlList> & { items: YamlItem[] }) | (Writable<YamlMap> & OpenPairs);

type Writable<T> = T & { end: number; outerEnd: number };

interface OpenPairs {
  pairs: YamlPair[];
  /** The key whose value comes next. */
  key: YamlNode | undefined;
}

/** The tree that parser events describe. */
export function buildTree(events: readonly YamlEvent[], text: string): YamlTree {
  const anchors = new Map<string, YamlNode>();
  const aliased = new Set<YamlNode>();
  const open: Open[] = [];
  let roots: readonly YamlNode[] = [];
  /** The end of the last node. */
  let last = 0;

  const nextStart = (): number => {
    const parent = open.at(-1);
    return parent?.kind === "list" && !parent.isFlow ? nextDash(text, last) : last;
  };
  const add = (value: YamlNode, dash: number) => {
    const parent = open.at(-1);
    if (parent?.kind === "list") parent.items.push({ dash, value });
    if (parent?.kind !== "map") return;
    if (parent.key) parent.pairs.push({ key: parent.key, value });
    parent.key = parent.key ? undefined : value;
  };
  const dashes: number[] = [];

  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const dash = nextStart();
        const node = readScalar(event, text, dash);
        setAnchor(anchors, event, text, node);
        last = node.outerEnd;
        add(node, dash);
        break;
      }
      case EVENT_ID.ALIAS: {
        const dash = nextStart();
        const { anchorStart, anchorEnd: end } = event;
        const start = anchorStart - 1;
        const target = anchors.get(text.slice(anchorStart, end));
        if (target) aliased.add(target);
        last = end;
        add({ kind: "alias", start, end, outerStart: start, outerEnd: end, target }, dash);
        break;
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        dashes.push(nextStart());
        const { start } = event;
        const isFlow = event.style === COLLECTION_STYLE.FLOW;
        const extent = { start, end: start, outerStart: outerStart(event, start), outerEnd: start };
        const node: Open = event.type === EVENT_ID.SEQUENCE
          ? { kind: "list", ...extent, isFlow, items: [] }
          : { kind: "map", ...extent, isFlow, pairs: [], key: undefined };
        setAnchor(anchors, event, text, node);
        last = isFlow ? start + 1 : start;
        open.push(node);
        break;
      }
      case EVENT_ID.POP: {
        const node = open.pop();
        if (!node) break;
        if (node.isFlow) last = closingBracket(text, last);
        node.outerEnd = last;
        node.end = node.isFlow ? last : Math.min(last, endOfLine(text, node.start));
        add(node, dashes.pop()!);
        // The outermost list has the documents.
        if (open.length === 0 && node.kind === "list") {
          roots = node.items.map(({ value }) => value);
        }
      }
    }
  }
  return { roots, aliased };
}

type ScalarEvent = Extract<YamlEvent, { readonly valueStart: number }>;

/** The node of a scalar. One without a value is the dash of its item, or nothing at all. */
function readScalar(event: ScalarEvent, text: string, at: number): YamlScalar {
  const { valueStart, valueEnd, anchorEnd, tagEnd } = event;
  const style = styleOf(event);
  const value = getScalarValue(text, event);
  const common = { kind: "scalar", style, text: value } as const;
  if (valueStart < 0) {
    const propertiesEnd = Math.max(anchorEnd, tagEnd);
    const [start, end] = [at, text[at] === "-" ? at + 1 : at];
    if (propertiesEnd < 0) return { ...common, start, end, outerStart: end, outerEnd: end };
    const outer = { outerStart: outerStart(event, propertiesEnd), outerEnd: propertiesEnd };
    return { ...common, start, end, ...outer };
  }
  if (style === "block") {
    const start = blockHeader(text, valueStart);
    const outer = { outerStart: outerStart(event, start), outerEnd: valueEnd };
    return { ...common, start, end: valueEnd, ...outer };
  }
  const quote = style === "plain" ? 0 : 1;
  const [start, end] = [valueStart - quote, valueEnd + quote];
  return { ...common, start, end, outerStart: outerStart(event, start), outerEnd: end };
}

function styleOf({ style }: ScalarEvent): YamlScalar["style"] {
  switch (style) {
    case SCALAR_STYLE.PLAIN:
      return "plain";
    case SCALAR_STYLE.SINGLE_QUOTED:
      return "single";
    case SCALAR_STYLE.DOUBLE_QUOTED:
      return "double";
    default:
      return "block";
  }
}

interface Properties {
  readonly anchorStart: number;
  readonly anchorEnd: number;
  readonly tagStart: number;
}

/** Where a value begins with its anchor and its tag. */
function outerStart({ anchorStart, tagStart }: Properties, start: number): number {
  const starts = [start, ...anchorStart > 0 ? [anchorStart - 1] : []];
  return Math.min(...starts, ...tagStart >= 0 ? [tagStart] : []);
}

function setAnchor(
  anchors: Map<string, YamlNode>,
  { anchorStart, anchorEnd }: Properties,
  text: string,
  node: YamlNode,
): void {
  if (anchorStart >= 0) anchors.set(text.slice(anchorStart, anchorEnd), node);
}

/** The offset of the `|` or `>` in the line above the first line of a block. */
function blockHeader(text: string, contentStart: number): number {
  const lineStart = text.lastIndexOf("\n", contentStart - 2) + 1;
  const header = /[|>][-+0-9]*[ \t]*(?:#.*)?\r?\n?$/.exec(text.slice(lineStart, contentStart));
  return header ? lineStart + header.index : contentStart;
}

/** The offset of the dash that begins the next item of a list. */
function nextDash(text: string, from: number): number {
  const pattern = /(?:[\s:]|#[^\n]*\n)*-/y;
  pattern.lastIndex = from;
  return pattern.exec(text) ? pattern.lastIndex - 1 : from;
}

/** The offset behind the bracket that ends a collection. */
function closingBracket(text: string, from: number): number {
  const pattern = /(?:[\s,:?]|#[^\n]*\n)*[\]}]/y;
  pattern.lastIndex = from;
  return pattern.exec(text) ? pattern.lastIndex : from;
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline < 0 ? text.length : newline;
}
