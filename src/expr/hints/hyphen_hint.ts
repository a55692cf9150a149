import type { Node } from "../parse/ast.ts";
import type { MissingName } from "../evaluate/evaluation.ts";

/** A hint for `outputs.create-user`, which the grammar reads as a subtraction. */
export function hyphenHint({ start, end }: Node, source: string): string | undefined {
  const before = keyBefore(source, start);
  const after = /^(?:-[\p{L}_$][\p{L}\d_$]*)+/u.exec(source.slice(end))?.[0] ?? "";
  if (before === "" && after === "") return undefined;
  return keyHint(before + source.slice(start, end) + after);
}

/** The same for `outputs.step-1`, which may be meant as it is: only if there is such a key. */
export function hyphenKeyHint({ at, key, among }: MissingName, source: string): string | undefined {
  const whole = key + (/^(?:-[\p{L}\d_$]+)+/u.exec(source.slice(at.end))?.[0] ?? "");
  return whole !== key && Object.hasOwn(among, whole) ? keyHint(whole) : undefined;
}

/** The same for `outputs.step-1.token`, where `1.` looks like a number and `1.token` like none. */
export function hyphenNumberHint(
  number: string,
  start: number,
  source: string,
): string | undefined {
  const before = keyBefore(source, start);
  return before !== "" && /^\d+\.$/.test(number)
    ? keyHint(before + number.slice(0, -1))
    : undefined;
}

/** The names with hyphens that end right before an offset. */
function keyBefore(source: string, start: number): string {
  const text = source.slice(Math.max(0, start - 200), start);
  return /(?<![\p{L}\d_$-])([\p{L}_$][\p{L}\d_$]*-(?:[\p{L}\d_$]+-)*)$/u.exec(text)?.[1] ?? "";
}

function keyHint(key: string): string {
  return `a hyphen is a minus; for one key write ["${key}"]`;
}
