import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Files } from "../../host/host.ts";
import type { CommandTable, RunCommand } from "../command.ts";
import { loadDocuments } from "../documents.ts";
import { renderHelp, section, WIDTH, wrap } from "../help.ts";
import { pageOf } from "../topics.ts";

/** Prints the usage of the command that is named or of the program, or the page of a topic. */
export function helpCommand(table: CommandTable): RunCommand {
  const { fallback, commands, common } = table;
  return async ({ operands: [word] }, { host }) => {
    const command = commands.find(({ name }) => name === word);
    const page = word === undefined ? undefined : pageOf(word);
    if (word !== undefined && !command && page !== undefined) {
      host.stdout.write(await helpTopic(word, page, host.files));
      return 0;
    }
    if (word !== undefined && !command) {
      const [operand] = commands.find(({ name }) => name === "help")!.operands;
      throw new UsageError(
        `unknown command or topic "${word}"`,
        didYouMean(word, operand!.choices!) ?? "runner help --help lists them",
      );
    }
    host.stdout.write(renderHelp(command ?? fallback, commands, common));
    return 0;
  };
}

/** The page of the documents under a path below docs/, as text. Throws RunnerError. */
async function helpTopic(topic: string, page: string, files: Files): Promise<string> {
  const documents = await loadDocuments();
  const text = documents ? documents[page] : await readPage(page, files);
  if (text === undefined) {
    throw new RunnerError(
      `the page of "${topic}" is not in this build`,
      `the binary of a release has it, and a checkout, as docs/${page}`,
    );
  }
  return renderHelpPage(text);
}

async function readPage(page: string, files: Files): Promise<string | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  try {
    const path = new URL(`../../../docs/${page}`, import.meta.url);
    return new TextDecoder().decode(await files.read(path));
  } catch {
    return undefined;
  }
}

/**
 * A page of the documents as text of 80 columns; code is longer where it is. It knows what the
 * documents use: headings, paragraphs, lists, tables, fenced code, links, code and emphasis.
 */
export function renderHelpPage(page: string): string {
  const body = page.replace(/^---\n.*?\n---\n/s, "");
  // Blocks of code may hold empty lines and comments, and are taken out first.
  const pieces = body.split(/^([ \t]*```.*\n[^]*?^[ \t]*```[ \t]*)$/m);
  const blocks = pieces.flatMap((piece, index) =>
    index % 2 === 1 ? [codeLines(piece)] : proseBlocks(piece)
  );
  return blocks.map((lines) => lines.join("\n")).join("\n\n") + "\n";
}

function codeLines(fenced: string): string[] {
  const [first = "", ...lines] = fenced.trimEnd().split("\n");
  const indent = first.length - first.trimStart().length;
  return lines.slice(0, -1).map((line) => `    ${line.slice(indent)}`.trimEnd());
}

function proseBlocks(text: string): string[][] {
  return text.replace(/<!--[^]*?-->/g, "").split(/\n\s*\n/).map((block) => block.trimEnd())
    .filter((block) => block.trim() !== "").map((block) => proseLines(block.replace(/^\n+/, "")));
}

function proseLines(block: string): string[] {
  const lines = block.split("\n");
  const [first = ""] = lines;
  const heading = /^(#+) (.*)/.exec(first);
  if (heading) {
    const title = plain(heading[2]!);
    const head = [heading[1]!.length < 3 ? title.toUpperCase() : title];
    return lines.length === 1 ? head : [...head, "", ...proseLines(lines.slice(1).join("\n"))];
  }
  if (first.startsWith("|")) return tableLines(lines);
  return itemsOf(lines).flatMap(({ mark, text }) => {
    const wrapped = wrap(plain(text), WIDTH - mark.length);
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

/** The rows of a table: the first cell, and all others beside or below it. */
function tableLines(lines: readonly string[]): string[] {
  const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line)).slice(1).map((line) => {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => plain(cell.trim()));
    return [cells[0] ?? "", cells.slice(1).filter((cell) => cell !== "").join("; ")] as const;
  });
  if (rows.every(([term]) => term.length <= 28)) return section("", rows).slice(2);
  return rows.flatMap(([term, rest]) => [
    `  ${term}`,
    ...wrap(rest, WIDTH - 6).map((line) => `      ${line}`),
  ]);
}

/** Text without marks; what is between backticks stays as it is. */
function plain(text: string): string {
  const link = /(`[^`]*`)|!?\[((?:`[^`]*`|[^\]`])*)\]\([^)\s]*\)/g;
  const unlinked = text.replace(link, (_, code, title) => code ?? title);
  return unlinked.split(/(`[^`]*`)/).map((piece, index) =>
    index % 2 === 1 ? piece.slice(1, -1).replaceAll("\\|", "|") : unmarked(piece)
  ).join("");
}

function unmarked(text: string): string {
  return text.replace(/\*\*/g, "").replace(/\\([|\\<>*_[\]])/g, "$1");
}
