import { MASK } from "./masker.ts";
import { isNumber, type Value } from "../base/value/value.ts";

/** The part of a text between two offsets, all of it without them, with secrets taken out. */
export type MaskPart = (text: string, from?: number, to?: number) => string;

/** Fields that are cut at their beginning: a command prints at its end why it failed. */
export const KEPT_FROM_THE_END: ReadonlySet<string> = new Set(["stdout", "stderr"]);

/**
 * A copy of plain data that holds about `limit` characters of text for each field of the top
 * level, so that a large body does not take the place of the headers. It says what was left out.
 */
export function boundValue(value: unknown, limit: number, mask: MaskPart): Bounded {
  if (!isObject(value) || Array.isArray(value)) return boundPart(value, { left: limit }, mask);
  const out: Record<string, Bounded> = {};
  for (const [key, field] of Object.entries(value)) {
    const isEnd = KEPT_FROM_THE_END.has(key) && typeof field === "string";
    const bounded = isEnd ? boundEnd(field, limit, mask) : boundPart(field, { left: limit }, mask);
    setField(out, mask(key), bounded);
  }
  return out;
}

/** Plain data, rebuilt. */
export type Bounded = Exclude<Value, object> | Bounded[] | { [key: string]: Bounded };

/** The same for all of a value together: its budget is characters that are left. */
export function boundPart(value: unknown, budget: { left: number }, mask: MaskPart): Bounded {
  if (typeof value === "string") return boundText(value, budget, mask);
  if (!isObject(value)) {
    budget.left -= 8;
    if (isNumber(value)) {
      return mask(String(value)) === String(value) ? value : MASK;
    }
    return typeof value === "boolean" ? value : null;
  }
  if (Array.isArray(value)) return boundList(value, budget, mask);
  const out: Record<string, Bounded> = {};
  const keys = Object.keys(value);
  for (const [index, key] of keys.entries()) {
    if (budget.left <= 0) {
      out["…"] = `(${keys.length - index} more)`;
      break;
    }
    budget.left -= key.length;
    const field = (value as Record<string, unknown>)[key];
    setField(out, mask(key), boundPart(field, budget, mask));
  }
  return out;
}

/** Mapped, not pushed: ten thousand lists that have grown are slow to write as JSON. */
function boundList(list: readonly unknown[], budget: { left: number }, mask: MaskPart): Bounded[] {
  let count = Math.min(list.length, Math.max(0, budget.left));
  const items = list.slice(0, count).map((item, index) => {
    if (budget.left > 0) return boundPart(item, budget, mask);
    count = Math.min(count, index);
    return null;
  });
  if (count === list.length) return items;
  return [...items.slice(0, count), `… (${list.length - count} more)`];
}

/** A map without a prototype would need no care, but ten thousand of those are slow and large. */
function setField(map: Record<string, Bounded>, key: string, value: Bounded): void {
  if (key === "__proto__") {
    Object.defineProperty(map, key, { value, enumerable: true, writable: true });
  } else map[key] = value;
}

function boundText(text: string, budget: { left: number }, mask: MaskPart): string {
  const room = Math.max(0, budget.left);
  budget.left -= text.length + 2;
  if (text.length <= room) return mask(text);
  // At the end of a line, if one is near.
  const line = text.lastIndexOf("\n", room) + 1;
  const end = line > room / 2 ? line : room;
  const lines = linesIn(text.slice(end));
  const more = `${text.length - end} more characters${lines > 1 ? ` in ${lines} lines` : ""}`;
  return `${mask(text, 0, end)}… (${more})`;
}

/** The last so many characters, from the beginning of a line on where there is one. */
function boundEnd(text: string, limit: number, mask: MaskPart): string {
  const masked = mask(text);
  if (masked.length <= limit) return masked;
  const start = masked.length - limit;
  const line = masked.indexOf("\n", start - 1) + 1;
  const lines = linesIn(masked.slice(0, line));
  return line > 0 && line < start + limit / 2
    ? `(${lines} line${lines === 1 ? "" : "s"} before) …\n${masked.slice(line)}`
    : `(${start} characters before) …${masked.slice(start)}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The number of lines of a text, of which the last one may have an end. */
function linesIn(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
