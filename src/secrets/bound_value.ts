import { countOf } from "../base/text/count_of.ts";
import { MASK, type Masker } from "./masker.ts";
import { isNumber, type Value } from "../base/value/value.ts";

/** Fields that are cut at their beginning: a command prints at its end why it failed. */
export const KEPT_FROM_THE_END: ReadonlySet<string> = new Set(["stdout", "stderr"]);

/**
 * A copy of plain data that holds about `limit` characters of text for each field of the top
 * level, so that a large body does not take the place of the headers. It says what was left out.
 */
export function boundValue(value: unknown, limit: number, masker: Masker): Bounded {
  if (!isObject(value) || Array.isArray(value)) return boundPart(value, { left: limit }, masker);
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      masker.mask(key),
      KEPT_FROM_THE_END.has(key) && typeof field === "string"
        ? boundEnd(field, limit, masker)
        : boundPart(field, { left: limit }, masker),
    ]),
  );
}

/** Plain data, rebuilt. */
export type Bounded = Exclude<Value, object> | Bounded[] | { [key: string]: Bounded };

/** The same for all of a value together: its budget is characters that are left. */
export function boundPart(value: unknown, budget: { left: number }, masker: Masker): Bounded {
  if (typeof value === "string") return boundText(value, budget, masker);
  if (!isObject(value)) {
    budget.left -= 8;
    if (isNumber(value)) {
      return masker.mask(String(value)) === String(value) ? value : MASK;
    }
    return typeof value === "boolean" ? value : null;
  }
  if (Array.isArray(value)) return boundList(value, budget, masker);
  const fields: [string, Bounded][] = [];
  const keys = Object.keys(value);
  for (const [index, key] of keys.entries()) {
    if (budget.left <= 0) {
      fields.push(["…", `(${keys.length - index} more)`]);
      break;
    }
    budget.left -= key.length;
    const field = (value as Record<string, unknown>)[key];
    fields.push([masker.mask(key), boundPart(field, budget, masker)]);
  }
  return Object.fromEntries(fields);
}

function boundList(list: readonly unknown[], budget: { left: number }, masker: Masker): Bounded[] {
  const items: Bounded[] = [];
  for (const item of list) {
    if (budget.left <= 0) return [...items, `… (${list.length - items.length} more)`];
    items.push(boundPart(item, budget, masker));
  }
  return items;
}

function boundText(text: string, budget: { left: number }, masker: Masker): string {
  const room = Math.max(0, budget.left);
  budget.left -= text.length + 2;
  if (text.length <= room) return masker.mask(text);
  // At the end of a line, if one is near.
  const line = text.lastIndexOf("\n", room) + 1;
  const end = line > room / 2 ? line : room;
  const lines = linesIn(text.slice(end));
  const ending = `${text.length - end} more characters${lines > 1 ? ` in ${lines} lines` : ""}`;
  return `${masker.mask(text, 0, end)}… (${ending})`;
}

/** The last characters, from the beginning of a line if possible. */
function boundEnd(text: string, limit: number, masker: Masker): string {
  const masked = masker.mask(text);
  if (masked.length <= limit) return masked;
  const start = masked.length - limit;
  const line = masked.indexOf("\n", start - 1) + 1;
  const lines = linesIn(masked.slice(0, line));
  return line > 0 && line < start + limit / 2
    ? `(${countOf(lines, "line")} before) …\n${masked.slice(line)}`
    : `(${start} characters before) …${masked.slice(start)}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The number of lines of a text. The last one may end with a line break. */
function linesIn(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
