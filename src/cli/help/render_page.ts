import { wrapWords } from "../../base/text/display_width.ts";
import { type Layout, termLines } from "./layout.ts";

/**
 * A page of the documents as text for a terminal; code keeps its lines. It knows what the
 * documents use: headings, paragraphs, lists, tables, fenced code, links, code and emphasis.
 */
export function renderPage(page: string, layout: Layout): string {
  const body = page.replace(/^---\n.*?\n---\n/s, "");
  // Blocks of code may hold empty lines and comments, and are taken out first.
  const pieces = body.split(/^([ \t]*```.*\n[^]*?^[ \t]*```[ \t]*)$/m);
  const blocks = pieces.flatMap((piece, index) =>
    index % 2 === 1 ? [codeLines(piece)] : proseBlocks(piece, layout)
  );
  return blocks.map((lines) => lines.join("\n")).join("\n\n") + "\n";
}

function codeLines(fenced: string): string[] {
  const [first = "", ...lines] = fenced.trimEnd().split("\n");
  const indent = first.length - first.trimStart().length;
  return lines.slice(0, -1).map((line) => `    ${line.slice(indent)}`.trimEnd());
}

function proseBlocks(text: string, layout: Layout): string[][] {
  return text.replace(/<!--[^]*?-->/g, "").split(/\n\s*\n/).map((block) => block.trimEnd())
    .filter((block) => block.trim() !== "").map((block) =>
      proseLines(block.replace(/^\n+/, ""), layout)
    );
}

function proseLines(block: string, layout: Layout): string[] {
  const lines = block.split("\n");
  const [first = ""] = lines;
  const heading = /^(#+) (.*)/.exec(first);
  if (heading) {
    const title = plainText(heading[2]!);
    const head = [layout.bold(heading[1]!.length < 3 ? title.toUpperCase() : title)];
    const rest = lines.slice(1).join("\n");
    return rest === "" ? head : [...head, "", ...proseLines(rest, layout)];
  }
  if (first.startsWith("|")) return tableLines(lines, layout);
  return itemsOf(lines).flatMap(({ mark, text }) => {
    const wrapped = wrapWords(plainText(text), layout.width - mark.length);
    return wrapped.map((line, index) => (index === 0 ? mark : " ".repeat(mark.length)) + line);
  });
}

/** The items of a list, or a paragraph as one item without a mark. */
function itemsOf(lines: readonly string[]): { mark: string; text: string }[] {
  const items: { mark: string; text: string }[] = [];
  for (const line of lines) {
    const [, mark, text = line.trim()] = /^( *(?:[-*]|\d+\.) )(.*)/.exec(line) ?? [];
    const last = items.at(-1);
    if (mark !== undefined || !last) items.push({ mark: mark ?? "", text });
    else last.text += ` ${text}`;
  }
  return items;
}

/** Columns whose cells need their titles. */
const LABELLED = ["Default", "Sees"];

/** The rows of a table: the first cell, and all others beside or below it. */
function tableLines(lines: readonly string[], { width }: Layout): string[] {
  const [titles = [], ...cells] = lines.filter((line) => !/^[|\s:-]+$/.test(line)).map((line) =>
    line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => plainText(cell.trim()))
  );
  const rows = cells.map(([term = "", ...rest]) => {
    const parts = rest.map((cell, index) => {
      const title = titles[index + 1] ?? "";
      const isNamed = LABELLED.includes(title) && cell !== "" && cell !== "required";
      return isNamed ? `${title.toLowerCase()}: ${cell}` : cell;
    });
    return [term, parts.filter((part) => part !== "").join("; ")] as const;
  });
  return termLines(rows, width);
}

/** A line of Markdown without marks; what is between backticks stays as it is. */
export function plainText(text: string): string {
  const link = /(`[^`]*`)|!?\[((?:`[^`]*`|[^\]`])*)\]\([^)\s]*\)/g;
  const unlinked = text.replace(link, (_, code, title) => code ?? title);
  return unlinked.split(/(`[^`]*`)/).map((piece, index) =>
    index % 2 === 1 ? piece.slice(1, -1).replaceAll("\\|", "|") : unmarked(piece)
  ).join("");
}

function unmarked(text: string): string {
  return text.replace(/\*\*/g, "").replace(/\\([|\\<>*_[\]])/g, "$1");
}
