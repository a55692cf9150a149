import { endOfQuoted } from "../base/yaml/find_opening.ts";

/**
 * Reads YAML that is being typed: keys without a colon, brackets without an end and lines that do
 * not fit are not a reason to give up. What it makes of them is a guess, by their columns.
 */
export type LooseNode = LooseMap | LooseList | LooseScalar;

/** A part of the text of a file, in UTF-16 offsets. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface LooseMap extends TextRange {
  readonly kind: "map";
  readonly pairs: readonly LoosePair[];
}

export interface LoosePair {
  readonly key: LooseScalar;
  readonly value: LooseNode;
}

export interface LooseList extends TextRange {
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

interface Line extends TextRange {
  readonly indent: number;
}

/** A key with its colon. */
const KEY =
  /(?:&\S+ +)?(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?![-?] |["'[\]{}#|>])[^\s][^\n]*?)[ \t]*:(?=\s|$)/y;
/** Anchors and tags before a value. */
const PROPERTIES = /[ \t]*(?:[&!]\S*[ \t]+|[&!]\S*$)*/my;
const DASH = /-(?=\s|$)/y;

function fits(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length;
}

/** The tree of a text. */
export function readLoosely(text: string): LooseNode {
  const lines: Line[] = [];
  for (const { index, 0: line } of text.matchAll(/[^\n]+/g)) {
    const indent = /^ */.exec(line)![0].length;
    const content = line.trim();
    if (content === "" || content.startsWith("#") || /^(?:---|\.\.\.)$/.test(content)) continue;
    lines.push({ start: index, end: index + line.trimEnd().length, indent });
  }
  let next = 0;
  const line = lines[0];
  return line ? readBlock(line.start + line.indent, -1) : scalar(0, 0);

  function scalar(start: number, end: number, from = start, to = end): LooseScalar {
    return { kind: "scalar", start, end, from, text: text.slice(from, to) };
  }

  /** Reads the block at an offset of the next line, nested in a block at that column. */
  function readBlock(offset: number, around: number): LooseNode {
    const { start, end } = lines[next]!;
    const column = offset - start;
    if (fits(DASH, text, offset) !== undefined) return readList(column, offset);
    const below = lines[next + 1];
    const isKeyBelow = below?.indent === column && column > around &&
      fits(KEY, text, below.start + column) !== undefined && !/["'[{|>]/.test(text[offset]!);
    if (fits(KEY, text.slice(0, end), offset) !== undefined || isKeyBelow) {
      return readMap(column, offset);
    }
    return readValue(offset, around);
  }

  function readList(column: number, first: number): LooseList {
    const items: LooseNode[] = [];
    let last = first + 1;
    for (let at = first;;) {
      const { end } = lines[next]!;
      const from = at + 1 + fits(PROPERTIES, text, at + 1)!;
      const item = from >= end || text[from] === "#"
        ? readBelow(column, at + 1)
        : readBlock(from, column);
      items.push(item);
      last = Math.max(last, item.end);
      skipDeeper(column);
      const line = lines[next];
      if (line?.indent !== column) break;
      at = line.start + column;
      if (fits(DASH, text, at) === undefined) break;
    }
    return { kind: "list", start: first, end: last, items };
  }

  function readMap(column: number, first: number): LooseMap {
    const pairs: LoosePair[] = [];
    let last = first;
    for (let at = first;;) {
      const { end } = lines[next]!;
      const length = fits(KEY, text, at);
      if (length === undefined) {
        const key = scalar(at, end);
        pairs.push({ key, value: scalar(end, end) });
        next++;
        last = end;
      } else {
        const key = readKey(at, at + length - 1);
        const value = readValue(at + length, column);
        pairs.push({ key, value });
        last = Math.max(value.end, at + length);
      }
      skipDeeper(column);
      const line = lines[next];
      if (line?.indent !== column) break;
      at = line.start + column;
      if (fits(DASH, text, at) !== undefined) break;
    }
    return { kind: "map", start: first, end: last, pairs };
  }

  function readKey(start: number, colon: number): LooseScalar {
    const written = text.slice(start, colon);
    const from = start + (/^&\S+ +/.exec(written)?.[0].length ?? 0);
    const end = start + written.trimEnd().length;
    return /["']/.test(text[from]!) ? scalar(from, end, from + 1, end - 1) : scalar(from, end);
  }

  function skipDeeper(column: number): void {
    while (next < lines.length && lines[next]!.indent > column) next++;
  }

  /** Reads the lines below a key or a dash without a value on its own line. */
  function readBelow(column: number, empty: number, mayBeList = false): LooseNode {
    next++;
    const line = lines[next];
    if (!line) return scalar(empty, empty);
    const offset = line.start + line.indent;
    const isList = mayBeList && line.indent === column && fits(DASH, text, offset) !== undefined;
    return line.indent > column || isList ? readBlock(offset, column) : scalar(empty, empty);
  }

  function readValue(from: number, column: number): LooseNode {
    const line = lines[next]!;
    const at = from + fits(PROPERTIES, text, from)!;
    const first = text[at];
    if (at >= line.end || first === "#") return readBelow(column, Math.min(at, line.end), true);
    if (first === "|" || first === ">") {
      next++;
      skipDeeper(column);
      const content = Math.min(line.end + 1, text.length);
      const end = Math.max(content, lines[next]?.start ?? text.length);
      const written = text.slice(content, end).trimEnd();
      return scalar(at, content + written.length, content, content + written.length);
    }
    if (first === "{" || first === "[") {
      let below = next + 1;
      const isOutside = ({ indent, start }: Line) =>
        indent <= column && !/[\]}]/.test(text[start + indent]!);
      while (below < lines.length && !isOutside(lines[below]!)) below++;
      const limit = lines[below]?.start ?? text.length;
      const node = readFlow(at, limit);
      leave(node.end);
      return node;
    }
    if (first === '"' || first === "'") {
      const close = endOfQuoted(text, at, text.length);
      const isFar = close === undefined || isBroken(at, close, column);
      const end = isFar ? line.end : close;
      leave(end);
      return scalar(at, end, at + 1, isFar ? end : end - 1);
    }
    let end = endOfPlain(at, line.end);
    next++;
    for (; next < lines.length; next++) {
      const below = lines[next]!;
      const offset = below.start + below.indent;
      if (below.indent <= column || fits(KEY, text, offset) || fits(DASH, text, offset)) break;
      end = endOfPlain(offset, below.end);
    }
    return scalar(at, end);
  }

  /** Goes to the first line after an offset. */
  function leave(offset: number): void {
    next++;
    while (next < lines.length && lines[next]!.start < offset) next++;
  }

  /** Whether a quoted text goes over lines that cannot belong to it: its end was not typed yet. */
  function isBroken(start: number, end: number, column: number): boolean {
    return lines.slice(next + 1).some((line) =>
      line.start > start && line.start < end && line.indent <= column
    );
  }

  function endOfPlain(from: number, to: number): number {
    const comment = text.slice(from, to).search(/\s#/);
    return comment < 0 ? to : from + text.slice(from, from + comment).trimEnd().length;
  }

  function readFlow(start: number, limit: number): LooseNode {
    const isMap = text[start] === "{";
    const pairs: LoosePair[] = [];
    const items: LooseNode[] = [];
    let at = start + 1;
    const skip = () => {
      while (at < limit && (/\s/.test(text[at]!) || text[at] === "#" && /\s/.test(text[at - 1]!))) {
        if (text[at] === "#") { while (at < limit && text[at] !== "\n") at++; }
        else at++;
      }
    };
    const readOne = (stops: RegExp): LooseNode => {
      const first = text[at] ?? "";
      if (/[{[]/.test(first)) {
        const node = readFlow(at, limit);
        at = node.end;
        return node;
      }
      const begin = at;
      const close = /["']/.test(first) ? endOfQuoted(text, at, limit) : undefined;
      if (close !== undefined) {
        at = close;
        return scalar(begin, close, begin + 1, close - 1);
      }
      while (at < limit && !stops.test(text.slice(at, at + 2))) at++;
      const length = text.slice(begin, at).trimEnd().length;
      return scalar(begin, begin + length);
    };
    for (;;) {
      skip();
      if (at >= limit) break;
      if (/[\]}]/.test(text[at]!)) {
        at++;
        break;
      }
      if (text[at] === ",") {
        at++;
        continue;
      }
      const before = at;
      const head = readOne(/^(?:[,\]}]|:\s|:[,\]}])/);
      skip();
      if (isMap) {
        const key = head.kind === "scalar" ? head : scalar(head.start, head.end);
        if (text[at] === ":") {
          at++;
          skip();
          pairs.push({ key, value: readOne(/^[,\]}]/) });
        } else pairs.push({ key, value: scalar(key.end, key.end) });
      } else items.push(head);
      if (at === before) at++;
    }
    return isMap ? { kind: "map", start, end: at, pairs } : { kind: "list", start, end: at, items };
  }
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
