import { matchingText } from "./matching_text.ts";
import { type RawMap, textOf } from "../read/raw.ts";

/** A number that a schema allows. */
export function numberSample(said: RawMap, type: "integer" | "number"): number {
  const step = typeof said.multipleOf === "number" && said.multipleOf > 0
    ? said.multipleOf
    : type === "integer"
    ? 1
    : undefined;
  const { least, isAbove } = lowerBound(said);
  const { most, isBelow } = upperBound(said);
  let value = 1;
  if (value < least || isAbove && value === least) value = least;
  if (value > most || isBelow && value === most) value = most;
  if (step !== undefined) {
    value = Math.ceil(value / step) * step;
    if (value > most || isBelow && value === most) value = Math.floor(most / step) * step;
    if (isAbove && value <= least) value += step;
    if (isBelow && value >= most) value -= step;
  } else if (isAbove && value <= least || isBelow && value >= most) {
    value = Number.isFinite(least) && Number.isFinite(most)
      ? (least + most) / 2
      : Number.isFinite(least)
      ? least + 1
      : most - 1;
  }
  // Steps of a tenth add up to 0.30000000000000004.
  const rounded = Number(value.toPrecision(12));
  return Number.isFinite(rounded) ? rounded : 1;
}

/** 3.0 has a bound and says whether it is one of the values; 3.1 has bounds of two kinds. */
function lowerBound(said: RawMap): { least: number; isAbove: boolean } {
  const least = typeof said.minimum === "number" ? said.minimum : -Infinity;
  const above = said.exclusiveMinimum;
  if (typeof above === "number" && above >= least) return { least: above, isAbove: true };
  return { least, isAbove: above === true };
}

function upperBound(said: RawMap): { most: number; isBelow: boolean } {
  const most = typeof said.maximum === "number" ? said.maximum : Infinity;
  const below = said.exclusiveMaximum;
  if (typeof below === "number" && below <= most) return { most: below, isBelow: true };
  return { most, isBelow: below === true };
}

const FORMATS: Readonly<Record<string, string>> = {
  "date": "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  "time": "12:00:00Z",
  "duration": "P1D",
  "email": "user@example.com",
  "idn-email": "user@example.com",
  "hostname": "example.com",
  "idn-hostname": "example.com",
  "ipv4": "192.0.2.1",
  "ipv6": "2001:db8::1",
  "uri": "https://example.com/",
  "url": "https://example.com/",
  "uri-reference": "/example",
  "iri": "https://example.com/",
  "uuid": "123e4567-e89b-12d3-a456-426614174000",
  "byte": "dGV4dA==",
  "json-pointer": "/example",
  "int64": "1",
  "int32": "1",
  "decimal": "1.5",
};

/** A text that a schema allows, as the property of that name that it is for. */
export function textSample(said: RawMap, name: string): string {
  const format = textOf(said.format)?.toLowerCase() ?? formatOf(said, name);
  const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (known !== undefined) return known;
  const least = lengthOf(said.minLength) ?? 0;
  const most = lengthOf(said.maxLength) ?? Infinity;
  const pattern = textOf(said.pattern);
  if (pattern !== undefined) {
    const matching = matchingText(pattern, least, most);
    if (matching !== undefined) return matching;
  }
  const text = "text";
  if (text.length < least) return text.repeat(Math.ceil(least / text.length)).slice(0, least);
  return text.length > most ? text.slice(0, most) : text;
}

/** What the name of a property says where its schema says nothing. */
function formatOf(said: RawMap, name: string): string {
  if (said.pattern !== undefined || said.maxLength !== undefined) return "";
  return /e-?mail$/i.test(name)
    ? "email"
    : /(?:^|_)ur[li]$|Ur[li]$|UR[LI]$/.test(name)
    ? "url"
    : "";
}

/** Longer texts are asked for by nobody who expects an example. */
const LONGEST = 1000;

function lengthOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? Math.min(value as number, LONGEST)
    : undefined;
}
