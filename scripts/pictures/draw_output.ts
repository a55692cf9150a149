/**
 * Draws what the program prints as an SVG, in the colours of a dark terminal.
 *
 * @module
 */

const [CELL, LINE, MARGIN, BAR] = [8.4, 20, 20, 40];
const PLAIN = "#d4d7dd";
const COLOURS: Readonly<Record<string, string>> = {
  "31": "#ff7b72",
  "32": "#7ee787",
  "33": "#e3b341",
  "34": "#79c0ff",
  "35": "#d2a8ff",
  "36": "#56d4dd",
};

/** The picture of a text with colour codes. */
export function drawOutput(text: string, title: string): string {
  const lines = text.split("\n");
  return drawWindow(lines.map(spansOf), title, lines.flatMap((line, row) => drawLine(line, row)));
}

/** What a terminal showed, and until when, in seconds. */
export interface Frame {
  readonly text: string;
  readonly until: number;
}

/**
 * The pictures of a terminal one after the other, as an endless film; the last one stays for a
 * while. Readers who asked for less motion see only the last.
 */
export function drawFrames(frames: readonly Frame[], title: string): string {
  const length = frames.at(-1)!.until;
  const screens = frames.map(({ text }) => text.split("\n"));
  const styles: string[] = [];
  const body: string[] = [];
  for (const row of Array(Math.max(...screens.map((lines) => lines.length))).keys()) {
    for (let at = 0; at < frames.length;) {
      const line = screens[at]![row] ?? "";
      let end = at + 1;
      while (end < frames.length && (screens[end]![row] ?? "") === line) end++;
      const drawn = drawLine(line, row);
      if (drawn.length > 0 && end - at === frames.length) body.push(...drawn);
      else if (drawn.length > 0) {
        const [from, to] = [at === 0 ? 0 : frames[at - 1]!.until, frames[end - 1]!.until]
          .map((time) => round(100 * time / length));
        const isLast = end === frames.length;
        const name = `f${styles.length}`;
        styles.push(
          `@keyframes ${name}{0%{visibility:${from === 0 ? "visible" : "hidden"}}` +
            `${from}%{visibility:visible}${isLast ? "" : `${to}%{visibility:hidden}`}}` +
            `.${name}{animation-name:${name}}`,
        );
        body.push(`<g class="${isLast ? "last " : ""}film ${name}">`, ...drawn, "</g>");
      }
      at = end;
    }
  }
  const style = `<style>.film{visibility:hidden;animation:${length}s step-end infinite}` +
    `@media (prefers-reduced-motion:reduce){.film{animation:none}.last{visibility:visible}}` +
    `${styles.join("")}</style>`;
  return drawWindow(screens.flat().map(spansOf), title, body, screens.at(-1)!.length, style);
}

function drawWindow(
  lines: readonly (readonly Span[])[],
  title: string,
  body: readonly string[],
  rows = lines.length,
  style = "",
): string {
  const columns = Math.max(...lines.map((spans) => spans.at(-1)?.end ?? 0));
  const width = Math.ceil(columns * CELL + 2 * MARGIN);
  const height = rows * LINE + BAR + MARGIN;
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map((colour, index) =>
    `<circle cx="${MARGIN + 6 + index * 20}" cy="20" r="6" fill="${colour}"/>`
  );
  return [
    "<!-- deno-fmt-ignore-file -->",
    "<!-- Written by deno task picture, or, if it moves, by deno task screenshots -->",
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" ` +
    `aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    ...style === "" ? [] : [style],
    `<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>`,
    ...dots,
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" ` +
    `font-size="14" fill="${PLAIN}">`,
    ...body,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function drawLine(line: string, row: number): string[] {
  const y = BAR + MARGIN + row * LINE;
  return spansOf(line).filter((span) => span.text.trim() !== "").map((span) => textOf(span, y));
}

interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly style: string;
}

/** The pieces of a line that look the same, by its colour codes. */
function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let [colour, weight, opacity, at] = ["", "", "", 0];
  const change = (code: string) => {
    if (code === "0") [colour, weight, opacity] = ["", "", ""];
    else if (code === "1") weight = ' font-weight="bold"';
    else if (code === "2") opacity = ' opacity="0.65"';
    else if (code === "22") [weight, opacity] = ["", ""];
    else if (code === "39") colour = "";
    else if (code in COLOURS) colour = ` fill="${COLOURS[code]}"`;
    else if (code !== "49") throw new Error(`unknown colour code ${code}`);
  };
  // deno-lint-ignore no-control-regex
  for (const [, codes, text = ""] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (codes === undefined) {
      const end = at + [...text].length;
      spans.push({ text, start: at, end, style: colour + weight + opacity });
      at = end;
    } else for (const code of codes.split(";")) change(code || "0");
  }
  return spans;
}

/** A piece at its columns, however wide the letters of the reader's font are. */
function textOf({ text, start, end, style }: Span, y: number): string {
  const lead = text.length - text.trimStart().length;
  const shown = text.trim();
  const cells = end - start - lead - (text.length - text.trimEnd().length);
  // Ordinary spaces in a row would be drawn as one.
  const escaped = shown.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll(" ", "\u00a0");
  const x = round(MARGIN + (start + lead) * CELL);
  return `<text x="${x}" y="${y}" textLength="${round(cells * CELL)}" ` +
    `lengthAdjust="spacingAndGlyphs"${style}>${escaped}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
