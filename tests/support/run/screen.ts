import { displayWidth } from "../../../src/base/text/display_width.ts";
import type { Output } from "../../../src/host/host.ts";

interface Row {
  cells: string[];
  /** Whether the text goes on in the next row, as one line that was too wide. */
  goesOn: boolean;
}

/**
 * A terminal as far as the report uses one: it wraps, scrolls, moves up, erases, and when its
 * size changes it lays out its lines anew, as most terminals do. Unknown sequences are errors.
 */
export class Screen implements Output {
  readonly isTerminal = true;
  readonly writes: string[] = [];
  isCursorVisible = true;
  isReaderGone = false;
  #rows: Row[] = [{ cells: [], goesOn: false }];
  #row = 0;
  #column = 0;
  #width: number;
  #height: number;

  constructor(columns = 80, rows = 24) {
    this.#width = columns;
    this.#height = rows;
  }

  columns(): number {
    return this.#width;
  }

  rows(): number {
    return this.#height;
  }

  onClosed(): void {}

  flush(): Promise<boolean> {
    return Promise.resolve(true);
  }

  write(text: string): boolean {
    if (this.isReaderGone) return false;
    this.writes.push(text);
    // deno-lint-ignore no-control-regex
    for (const [token] of text.matchAll(/\x1b\[[?\d;]*[A-Za-z]|[^]/gu)) this.#take(token);
    return true;
  }

  /** All text, with what has scrolled away; each line once, however many rows it takes. */
  text(): string {
    return this.#lines().join("\n");
  }

  /** The visible rows. */
  visible(): string[] {
    return this.#rows.slice(-this.#height).map(({ cells }) => cells.join(""));
  }

  resize(columns: number, rows: number): void {
    const lines = this.#lines();
    if (this.#column !== 0) throw new Error("cannot resize while a line is being written");
    const isLast = this.#row === this.#rows.length - 1;
    if (!isLast) throw new Error("cannot resize while the cursor is not at the end");
    [this.#width, this.#height] = [columns, rows];
    this.#rows = [{ cells: [], goesOn: false }];
    this.#row = this.#column = 0;
    lines.forEach((line, index) => {
      if (index > 0) this.#newline();
      for (const character of line) this.#put(character);
    });
  }

  #lines(): string[] {
    const lines: string[] = [];
    let line = "";
    for (const { cells, goesOn } of this.#rows) {
      line += cells.join("");
      if (goesOn) continue;
      lines.push(line);
      line = "";
    }
    return lines;
  }

  #take(token: string): void {
    // deno-lint-ignore no-control-regex
    const up = /^\x1b\[(\d*)A$/.exec(token);
    if (token === "\n") this.#newline();
    else if (token === "\r") this.#column = 0;
    else if (up) this.#up(Number(up[1] || 1));
    else if (token === "\x1b[2K") this.#eraseRow();
    else if (token === "\x1b[?25l") this.isCursorVisible = false;
    else if (token === "\x1b[?25h") this.isCursorVisible = true;
    // deno-lint-ignore no-control-regex
    else if (/^\x1b\[(\?2026[hl]|[\d;]*m)$/.test(token)) return;
    else if (/\p{Cc}/u.test(token)) throw new Error(`unknown control ${JSON.stringify(token)}`);
    else this.#put(token);
  }

  #put(character: string): void {
    const width = displayWidth(character);
    if (this.#column + width > this.#width) {
      this.#rows[this.#row]!.goesOn = true;
      this.#down();
    }
    const { cells } = this.#rows[this.#row]!;
    if (width === 0) {
      cells[Math.max(0, this.#column - 1)] += character;
      return;
    }
    while (cells.length < this.#column) cells.push(" ");
    cells[this.#column] = character;
    if (width === 2) cells[this.#column + 1] = "";
    this.#column += width;
  }

  #newline(): void {
    this.#rows[this.#row]!.goesOn = false;
    this.#down();
  }

  #down(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#rows.length) this.#rows.push({ cells: [], goesOn: false });
  }

  /** Moves up, but not above the top of the screen. */
  #up(rows: number): void {
    this.#row = Math.max(0, this.#rows.length - this.#height, this.#row - rows);
  }

  #eraseRow(): void {
    const above = this.#rows[this.#row - 1];
    if (above) above.goesOn = false;
    this.#rows[this.#row] = { cells: [], goesOn: false };
    // Trailing empty rows are not counted.
    while (this.#rows.length > this.#row + 1 && this.#rows.at(-1)?.cells.length === 0) {
      this.#rows.pop();
    }
  }
}
