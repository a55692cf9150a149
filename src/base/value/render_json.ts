import { cutLine, cutToWidth, wrapLine } from "../text/display_width.ts";
import { formatValue } from "./format_value.ts";
import { isDict, type Value } from "./value.ts";

/** Deeper data is no longer for people. */
const DEEPEST = 50;

/** A value as JSON, each part on one line where it fits and on lines of its own where not. */
export function renderJson(value: Value, columns: number): string[] {
  return partLines("", value, columns, 0).flatMap((line) => wrapLine(line, columns));
}

/** A value as one line of JSON, cut where it is wider than that. */
export function shortJson(value: Value, columns: number): string {
  const room = { left: columns };
  const text = write(value, room, 0);
  return room.left < 0 ? `${cutToWidth(text, columns - 1)}…` : cutLine(text, columns);
}

/** A value as one line of JSON, if it is no longer than that. */
export function fittingJson(value: Value, length: number): string | undefined {
  const room = { left: length };
  const text = write(value, room, 0);
  return room.left < 0 ? undefined : text;
}

/** The lines of a value, indented for their depth, with the key of the value before it. */
function partLines(key: string, value: Value, columns: number, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const line = fittingJson(value, columns - indent.length - key.length - 1); // perhaps a comma
  if (line !== undefined) return [indent + key + line];
  if (depth >= DEEPEST || typeof value !== "object" || value === null) {
    return [indent + key + write(value, { left: Infinity }, depth)];
  }
  const [open, close] = isDict(value) ? "{}" : "[]";
  const parts = isDict(value)
    ? Object.keys(value).map((name) => [`${JSON.stringify(name)}: `, value[name]!] as const)
    : value.map((item) => ["", item] as const);
  const lines = parts.flatMap(([name, item], index) => {
    const part = partLines(name, item, columns, depth + 1);
    if (index < parts.length - 1) part.push(`${part.pop()},`);
    return part;
  });
  return [`${indent}${key}${open}`, ...lines, `${indent}${close}`];
}

/** Writes on one line until the room is used up: the remaining room is then below zero. */
function write(value: Value, room: { left: number }, depth: number): string {
  if (room.left < 0) return "";
  if (typeof value !== "object" || value === null) {
    const short = typeof value === "string" && value.length > room.left
      ? value.slice(0, room.left)
      : value;
    // JSON cannot represent Infinity and NaN.
    const isSpecial = typeof short === "number" && !Number.isFinite(short);
    const text = isSpecial ? formatValue(short) : JSON.stringify(short);
    room.left -= Object.is(short, value) ? text.length : Infinity;
    return text;
  }
  room.left -= 2;
  if (depth >= DEEPEST) return "…";
  const isMap = isDict(value);
  const [open, close] = isMap ? "{}" : "[]";
  let text = open!;
  for (const [key, item] of Object.entries(value)) {
    if (room.left < 0) return text;
    const name = (text === open ? "" : ", ") + (isMap ? `${JSON.stringify(key)}: ` : "");
    room.left -= name.length;
    text += name + write(item, room, depth + 1);
  }
  return room.left < 0 ? text : text + close;
}
