import type { CST } from "yaml";
import { LoadError } from "../errors.ts";
import type { Source } from "../source.ts";
import { EVENT_ID, getScalarValue, parseYaml, SCALAR_STYLE, YamlFault } from "./parse_yaml.ts";
import { orLoadError } from "./yaml_fault.ts";

/**
 * The text of a YAML file as the examples of the project are written: two more spaces for each
 * level, also for lists, double quotes, at most one blank line, and a map or list in brackets that
 * is too long for a line as a block. Comments and line breaks stay. Throws LoadError if it is not
 * YAML, or if its meaning would change.
 */
export async function formatYaml(file: Source, what = "workflow file"): Promise<string> {
  const lineBreak = file.text.includes("\r\n") ? "\r\n" : "\n";
  const unix = { ...file, text: file.text.replaceAll("\r\n", "\n") };
  const before = orLoadError(() => meaningOf(unix));
  const { default: { Parser } } = await import("yaml") as unknown as {
    // Its types do not have the export that CommonJS packages have in all forms of the program.
    readonly default: typeof import("yaml");
  };
  const text = layOut(unix.text, new Parser().parse(unix.text));
  if (!hasMeaning({ ...file, text }, before)) {
    throw new LoadError(
      `cannot format ${what} '${file.name}': its meaning would change`,
      [],
      "it uses a form of YAML that cannot be laid out; the file is left as it is",
    );
  }
  return text.replaceAll("\n", lineBreak);
}

function hasMeaning(file: Source, meaning: string): boolean {
  try {
    return meaningOf(file) === meaning;
  } catch (error) {
    if (error instanceof YamlFault) return false;
    throw error;
  }
}

/**
 * Everything the parser reads in a file except positions and the kind of quotes: what determines
 * the values. Unlike values, it also exists for a file whose aliases refer to another file.
 */
function meaningOf(file: Source): string {
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
}

const STEP = 2;

/** A map or list in brackets that would end in a later column becomes a block. */
const LONGEST_LINE = 100;

/** The column in which the entries of a block begin, before and after. */
interface Level {
  readonly old: number;
  readonly new: number;
}

/** The text of all tokens, in new columns. */
function layOut(text: string, tokens: Iterable<CST.Token>): string {
  const printer = new Printer(text);
  for (const token of tokens) printer.print(token);
  return printer.end();
}

/** Prints tokens as they are, but for the spaces before and between them. */
class Printer {
  readonly #text: string;
  readonly #lines: string[] = [];
  #line = "";
  /** The indentation of the line before, and by how much it is more now. */
  #spaces = 0;
  #shift = 0;
  #isNewLine = true;
  /** The lines that stay, even if they are empty and the last ones. */
  #kept = 0;

  constructor(text: string) {
    this.#text = text;
  }

  print(token: CST.Token): void {
    if (token.type !== "document") return this.#tokens([token as CST.SourceToken], 0, []);
    this.#tokens(token.start, 0, []);
    if (token.value) this.#node(token.value, 0, []);
    this.#tokens(token.end ?? [], 0, []);
  }

  end(): string {
    if (!this.#isNewLine) this.#break();
    while (this.#lines.length > this.#kept && this.#lines.at(-1) === "") this.#lines.pop();
    return `${this.#lines.join("\n")}\n`;
  }

  #write(source: string, column: number): void {
    if (this.#isNewLine) {
      this.#shift = column - this.#spaces;
      this.#line = " ".repeat(column);
      this.#isNewLine = false;
    }
    this.#line += source;
  }

  #break(line = this.#line.trimEnd()): void {
    this.#lines.push(line);
    this.#line = "";
    this.#spaces = 0;
    this.#isNewLine = true;
  }

  /** Ends a line between nodes, where several blank lines are one. */
  #endLine(): void {
    const isBlank = this.#isNewLine && this.#lines.length > this.#kept;
    if (isBlank && this.#lines.at(-1) === "" || this.#isNewLine && this.#lines.length === 0) {
      this.#spaces = 0;
    } else this.#break();
  }

  /**
   * Prints what is between nodes. What begins a line begins in `column`, a ":" in that of the
   * mapping, and a comment in that of its level.
   */
  #tokens(
    tokens: readonly CST.SourceToken[],
    column: number,
    levels: readonly Level[],
    colon = column,
  ): void {
    for (const [index, { type, source, indent }] of tokens.entries()) {
      if (type === "newline") this.#endLine();
      else if (type === "comment") this.#write(source, columnOfComment(indent, levels));
      else if (type !== "space") {
        this.#write(source, type === "map-value-ind" ? colon : column);
      } else if (this.#isNewLine) this.#spaces = source.length;
      else this.#line += tokens[index + 1]?.type === "comment" ? source : " ";
    }
  }

  #node(node: CST.Token, column: number, levels: readonly Level[]): void {
    switch (node.type) {
      case "block-map":
      case "block-seq":
        return this.#block(node, column, [...levels, { old: node.indent, new: column }]);
      case "block-scalar":
        return this.#blockScalar(node, levels);
      case "flow-collection":
        this.#flow(node, column);
        return this.#tokens(node.end.slice(1), column, levels);
      default:
    }
    if (!("source" in node)) return;
    const [first = "", ...rest] = requoted(node).split("\n");
    this.#write(first, column);
    const inner = (levels.at(-1)?.new ?? -STEP) + STEP;
    for (const line of rest) {
      this.#break();
      this.#write(line.trim(), inner);
    }
    if ("end" in node) this.#tokens(node.end ?? [], column, levels);
  }

  #block(block: CST.BlockMap | CST.BlockSequence, column: number, levels: readonly Level[]): void {
    const inner = column + STEP;
    for (const { start, key, sep = [], value } of block.items) {
      this.#tokens(start, column, levels);
      if (key) this.#node(key, isBlock(key) ? inner : column, levels);
      const unfolded = value?.type === "flow-collection" && this.#unfold(value, key && sep);
      if (unfolded) {
        this.#tokens(unfolded.sep, inner, levels, column);
        this.#node(unfolded.block, inner, levels);
        this.#tokens(unfolded.end, inner, levels);
        continue;
      }
      // A comment in the line before a block belongs to it.
      const around = isBlock(value) ? [...levels, { old: value.indent, new: inner }] : levels;
      this.#tokens(sep, inner, around, column);
      if (value) this.#node(value, inner, levels);
    }
  }

  /** A map or list in brackets as a block, if it is too long for its line; `sep` is of its key. */
  #unfold(flow: CST.FlowCollection, sep?: readonly CST.SourceToken[] | null): Unfolded | undefined {
    const text = this.#flowText(flow);
    const before = this.#line.length + (sep ? ": ".length : 0);
    if (before + text.length <= LONGEST_LINE || text.includes("\n")) return undefined;
    const block = blockOf(flow);
    const [, ...end] = flow.end;
    const comment = end.findIndex(({ type }) => type === "comment");
    if (!block || !sep && comment >= 0) return undefined;
    return {
      sep: sep ? [...withoutSpace(sep), ...end.slice(0, comment + 1), token("newline", "\n")] : [],
      block,
      end: end.slice(comment + 1),
    };
  }

  #blockScalar({ props, source }: CST.BlockScalar, levels: readonly Level[]): void {
    const level = levels.at(-1) ?? { old: 0, new: 0 };
    this.#tokens(props as CST.SourceToken[], level.new, levels);
    const hasIndicator = props.some(({ type, source }: CST.Token & { source?: string }) =>
      type === "block-scalar-header" && /\d/.test(source!)
    );
    const indent = /^(?: *\n)*( *)/.exec(source)![1]!.length;
    const by = hasIndicator ? level.new - level.old : level.new + STEP - indent;
    for (const line of source.replace(/\n *$/, "").split("\n")) {
      const [{ length }] = /^ */.exec(line)!;
      const isBlank = line.length === length && length <= indent;
      this.#break(isBlank ? "" : " ".repeat(Math.max(0, length + by)) + line.slice(length));
    }
    this.#kept = this.#lines.length;
  }

  /** A list or mapping in brackets. The lines of one are moved together. */
  #flow(flow: CST.FlowCollection, column: number): void {
    const [first = "", ...rest] = this.#flowText(flow).split("\n");
    this.#write(first, column);
    const shift = this.#shift;
    for (const line of rest) {
      this.#break();
      this.#spaces = /^ */.exec(line)![0].length;
      this.#write(line.slice(this.#spaces), Math.max(0, this.#spaces + shift));
    }
  }

  #flowText({ start, items, end, offset }: CST.FlowCollection): string {
    const written = this.#text.slice(offset, end[0]?.offset);
    // A template without quotes is left as it is, for the message about it to be understood.
    const isLaidOut = !written.includes("\n") && !written.startsWith("{{");
    const between = (tokens: readonly CST.SourceToken[] = []) => {
      const text = tokens.map(({ source }) => source).join("");
      return isLaidOut ? text.replace(/ +/g, " ").replace(/^ ?, ?/, ", ") : text;
    };
    const nodeText = (node: CST.Token | null | undefined): string => {
      if (!node || !("source" in node) && node.type !== "flow-collection") return "";
      const [text, after] = node.type === "flow-collection"
        ? [this.#flowText(node), node.end.slice(1)]
        : [requoted(node), "end" in node ? node.end : []];
      return isLaidOut ? text : text + between(after);
    };
    const inner = items.map(({ start, key, sep, value }) =>
      between(start) + nodeText(key) + between(sep) + nodeText(value)
    ).join("");
    const close = end[0]?.source ?? "";
    if (!isLaidOut) return start.source + inner + close;
    const pad = start.type === "flow-map-start" && inner.trim() !== "" ? " " : "";
    return start.source + pad + inner.trim() + pad + close;
  }
}

/** A block in place of brackets: what follows its key, the block, and what follows it. */
interface Unfolded {
  readonly sep: readonly CST.SourceToken[];
  readonly block: CST.BlockMap | CST.BlockSequence;
  readonly end: readonly CST.SourceToken[];
}

/** The entries of brackets as a block; undefined where these have no such form. */
function blockOf({ start, items, offset }: CST.FlowCollection): Unfolded["block"] | undefined {
  const isMap = start.type === "flow-map-start";
  const entries = items.filter(({ key, value, sep }) => key || value || sep);
  const hasForm = ({ start, key, value }: typeof entries[number]) =>
    !start.some(({ type }) => type === "explicit-key-ind") &&
    (isMap ? key && key.type !== "flow-collection" : value && !key);
  if (entries.length === 0 || !entries.every(hasForm)) return undefined;
  const blockItems = entries.map(({ start, key, sep = [], value }, index) => {
    const props = withoutSpace(start);
    const begin = [
      ...(index === 0 ? [] : [token("newline", "\n")]),
      ...(isMap ? [] : [token("seq-item-ind", "-"), token("space", " ")]),
      ...props.flatMap((prop) => [prop, token("space", " ")]),
    ];
    if (!isMap) return { start: begin, value };
    const [colon = token("map-value-ind", ":"), ...tags] = withoutSpace(sep);
    const after = [
      colon,
      token("space", " "),
      ...tags.flatMap((tag) => [tag, token("space", " ")]),
    ];
    return { start: begin, key, sep: after, value };
  });
  const block = { type: isMap ? "block-map" : "block-seq", offset, indent: 0, items: blockItems };
  return block as unknown as Unfolded["block"];
}

/** Spaces, commas and line breaks between tokens are written anew. */
function withoutSpace(tokens: readonly CST.SourceToken[]): readonly CST.SourceToken[] {
  return tokens.filter(({ type }) => type !== "space" && type !== "comma" && type !== "newline");
}

function token(type: CST.SourceToken["type"], source: string): CST.SourceToken {
  return { type, offset: 0, indent: 0, source };
}

function isBlock(node: CST.Token | undefined): node is CST.BlockMap | CST.BlockSequence {
  return node?.type === "block-map" || node?.type === "block-seq";
}

/** A comment stays with the entries that began in its column, or with those around it. */
function columnOfComment(column: number, levels: readonly Level[]): number {
  const level = levels.findLast(({ old }) => old <= column);
  return level ? level.new + (column > level.old ? STEP : 0) : 0;
}

/** Double quotes in place of single ones, where no character of the text must be written otherwise. */
function requoted({ type, source }: { readonly type: string; readonly source: string }): string {
  return type === "single-quoted-scalar" && /^'[^"\\\n]*'$/.test(source)
    ? `"${source.slice(1, -1).replaceAll("''", "'")}"`
    : source;
}
