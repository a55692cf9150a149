/**
 * Characters that control a terminal instead of appearing on it, or that turn the order of those
 * around them. Line ends and tabs are for the layout to deal with.
 */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;
const EACH_UNSAFE = new RegExp(UNSAFE, "g");

/** Whether a text has no control characters. */
export function isPrintable(text: string): boolean {
  return !UNSAFE.test(text);
}

/** A text in which every control character is replaced by a visible symbol. */
export function printable(text: string): string {
  if (isPrintable(text)) return text;
  return text.replaceAll("\r\n", "\n").replace(EACH_UNSAFE, visible);
}

/** The same for text that has to stay on one line, such as a file name. */
export function printableLine(text: string): string {
  return printable(text.replace(/[\r\n\t]/g, visible));
}

/** The first characters of a text, with `…` if it has more. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

/** A text as one line: line ends and tabs, with the whitespace around them, become a space. */
export function oneLine(text: string): string {
  return /[\n\t]/.test(text) ? text.trim().replace(/\s*[\n\t]\s*/g, " ") : text;
}

/** The last line of a text that is not blank. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!.trim();
}

function visible(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // ␛ for ESC
  return code === 0x7f ? "␡" : "\ufffd";
}

/**
 * An ASCII character for each sign that reports and drawings use, one for one, so that
 * columns and boxes stay as they are.
 */
const ASCII = new Map<string, string>(
  [
    ["✓✗○●⚠▸↻…›→↓↗·–—µ", "+xo*!>#~>>v^.--u"],
    ["│─┌┐└┘├┤┬┴┼╭╮╰╯", "|-++++++++|++++"],
    ["▁▂▃▄▅▆▇█", "_.:-=+*#"],
    ["⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/"],
  ].flatMap(([signs = "", ascii = ""]) =>
    [...signs].map((sign, index) => [sign, ascii[index]!] as const)
  ),
);
const SIGNS = new RegExp(`[${[...ASCII.keys()].join("")}]`, "g");

/** A text with the signs of reports and drawings in ASCII; what else is in it stays. */
export function toAscii(text: string): string {
  return text.replace(SIGNS, (sign) => ASCII.get(sign)!);
}
