import type { ImportFile } from "./draft.ts";
import { linesOf, problemAt } from "./import_problem.ts";

/** The blocks of a file by their names: `meta`, `body:json`. */
export type Blocks = ReadonlyMap<string, Block>;

export type TextPairs = readonly (readonly [key: string, value: string])[];

export interface Block {
  /** The lines inside, without their indentation. */
  readonly lines: readonly string[];
  /** The pairs inside, where they are not written in lines. */
  readonly pairs?: TextPairs;
}

/** Reads the blocks of a file; one ends with its bracket at the beginning of a line. */
export function readBlocks(file: ImportFile): Blocks {
  const blocks = new Map<string, Block>();
  let open: { name: string; end: string; at: number; lines: string[] } | undefined;
  for (const { text, offset } of linesOf(file)) {
    if (open) {
      if (text === open.end) {
        blocks.set(open.name, { lines: open.lines });
        open = undefined;
      } else open.lines.push(text.replace(/^ {2}/, ""));
    } else if (text.trim() !== "") {
      const [, name = "", mark = ""] = /^([\w:-]+)\s*([{[])\s*$/.exec(text) ?? [];
      if (name === "") {
        throw problemAt(file, offset, "expected a block", "blocks are written name { … }");
      }
      open = { name, end: mark === "{" ? "}" : "]", at: offset, lines: [] };
    }
  }
  if (open) throw problemAt(file, open.at, `the block "${open.name}" is not closed`);
  return blocks;
}

/** An annotation, or a pair, whose text may be in several lines between three quotes. */
const PAIR =
  /^[ \t]*(?:@\w+\((?:'''[^]*?'''|.*)\)|("[^"\n]*"|[^\s:@][^:\n]*?)[ \t]*:[ \t]*(?:'''\n([^]*?)'''[ \t]*(@contentType\(.*\))?|(.*)))[ \t]*$/gm;

/** The pairs of a block but those that are switched off by `~`. */
export function pairsOf(blocks: Blocks | undefined, name: string): TextPairs {
  const { lines = [], pairs } = blocks?.get(name) ?? {};
  return pairs ??
    [...lines.join("\n").matchAll(PAIR)].flatMap(([, key = "", text, type = "", value = ""]) => {
      if (key === "" || key.startsWith("~")) return [];
      const whole = text === undefined ? value : `${text.replace(/^ {2}/gm, "").trimEnd()} ${type}`;
      return [[key.replace(/^"|"$/g, ""), whole.trim()] as const];
    });
}
