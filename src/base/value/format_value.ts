import { type Meter, UNMETERED } from "./meter.ts";
import { plain, readField, type Value } from "./value.ts";

/** A value inside a text: strings bare, numbers in full, lists and maps as JSON on one line. */
export function formatValue(value: Value, meter: Meter = UNMETERED): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return formatNumber(value);
  return value === null ? "nil" : formatJson(value, meter);
}

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** JSON with sorted keys, on one line unless an indent is given. */
export function formatJson(value: Value, meter: Meter = UNMETERED, indent = ""): string {
  return json(value, meter, indent, indent === "" ? "" : "\n");
}

function json(value: Value, meter: Meter, indent: string, newline: string): string {
  meter.spend(1);
  if (typeof value === "string") return quote(value, meter);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const inner = newline + indent;
  if (Array.isArray(value)) {
    const items = value.map((item) => json(plain(item), meter, indent, inner));
    return items.length === 0 ? "[]" : `[${inner}${items.join("," + inner)}${newline}]`;
  }
  const colon = indent === "" ? ":" : ": ";
  const fields = Object.keys(value).sort().map((key) =>
    quote(key, meter) + colon + json(readField(value, key) ?? null, meter, indent, inner)
  );
  return fields.length === 0 ? "{}" : `{${inner}${fields.join("," + inner)}${newline}}`;
}

/** Shared texts are written once for each way that leads to them, so their length is paid for. */
function quote(text: string, meter: Meter): string {
  meter.spend(text.length >> 4);
  return JSON.stringify(text);
}
