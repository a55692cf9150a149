/**
 * An ASCII character for each sign that reports and drawings use, one for one, so that
 * columns and boxes stay as they are.
 */
const ASCII = new Map<string, string>(
  [
    ["✓✗○●▸↻…›→↓↗·–—µ", "+xo*>#~>>v^.--u"],
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
