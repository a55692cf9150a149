import { displayWidth } from "../base/text/display_width.ts";
import type { Clock, Output } from "../host/host.ts";
import type { RunEvent } from "../run/event.ts";
import { Recorder } from "./recorder.ts";
import { printableEvent, PROGRESS_TIME, type Reporter } from "./reporter.ts";

/** Between two frames of live lines, in milliseconds. */
export const FRAME_TIME = 80;

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** The terminal shows what lies between these two at once. */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
/**
 * Up one row, which is emptied. Everything below could be erased at once, but where that is the
 * whole screen, some terminals keep what was on it among the lines that have scrolled away.
 */
const ERASE_ROW_ABOVE = "\x1b[1A\x1b[2K";
/** The row of the cursor, where the terminal may have put a `^C`. */
const ERASE_ROW = "\r\x1b[2K";
// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[\d;]*m/g;

interface TerminalOptions {
  readonly clock: Clock;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The text for standard output, with live lines where that is a terminal. */
  readonly report: Reporter;
  /** The text for standard error. */
  readonly details: Reporter;
}

/**
 * The only thing that writes to the terminal.
 *
 * With live lines, text is kept for the next frame, and each frame is one write: the live lines
 * go, the text comes, and the live lines are drawn below it.
 */
export class Terminal {
  readonly #options: TerminalOptions;
  readonly #recorder = new Recorder({ keeps: "outcomes" });
  #isLive: boolean;
  #pending: string[] = [];
  /** Widths of the live lines that are on the screen. */
  #drawn: readonly number[] = [];
  #isCursorHidden = false;
  #isReaderGone = false;
  #cancelFrame: (() => void) | undefined;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#isLive = options.stdout.isTerminal && options.report.live !== undefined;
  }

  /** Whether it shows every step of every round of repeated jobs. */
  get takesRounds(): boolean {
    const { report, details } = this.#options;
    return report.takesRounds || details.takesRounds || false;
  }

  /** Reports an event at once. */
  take(event: RunEvent): void {
    const { report, details } = this.#options;
    const change = this.#recorder.take(printableEvent(event));
    this.#writeDetails(details.report(change));
    const text = report.report(change);
    if (!this.#isLive) {
      this.#write(text);
      if (!this.#cancelFrame && report.progress) this.#awaitProgress();
      return;
    }
    if (text !== "") this.#pending.push(text);
    if (!this.#cancelFrame) this.#drawFrame();
  }

  /** Ends the drawing at once: the screen holds the report alone, and the cursor is back. */
  close(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    this.#isLive = false;
    this.#draw([]);
    if (this.#isCursorHidden) this.#write(SHOW_CURSOR);
    this.#isCursorHidden = false;
  }

  /** Says every now and then what is under way. */
  #awaitProgress(): void {
    const { clock, report } = this.#options;
    this.#cancelFrame = clock.after(PROGRESS_TIME, () => {
      this.#write(report.progress!(clock.now()));
      if (!this.#isReaderGone) this.#awaitProgress();
    });
  }

  #drawFrame(): void {
    const { clock, stdout, report } = this.#options;
    // One row is the cursor's, and a line that fills its row may or may not end it.
    this.#draw(report.live?.(clock.now(), stdout.columns() - 1, stdout.rows() - 1) ?? []);
    if (this.#isReaderGone) return;
    this.#cancelFrame = clock.after(report.frameTime?.() ?? FRAME_TIME, () => this.#drawFrame());
  }

  /** Replaces the live lines on the screen by the text that has come up and by these lines. */
  #draw(lines: readonly string[]): void {
    const text = this.#pending.join("");
    this.#pending = [];
    if (text === "" && lines.length === 0 && this.#drawn.length === 0) return;
    const erased = this.#eraseDrawn();
    this.#drawn = lines.map((line) => displayWidth(line.replace(COLOUR, "")));
    if (!this.#isLive && erased === "") return this.#write(text);
    const hide = this.#isCursorHidden || !this.#isLive ? "" : HIDE_CURSOR;
    this.#isCursorHidden ||= hide !== "";
    const live = lines.map((line) => `${line}\n`).join("");
    this.#write(`${BEGIN_FRAME}${hide}${erased}${text}${live}${END_FRAME}`);
  }

  /** Lines that were drawn on a wider terminal take more than one row each by now. */
  #eraseDrawn(): string {
    if (this.#drawn.length === 0) return "";
    const { stdout } = this.#options;
    const columns = Math.max(1, stdout.columns());
    const rows = this.#drawn.reduce(
      (sum, width) => sum + Math.max(1, Math.ceil(width / columns)),
      0,
    );
    return ERASE_ROW + ERASE_ROW_ABOVE.repeat(Math.max(1, Math.min(rows, stdout.rows() - 1)));
  }

  #writeDetails(text: string): void {
    const { stderr } = this.#options;
    if (text === "") return;
    // Both may be the same screen: details belong above the live lines.
    if (this.#isLive && stderr.isTerminal) this.#draw([]);
    stderr.write(text);
  }

  #write(text: string): void {
    if (text === "" || this.#options.stdout.write(text)) return;
    this.#isReaderGone = true;
    this.#cancelFrame?.();
  }
}
