import { LoadError } from "../base/errors.ts";
import { type ImportFile, problemAt } from "./input.ts";

/** The name of a variable of the shell in a word, between marks that no text has. */
export const VARIABLE = /\ue000(\w+)\ue000/g;

interface ShellCommands {
  readonly commands: readonly (readonly string[])[];
  /** The lines that cannot be read. */
  readonly faults: readonly { readonly line: string; readonly error: LoadError }[];
}

/**
 * The commands of a text and their words, as a POSIX shell or bash reads them; variables are marked.
 * A line that begins with an option belongs to the command before it, since people lose the
 * backslash at the end of a line. What a command reads or writes is left out.
 */
export function shellCommands(input: ImportFile): ShellCommands {
  const file = { ...input, text: withoutCarets(withoutTypography(input.text)) };
  const faults: { line: string; error: LoadError }[] = [];
  const { text } = file;
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let at = 0;
  const add = (part: string) => void (word = (word ?? "") + part);
  const closing = (mark: string, from: number) => {
    const end = text.indexOf(mark, from);
    if (end < 0) throw problemAt(file, from - 1, `the quote ${mark} is not closed`);
    return end;
  };
  const endOfLine = (from: number) => {
    const found = text.indexOf("\n", from);
    return found < 0 ? text.length : found;
  };
  const end = () => {
    if (words.length > 0) commands.push(words);
    words = [];
  };
  let start = 0;
  while (at < text.length) {
    if (words.length === 0 && word === undefined) start = at;
    try {
      const letter = text[at]!;
      if (/\s/.test(letter)) {
        if (word !== undefined) words.push(word);
        word = undefined;
        if (letter === "\n" && !/^\s*-/.test(text.slice(at))) end();
        at++;
      } else if (letter === "#" && word === undefined) {
        at = endOfLine(at);
      } else if (letter === "\\" || letter === "^" && /^\^\r?\n/.test(text.slice(at, at + 3))) {
        // A backslash, or a caret of cmd.exe, at the end of a line continues it.
        const next = text[at + 1] ?? "";
        if (next === "\n") at += 2;
        else if (next === "\r") at += 3;
        else {
          add(next);
          at += 2;
        }
      } else if (letter === "'") {
        const end = closing("'", at + 1);
        add(text.slice(at + 1, end));
        at = end + 1;
      } else if (letter === "$" && text[at + 1] === "'") {
        let end = at + 2;
        while (end < text.length && text[end] !== "'") end += text[end] === "\\" ? 2 : 1;
        if (end >= text.length) throw problemAt(file, at + 1, "the quote ' is not closed");
        add(unescape(text.slice(at + 2, end)));
        at = end + 1;
      } else if (letter === '"') {
        let end = at + 1;
        while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
        if (end >= text.length) throw problemAt(file, at, 'the quote " is not closed');
        for (let from = at + 1; from < end;) {
          const [, escaped] = /^\\(\n|[\\"$`])/.exec(text.slice(from, from + 2)) ?? [];
          const expanded = escaped === undefined ? expansionAt(file, from) : undefined;
          if (escaped !== undefined) add(escaped === "\n" ? "" : escaped);
          else add(expanded ? mark(expanded.name) : text[from]!);
          from = escaped !== undefined ? from + 2 : expanded?.end ?? from + 1;
        }
        add("");
        at = end + 1;
      } else if (expansionAt(file, at)) {
        const { name, end } = expansionAt(file, at)!;
        add(mark(name));
        at = end;
      } else if (
        /[|;&]/.test(letter) && word === undefined || /^;(?:\s|$)/.test(text.slice(at, at + 2))
      ) {
        if (word !== undefined) words.push(word);
        word = undefined;
        end();
        at++;
      } else if (/[<>]/.test(letter) && (word === undefined || /^\d$/.test(word))) {
        word = undefined;
        at += /^[<>]+&?[ \t]*\S*/.exec(text.slice(at))![0].length;
      } else {
        add(letter);
        at++;
      }
    } catch (error) {
      // A line that cannot be read costs no other one.
      if (!(error instanceof LoadError)) throw error;
      const [line] = /^(?:\\[^]|\n\s*(?=-)|.)*/.exec(text.slice(start))!;
      faults.push({ line: line.replace(/\s+/g, " ").trim(), error });
      [words, word, at] = [[], undefined, start + line.length];
    }
  }
  if (word !== undefined) words.push(word);
  end();
  return { commands, faults };
}

/** The option that a word with dashes of a word processor is: `–X`, `—data`. */
export function withPlainDashes(word: string): string {
  return word.replace(
    /^(?=-*[–—])[–—-]+(?=\w)([a-z][a-z\d-]{2,})?/,
    (_, name) => name === undefined ? "-" : `--${name}`,
  );
}

/** A text with the quotes and dashes of a shell in place of those that a page made of them. */
function withoutTypography(text: string): string {
  return text.replace(
    /'[^']*'|"(?:[^"\\]|\\.)*"|[“”„]([^“”„]*)[“”„]|[‘’‚]([^‘’]*)[‘’]|(?<=\s)-*[–—][–—-]*\w[\w-]*/g,
    (all, double, single) => {
      if (double !== undefined) return `"${double}"`;
      if (single !== undefined) return `'${single.replace(/[“”„]/g, '"')}'`;
      return withPlainDashes(all);
    },
  );
}

/**
 * A command for cmd.exe as browsers copy it today, with a caret before each quote and sign, as one
 * for a shell. A caret before two line breaks is a line break of a text.
 */
function withoutCarets(text: string): string {
  if (!/\s\^"/.test(text)) return text;
  return text.replace(/\^(?:(\r?\n\r?\n)|(\r?\n)|(.))|[$`]/g, (all, lines, line, letter) => {
    if (lines !== undefined) return "\n";
    if (line !== undefined) return " ";
    return /[$`]/.test(letter ?? all) ? `\\${letter ?? all}` : letter;
  });
}

function mark(name: string): string {
  return `\ue000${name}\ue000`;
}

/** The variable that a shell puts in the place of `$NAME` or `${NAME}`. */
function expansionAt(file: ImportFile, at: number): { name: string; end: number } | undefined {
  if (!/[$`]/.test(file.text[at]!)) return undefined;
  const [all, braced, plain] =
    /^\$(?:\{(\w+)\}|([A-Za-z_]\w*))/.exec(file.text.slice(at, at + 200)) ??
      [];
  const name = braced ?? plain;
  if (name !== undefined) return { name, end: at + all!.length };
  if (/^(?:`|\$[({])/.test(file.text.slice(at, at + 2))) {
    const hint = 'write a variable such as "$TOKEN", which the workflow reads from the environment';
    throw problemAt(file, at, "this expansion of the shell is not supported", hint);
  }
  return undefined;
}

/** Decodes the text in `$'…'` as bash does. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:u([\da-fA-F]{1,4})|x([\da-fA-F]{1,2})|([0-7]{1,3})|(.))/gs,
    (_, unicode, hex, octal, letter) => {
      if (unicode ?? hex) return String.fromCharCode(parseInt(unicode ?? hex, 16));
      if (octal) return String.fromCharCode(parseInt(octal, 8));
      return { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b", f: "\f", v: "\v", e: "\x1b" }[
        letter as string
      ] ?? letter;
    },
  );
}
