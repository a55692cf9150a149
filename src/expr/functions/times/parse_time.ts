import { type FieldName, FIELDS, type LayoutPart, MONTHS } from "./layout.ts";
import { instantOf } from "./zone.ts";

/** Zones that mails and logs name by letters, in hours. */
const LETTERS: Readonly<Record<string, number>> = {
  ...{ UTC: 0, GMT: 0, Z: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8 },
  ...{ PDT: -7, CET: 1, CEST: 2, JST: 9 },
};

/** The text of the first of some fields that a layout has. */
type Find = (...names: readonly FieldName[]) => string | undefined;

/** The milliseconds since 1970 that a text says; undefined if it does not have that layout. */
export function parseTime(
  text: string,
  parts: readonly LayoutPart[],
  zone: string,
): number | undefined {
  const names = parts.flatMap((part) => "field" in part ? [part.field] : []);
  const pattern = parts.map((part) =>
    "literal" in part
      ? part.literal.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
      : `(${FIELDS[part.field].pattern})`
  ).join("");
  const [, ...texts] = new RegExp(`^${pattern}$`, "i").exec(text) ?? [];
  if (texts.length === 0) return undefined;
  const find: Find = (...wanted) => {
    const name = wanted.find((one) => names.includes(one));
    return name && (texts[names.indexOf(name)] ?? "");
  };
  const unix = find("unix");
  return unix === undefined ? toInstant(find, zone) : Number(unix) * 1000;
}

function toInstant(find: Find, zone: string): number | undefined {
  const date = dateOf(find);
  const hour = hourOf(find);
  const minute = Number(find("minute", "minute1") ?? 0);
  const second = Number(find("second", "second1") ?? 0);
  const digits = (find("milliseconds", "microseconds", "fraction") ?? "").replace(/^[.,]/, "");
  const milliseconds = Number(digits.padEnd(3, "0").slice(0, 3));
  if (date === undefined || hour === undefined || minute > 59 || second > 60) return undefined;
  const shown = date + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
  const offset = offsetOf(find);
  if (offset === "unknown") return undefined;
  return offset === undefined ? instantOf(shown, zone) : shown - offset * 60_000;
}

/** Midnight, as if the clocks showed UTC. */
function dateOf(find: Find): number | undefined {
  const short = find("year2");
  const year = Number(find("year") ?? (short === undefined ? 1970 : fullYear(Number(short))));
  const yearDay = find("yearDay");
  if (yearDay !== undefined) return new Date(0).setUTCFullYear(year, 0, Number(yearDay));
  const name = find("monthShort", "monthLong")?.slice(0, 3).toLowerCase();
  const month = name === undefined
    ? Number(find("month", "month1") ?? 1)
    : MONTHS.findIndex((month) => month.slice(0, 3).toLowerCase() === name) + 1;
  const day = Number(find("day", "day1", "daySpace") ?? 1);
  if (month < 1 || month > 12) return undefined;
  const date = new Date(0).setUTCFullYear(year, month - 1, day);
  // 31 February would be a day of March.
  return new Date(date).getUTCDate() === day ? date : undefined;
}

/** Two digits mean the years 1969 to 2068, as in Go and C. */
function fullYear(digits: number): number {
  return digits + (digits < 69 ? 2000 : 1900);
}

function hourOf(find: Find): number | undefined {
  const half = find("PM", "pm")?.toLowerCase();
  const short = find("hour12", "hour12_1");
  const hour = Number(find("hour", "hour1") ?? short ?? 0);
  if (short === undefined || half === undefined) return hour > 23 ? undefined : hour;
  if (hour < 1 || hour > 12) return undefined;
  return hour % 12 + (half === "pm" ? 12 : 0);
}

/** Minutes ahead of UTC; undefined if the text does not say. */
function offsetOf(find: Find): number | undefined | "unknown" {
  const name = find("zoneName")?.toUpperCase();
  if (name !== undefined) return Object.hasOwn(LETTERS, name) ? LETTERS[name]! * 60 : "unknown";
  const text = find("offset", "offsetColon", "offsetHours", "zOffset", "zOffsetColon");
  if (text === undefined) return undefined;
  if (text.toLowerCase() === "z") return 0;
  const digits = text.slice(1).replace(":", "").padEnd(4, "0");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return text.startsWith("-") ? -minutes : minutes;
}
