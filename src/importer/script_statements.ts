/** The beginning of a function with tests: `pm.test("…", function () {` or `… () =>`. */
const TEST_START =
  /(?:pm\.|client\.)?\btest\(\s*(["'`])(?:(?!\1)[^\\]|\\.)*\1\s*,\s*(?:async\s*)?(?:function\s*\(\s*\w*\s*\)\s*\{|(?:\(\s*\w*\s*\)|\w+)\s*=>\s*\{?)/g;

/** The statements of a script, without the functions around tests, and without comments. */
export function statements(lines: readonly string[]): string[] {
  const text = lines.join("\n").replace(TEST_START, "\n");
  const pieces = splitCode(text)
    .map((line) => line.trim().replace(/^try\s*\{\s*/, ""))
    .filter((line) => line !== "");
  return joinParts(pieces).filter((line) => !/^[})\s]+$/.test(line)).map(withoutEnds);
}

/** Texts, regular expressions and comments, which a script is not split in. */
const WHOLE =
  /(["'`])(?:(?!\1)[^\\]|\\.)*\1|(?<=[(,=:]\s*)\/(?![/*])(?:[^/\\\n]|\\.)+\/|\/\/.*|\/\*[^]*?\*\/|[;\n]/g;

/** Splits a script at semicolons and at the ends of lines. */
function splitCode(text: string): string[] {
  const pieces: string[] = [""];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(WHOLE)) {
    pieces.push(pieces.pop() + text.slice(end, index));
    end = index + found.length;
    if (/^[;\n]$/.test(found)) pieces.push("");
    else if (!/^\/[/*]/.test(found)) pieces.push(pieces.pop() + found);
  }
  return [...pieces.slice(0, -1), pieces.at(-1) + text.slice(end)];
}

/** Joins the lines of a literal, of arguments and of a chain of calls. */
function joinParts(pieces: readonly string[]): string[] {
  const joined: string[] = [];
  let depth = 0;
  for (const piece of pieces) {
    if (depth > 0) joined.push(`${joined.pop()} ${piece}`);
    else if (/^\??\.\w/.test(piece) && joined.length > 0) joined.push(joined.pop() + piece);
    else joined.push(piece);
    if (depth > 0 || /(?:[=(,:[]\s*[{[(]|[([])$/.test(piece)) depth += depthOf(piece);
    depth = Math.max(depth, 0);
  }
  return joined;
}

/** A statement without the brackets at its end that close what is around it. */
function withoutEnds(line: string): string {
  let kept = line;
  for (let depth = depthOf(line); depth < 0 && /[)}]$/.test(kept); depth++) {
    kept = kept.slice(0, -1).trimEnd();
  }
  return kept;
}

/** How many more brackets a line opens than it closes, outside of texts. */
function depthOf(line: string): number {
  const code = line.replace(/(["'`])(?:(?!\1)[^\\]|\\.)*\1/g, "");
  return (code.match(/[([{]/g)?.length ?? 0) - (code.match(/[)\]}]/g)?.length ?? 0);
}
