import { plain, readField, type Value } from "./value.ts";

/** A value inside a text: strings bare, numbers in full, lists and maps as JSON on one line. */
export function formatValue(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return formatNumber(value);
  return value === null ? "nil" : formatJson(value);
}

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** JSON with sorted keys, on one line unless an indent is given. */
export function formatJson(value: Value, indent = ""): string {
  return json(value, indent, indent === "" ? "" : "\n");
}

function json(value: Value, indent: string, newline: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const inner = newline + indent;
  if (Array.isArray(value)) {
    const items = value.map((item) => json(plain(item), indent, inner));
    return items.length === 0 ? "[]" : `[${inner}${items.join("," + inner)}${newline}]`;
  }
  const colon = indent === "" ? ":" : ": ";
  const fields = Object.keys(value).sort().map((key) =>
    JSON.stringify(key) + colon + json(readField(value, key) ?? null, indent, inner)
  );
  return fields.length === 0 ? "{}" : `{${inner}${fields.join("," + inner)}${newline}}`;
}
