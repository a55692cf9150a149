import { COLLECTION_STYLE, EVENT_ID, SCALAR_STYLE, type YamlEvent } from "./parse_yaml.ts";

/** A value as it is laid out: a block of lines, or something whose lines belong together. */
export type Part = Block | Leaf;

/** A mapping or a list without brackets. */
export interface Block {
  readonly kind: "map" | "list";
  /** Where its first key or dash is, or the anchor before it. */
  readonly start: number;
  readonly entries: readonly Entry[];
}

interface Entry {
  /** Where the key or the dash begins. */
  readonly at: number;
  /** The key of a mapping. */
  readonly head?: Leaf;
  /** Undefined if there is none. */
  readonly value?: Part;
}

/** A text, an alias or a collection in brackets, with its anchor and tag. */
export interface Leaf {
  readonly kind: "leaf";
  readonly start: number;
  readonly end: number;
  /** Quoted texts in it. */
  readonly quoted: readonly Range[];
  /** White space between parts of one line of a collection in brackets, and what to write. */
  readonly spaces: readonly (Range & { readonly text: string })[];
  /** The indentation of the lines of a `|` or `>`. */
  readonly blockIndent?: number;
  /** Whether the text says by a digit how far it is indented. */
  readonly hasIndicator?: boolean;
  /** Whether it is a text whose lines are joined: their indentation means nothing. */
  readonly isFolded?: boolean;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** A collection that is being read, with its values so far: keys and values alternate. */
interface Open {
  readonly isMap: boolean;
  readonly isFlow: boolean;
  readonly start: number;
  readonly head: number;
  last: number;
  readonly parts: Read[];
}

/** Something that was read; `part` is missing where nothing is written. */
interface Read {
  readonly part?: Part;
  /** The end of what it consists of. */
  readonly end: number;
}

/** The parts of a text that parser events describe. */
export function findParts(events: readonly YamlEvent[], text: string): Part | undefined {
  const open: Open[] = [];
  let root: Part | undefined;
  const add = (read: Read) => {
    const parent = open.at(-1);
    if (!parent) return;
    parent.parts.push(read);
    parent.last = Math.max(parent.last, read.end);
  };
  // The first list holds the documents.
  for (const event of events.slice(2)) {
    const last = open.at(-1)?.last ?? 0;
    switch (event.type) {
      case EVENT_ID.SCALAR:
        add(readScalar(event, text, last));
        break;
      case EVENT_ID.ALIAS:
        add({
          part: leaf(event.anchorStart - 1, event.anchorEnd),
          end: event.anchorEnd,
        });
        break;
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const isFlow = event.style === COLLECTION_STYLE.FLOW;
        open.push({
          isMap: event.type === EVENT_ID.MAPPING,
          isFlow,
          start: event.start,
          head: startOf(event, event.start),
          last: isFlow ? event.start + 1 : event.start,
          parts: [],
        });
        break;
      }
      case EVENT_ID.POP: {
        const done = open.pop();
        if (!done) break;
        const read = done.isFlow ? readFlow(done, text) : readBlock(done, text);
        if (open.length === 0) root ??= read.part;
        else add(read);
      }
    }
  }
  return root;
}

function leaf(start: number, end: number, rest: Partial<Leaf> = {}): Leaf {
  return { kind: "leaf", start, end, quoted: [], spaces: [], ...rest };
}

type Properties = { readonly anchorStart: number; readonly tagStart: number };

/** Where a value begins with its anchor and its tag. */
function startOf({ anchorStart, tagStart }: Properties, start: number): number {
  const starts = [start, ...anchorStart > 0 ? [anchorStart - 1] : []];
  return Math.min(...starts, ...tagStart >= 0 ? [tagStart] : []);
}

type ScalarEvent = Extract<YamlEvent, { readonly valueStart: number }>;

function readScalar(event: ScalarEvent, text: string, last: number): Read {
  const { valueStart, valueEnd, style, anchorEnd, tagEnd } = event;
  if (valueStart < 0) {
    const end = Math.max(anchorEnd, tagEnd);
    if (end < 0) return { end: last };
    const start = startOf(event, end);
    return { part: leaf(start, end), end };
  }
  if (style === SCALAR_STYLE.PLAIN) {
    const part = leaf(startOf(event, valueStart), valueEnd, { isFolded: true });
    return { part, end: valueEnd };
  }
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED) {
    const [start, end] = [valueStart - 1, valueEnd + 1];
    const quoted = style === SCALAR_STYLE.SINGLE_QUOTED ? [{ start, end }] : [];
    return { part: leaf(startOf(event, start), end, { quoted, isFolded: true }), end };
  }
  // The value of a block begins at the end of its header, or in the line below it.
  const headerEnd = text[valueStart] === "\n" ? valueStart : valueStart - 1;
  const lineStart = text.lastIndexOf("\n", headerEnd - 1) + 1;
  const header = /[|>]([-+0-9]*)[ \t]*(?:#.*)?$/.exec(text.slice(lineStart, headerEnd));
  const start = header ? lineStart + header.index : valueStart;
  const part = leaf(startOf(event, start), valueEnd, {
    blockIndent: Math.max(0, event.indent),
    hasIndicator: /\d/.test(header?.[1] ?? ""),
  });
  return { part, end: valueEnd };
}

function readBlock({ isMap, start, head, parts }: Open, text: string): Read {
  const end = parts.at(-1)?.end ?? start;
  const entries: Entry[] = [];
  if (isMap) {
    for (let index = 0; index < parts.length; index += 2) {
      const [key, value] = [parts[index]!, parts[index + 1]];
      // `? key` and a key that is nothing are left as they are.
      if (key.part?.kind !== "leaf" || isExplicit(text, key.part.start)) {
        return { part: leaf(head, end), end };
      }
      const entry = { at: key.part.start, head: key.part };
      entries.push(value?.part ? { ...entry, value: value.part } : entry);
    }
    return { part: { kind: "map", start: entries[0]?.at ?? start, entries }, end };
  }
  let at = start;
  for (const { part, end } of parts) {
    const dash = nextDash(text, at);
    entries.push(part ? { at: dash, value: part } : { at: dash });
    at = Math.max(end, dash + 1);
  }
  return { part: { kind: "list", start, entries }, end: Math.max(end, at) };
}

function isExplicit(text: string, start: number): boolean {
  return /(?:^|\s)\?\s+$/.test(text.slice(text.lastIndexOf("\n", start - 1) + 1, start));
}

function nextDash(text: string, from: number): number {
  const pattern = /(?:[\s:]|#[^\n]*)*-/y;
  pattern.lastIndex = from;
  return pattern.exec(text) ? pattern.lastIndex - 1 : from;
}

function readFlow({ isMap, start, head, last, parts }: Open, text: string): Read {
  const pattern = /(?:[\s,:?]|#[^\n]*)*[\]}]/y;
  pattern.lastIndex = last;
  const end = pattern.exec(text) ? pattern.lastIndex : last;
  const leaves = parts.flatMap(({ part }) => part?.kind === "leaf" ? part : []);
  const spaces = leaves.flatMap((each) => each.spaces);
  // A template without quotes is left as it is, for the message about it to be understood.
  if (!/\n|^\{\{/.test(text.slice(start, end))) {
    const pad = isMap ? " " : "";
    const first = leaves[0];
    const final = leaves.at(-1);
    const gaps = !first || !final ? [{ from: start + 1, to: end - 1, text: "" }] : [
      { from: start + 1, to: first.start, text: pad },
      ...leaves.slice(1).map((each, index) => ({
        from: leaves[index]!.end,
        to: each.start,
        text: ", ",
      })),
      { from: final.end, to: end - 1, text: pad },
    ];
    for (const { from, to, text: wanted } of gaps) {
      const written = text.slice(from, to);
      const isColon = wanted === ", " && /^:\s+$/.test(written);
      const isGap = wanted === ", " ? /^\s*,\s*$/.test(written) : /^\s*$/.test(written);
      const right = isColon ? ": " : isGap ? wanted : written;
      if (written !== right) spaces.push({ start: from, end: to, text: right });
    }
  }
  return {
    part: leaf(head, end, { quoted: leaves.flatMap((each) => each.quoted), spaces }),
    end,
  };
}
