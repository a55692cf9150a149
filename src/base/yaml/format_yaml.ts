import { LoadError } from "../errors.ts";
import { lineAt, lineStarts, type Source } from "../source.ts";
import {
  EVENT_ID,
  getScalarValue,
  type ParsedYaml,
  parseYaml,
  SCALAR_STYLE,
  YamlFault,
} from "./parse_yaml.ts";
import { orLoadError } from "./read_yaml.ts";
import { buildTree, type YamlList, type YamlMap, type YamlNode } from "./yaml_tree.ts";

/**
 * The text of a YAML file as the examples of the project are written: two more spaces for each
 * level, also for lists, and double quotes. Comments, blank lines and line breaks stay. Throws
 * LoadError if it is not YAML, or if its meaning would change.
 */
export function formatYaml(file: Source, what = "workflow file"): string {
  const lineBreak = file.text.includes("\r\n") ? "\r\n" : "\n";
  const unix = { ...file, text: file.text.replaceAll("\r\n", "\n") };
  const before = orLoadError(() => parseYaml([unix]));
  const text = layOut(before);
  if (meaningOf({ ...file, text }) !== meaningOf(unix)) {
    throw new LoadError(
      `cannot format ${what} '${file.name}': its meaning would change`,
      [],
      "it uses a form of YAML that cannot be laid out; the file is left as it is",
    );
  }
  return text.replaceAll("\n", lineBreak);
}

/**
 * Everything the parser reads in a file except positions and the kind of quotes: what determines
 * the values. Unlike values, it also exists for a file whose aliases refer to another file.
 */
function meaningOf(file: Source): string | undefined {
  try {
    const { events, text } = parseYaml([file]);
    return JSON.stringify(events.map((event) => {
      if (event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return event.type;
      const anchor = text.slice(event.anchorStart, event.anchorEnd);
      if (event.type === EVENT_ID.ALIAS) return [event.type, anchor];
      const tag = text.slice(event.tagStart, event.tagEnd);
      if (event.type !== EVENT_ID.SCALAR) return [event.type, anchor, tag];
      const isPlain = event.style === SCALAR_STYLE.PLAIN;
      return [event.type, anchor, tag, isPlain, getScalarValue(text, event)];
    }));
  } catch (error) {
    if (error instanceof YamlFault) return undefined;
    throw error;
  }
}

/** A change of a part of the text, in offsets. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Where a block begins, in columns, before and after. */
interface Level {
  readonly old: number;
  readonly new: number;
}

interface Layout {
  readonly text: string;
  readonly lineStarts: readonly number[];
  readonly edits: Edit[];
  /** The columns at which lines begin. */
  readonly columns: Map<number, number>;
  /** The blocks around the first thing in a line, and around its last one. */
  readonly levels: Map<number, { readonly first: readonly Level[]; last: readonly Level[] }>;
  /** Lines that belong to texts and to collections in brackets. */
  readonly inner: Set<number>;
  /** Lines of block texts, whose ends mean something. */
  readonly verbatim: Set<number>;
}

const STEP = 2;

function layOut({ text, events }: ParsedYaml): string {
  const layout: Layout = {
    text,
    lineStarts: lineStarts(text),
    edits: [],
    columns: new Map(),
    levels: new Map(),
    inner: new Set(),
    verbatim: new Set(),
  };
  const [root] = buildTree(events, text).roots;
  if (root && isBlock(root, text)) visitBlock(root, 0, [], layout);
  return write(layout);
}

type Block = YamlMap | YamlList;

/**
 * Whether a node is a list or mapping that is laid out in lines. One in brackets, and a mapping with
 * `? key` or with a key that is nothing, are left as they are.
 */
function isBlock(node: YamlNode, text: string): node is Block {
  if (node.kind !== "map" && node.kind !== "list" || node.isFlow) return false;
  return node.kind === "list" ||
    node.pairs.every(({ key }) =>
      isWritten(key) && !isBlock(key, text) && !isExplicit(text, key.outerStart)
    );
}

function isExplicit(text: string, start: number): boolean {
  return /(?:^|\s)\?\s+$/.test(text.slice(text.lastIndexOf("\n", start - 1) + 1, start));
}

/** Whether there is anything of a node in the text: a value, an anchor or a tag. */
function isWritten(node: YamlNode): boolean {
  return node.outerStart < node.outerEnd;
}

function visitBlock(
  block: Block,
  column: number,
  around: readonly Level[],
  layout: Layout,
): void {
  const { text } = layout;
  const level = { old: columnOf(startOfBlock(block), layout), new: column };
  const levels = [...around, level];
  const entries = block.kind === "map"
    ? block.pairs.map(({ key, value }) => ({ at: key.outerStart, key, value }))
    : block.items.map(({ dash, value }) => ({ at: dash, key: undefined, value }));
  for (const { at, key, value } of entries) {
    setColumn(at, column, levels, layout);
    if (key) visitLeaf(key, level, layout);
    if (!isWritten(value)) continue;
    const from = key ? text.indexOf(":", key.outerEnd) + 1 : at + 1;
    const inBlock = isBlock(value, text);
    const valueStart = inBlock ? startOfBlock(value) : value.outerStart;
    const gap = text.slice(from, valueStart);
    const isBeside = !gap.includes("\n");
    if (isBeside && gap !== " " && gap !== "" && !gap.includes("#")) {
      layout.edits.push({ start: from, end: valueStart, text: " " });
    }
    const inner = column + STEP;
    if (inBlock) {
      visitBlock(value, inner, levels, layout);
    } else {
      if (!isBeside) setColumn(valueStart, inner, levels, layout);
      visitLeaf(value, level, layout);
    }
  }
}

/** Where the first key or dash of a block is, or the anchor before it. */
function startOfBlock(block: Block): number {
  return block.kind === "map" ? block.pairs[0]?.key.outerStart ?? block.start : block.start;
}

/** Notes the column of a line if this is the first thing in it. */
function setColumn(offset: number, column: number, levels: readonly Level[], layout: Layout): void {
  const line = lineOf(offset, layout);
  const known = layout.levels.get(line);
  if (known) {
    known.last = levels;
    return;
  }
  layout.levels.set(line, { first: levels, last: levels });
  const isFirst = layout.text.slice(layout.lineStarts[line], offset).trim() === "";
  if (isFirst) layout.columns.set(line, column);
}

/** Moves the continuation lines of a text or of brackets with the first line. */
function visitLeaf(leaf: YamlNode, owner: Level, layout: Layout): void {
  editLeaf(leaf, layout);
  const first = lineOf(leaf.outerStart, layout);
  const last = lineOf(Math.max(leaf.outerStart, leaf.outerEnd - 1), layout);
  const block = leaf.kind === "scalar" && leaf.style === "block" ? leaf : undefined;
  const isFolded = leaf.kind === "scalar" && !block && leaf.start < leaf.end;
  const by = !block
    ? (layout.columns.get(first) ?? owner.new) -
      (layout.columns.has(first) ? indentOf(first, layout) : owner.old)
    : block.hasIndicator
    ? owner.new - owner.old
    : owner.new + STEP - block.indent;
  for (let line = first + 1; line <= last; line++) {
    layout.inner.add(line);
    if (block) layout.verbatim.add(line);
    const moved = Math.max(0, indentOf(line, layout) + by);
    layout.columns.set(line, isFolded ? owner.new + STEP : moved);
  }
}

/** Quotes and spaces in a text or in brackets; anything else is left as it is. */
function editLeaf(leaf: YamlNode, layout: Layout): void {
  if (leaf.kind === "scalar" && leaf.style === "single") requote(leaf, layout);
  if (leaf.kind !== "map" && leaf.kind !== "list" || !leaf.isFlow) return;
  const parts = leaf.kind === "list"
    ? leaf.items.map(({ value }) => value)
    : leaf.pairs.flatMap(({ key, value }) => [key, value]);
  const written = parts.filter(isWritten);
  for (const part of written) editLeaf(part, layout);
  const { text, edits } = layout;
  // A template without quotes is left as it is, for the message about it to be understood.
  if (/\n|^\{\{/.test(text.slice(leaf.start, leaf.end))) return;
  const pad = leaf.kind === "map" && written.length > 0 ? " " : "";
  let at = leaf.start + 1;
  for (const [index, part] of [...written, undefined].entries()) {
    const [start, end] = [at, part?.outerStart ?? leaf.end - 1];
    const gap = text.slice(start, end);
    const isBetween = index > 0 && part !== undefined;
    const wanted = isBetween && /^:\s+$/.test(gap)
      ? ": "
      : isBetween && /^\s*,\s*$/.test(gap)
      ? ", "
      : !isBetween && gap.trim() === ""
      ? pad
      : gap;
    if (wanted !== gap) edits.push({ start, end, text: wanted });
    at = part?.outerEnd ?? at;
  }
}

/** Double quotes in place of single ones, where no character of the text must be written otherwise. */
function requote({ start, end }: YamlNode, { text, edits }: Layout): void {
  const written = text.slice(start, end);
  if (!/^'[^"\\\n]*'$/.test(written)) return;
  edits.push({ start, end, text: `"${written.slice(1, -1).replaceAll("''", "'")}"` });
}

function write(layout: Layout): string {
  const { text, lineStarts, columns, inner, verbatim } = layout;
  const edits = layout.edits.toSorted((a, b) => a.start - b.start);
  const lines: string[] = [];
  let next = 0;
  for (const [line, start] of lineStarts.entries()) {
    const end = (lineStarts[line + 1] ?? text.length + 1) - 1;
    const indent = indentOf(line, layout);
    let content = "";
    let at = start + indent;
    for (; next < edits.length && edits[next]!.start < end; next++) {
      const edit = edits[next]!;
      content += text.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    content += text.slice(at, Math.max(at, end));
    if (!verbatim.has(line)) content = content.trimEnd();
    const column = columns.get(line) ??
      (!inner.has(line) && content.startsWith("#")
        ? columnOfComment(line, indent, layout)
        : indent);
    const isEmpty = content === "" && (!verbatim.has(line) || column === 0);
    lines.push(isEmpty ? "" : " ".repeat(column) + content);
  }
  let last = lines.length;
  while (last > 1 && lines[last - 1] === "" && !inner.has(last - 1)) last--;
  return `${lines.slice(0, last).join("\n")}\n`;
}

/** A comment moves with the line below if it began in the same column, else with the line above. */
function columnOfComment(line: number, column: number, layout: Layout): number {
  const below = nearest(line, 1, layout)?.first ?? [];
  const above = nearest(line, -1, layout)?.last ?? [];
  const exact = below.findLast(({ old }) => old === column) ??
    above.findLast(({ old }) => old === column);
  if (exact) return exact.new;
  const around = [...below, ...above].filter(({ old }) => old < column);
  const owner = around.reduce<Level | undefined>(
    (best, level) => best && best.old >= level.old ? best : level,
    undefined,
  );
  return owner ? owner.new + STEP : 0;
}

function nearest(line: number, step: 1 | -1, { levels, lineStarts }: Layout) {
  for (let at = line + step; at >= 0 && at < lineStarts.length; at += step) {
    const found = levels.get(at);
    if (found) return found;
  }
  return undefined;
}

function lineOf(offset: number, { lineStarts }: Layout): number {
  return lineAt(lineStarts, offset);
}

/** The column of an offset. */
function columnOf(offset: number, layout: Layout): number {
  return offset - layout.lineStarts[lineOf(offset, layout)]!;
}

/** The number of spaces before a line. */
function indentOf(line: number, { text, lineStarts }: Layout): number {
  const start = lineStarts[line]!;
  return /^ */.exec(text.slice(start, start + 1000))![0].length;
}
