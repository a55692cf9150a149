/**
 * The documents for users and the blocks of code in them.
 *
 * A comment before a block says what a test does with it:
 *
 * - `<!-- file: name.yml -->` the block is a file of that name, for the blocks after it
 * - `<!-- fails -->` it is run, and exits with 1
 * - `<!-- output -->` it is the output of the block before it; a line `…` matches any lines
 * - `<!-- in checkout -->` the command is run in the checkout
 * - `<!-- only loaded: reason -->` the workflow is loaded and not run
 * - `<!-- ci -->` it is a file for a CI system; the commands of runner in it are run
 * - `<!-- not run: reason -->` nothing is done with it
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";

/** The directory of the checkout. */
export const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url));

/** A fenced block of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Where its fence begins, from 1. */
  readonly line: number;
  /** The marks in the comments before it, by the word before the colon. */
  readonly marks: ReadonlyMap<string, string>;
}

/** README.md and all pages of docs/, by their paths from the checkout. */
export async function listDocuments(): Promise<string[]> {
  const pages = await listPages("docs");
  const examples = ["examples/README.md", "examples/plugins/README.md"];
  return ["README.md", ...examples, ...pages.sort()];
}

async function listPages(directory: string): Promise<string[]> {
  const pages: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(CHECKOUT, directory))) {
    const path = `${directory}/${name}`;
    if (isDirectory) pages.push(...await listPages(path));
    else if (name.endsWith(".md")) pages.push(path);
  }
  return pages;
}

/** The text of a document. */
export function readDocument(path: string): Promise<string> {
  return Deno.readTextFile(join(CHECKOUT, path));
}

const COMMENT = /^<!-- (.*) -->$/;
const FENCE = /^(\s*)```(\S*)\s*$/;

/** The fenced blocks of a document, in their order. */
export function readBlocks(document: string): Block[] {
  const blocks: Block[] = [];
  const lines = document.split("\n");
  let marks = new Map<string, string>();
  for (let at = 0; at < lines.length; at++) {
    const comment = COMMENT.exec(lines[at]!.trim())?.[1];
    const [, indent, language] = FENCE.exec(lines[at]!) ?? [];
    if (comment !== undefined) {
      const [, key = "", value = ""] = /^([^:]*?)(?::\s*(.*))?$/.exec(comment)!;
      marks.set(key, value);
    } else if (indent !== undefined && language !== undefined) {
      const end = lines.indexOf(`${indent}\`\`\``, at + 1);
      if (end < 0) throw new Error(`the block in line ${at + 1} has no end`);
      const inner = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
      blocks.push({ language, text: inner.join("\n") + "\n", line: at + 1, marks });
      marks = new Map();
      at = end;
    } else if (lines[at]!.trim() !== "") {
      marks = new Map();
    }
  }
  return blocks;
}
