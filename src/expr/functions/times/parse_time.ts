import type { FieldName, LayoutField } from "./time_layout.ts";
import { instantOf } from "./time_zone.ts";

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** Zones that mails and logs name by letters, in hours. */
const LETTERS: Readonly<Record<string, number>> = {
  ...{ UTC: 0, GMT: 0, Z: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8 },
  ...{ PDT: -7, CET: 1, CEST: 2, JST: 9 },
};

/** The form of each field in a text. */
const PATTERNS: Readonly<Record<FieldName, string>> = {
  year: "\\d{4}",
  year2: "\\d\\d",
  month: "\\d\\d",
  month1: "\\d\\d?",
  monthShort: "[a-z]{3}",
  monthLong: "[a-z]{3,9}",
  day: "\\d\\d",
  day1: "\\d\\d?",
  daySpace: " ?\\d\\d?",
  yearDay: "\\d{3}",
  hour: "\\d\\d",
  hour1: "\\d\\d?",
  hour12: "\\d\\d",
  hour12_1: "\\d\\d?",
  minute: "\\d\\d",
  minute1: "\\d\\d?",
  second: "\\d\\d",
  second1: "\\d\\d?",
  milliseconds: "\\d{1,9}",
  microseconds: "\\d{1,9}",
  fraction: "(?:[.,]\\d{1,9})?",
  PM: "[ap]m",
  pm: "[ap]m",
  weekdayShort: "[a-z]{3}",
  weekdayLong: "[a-z]{6,9}",
  weekdayNumber: "[1-7]",
  zoneName: "[a-z]{1,5}",
  offset: "[+-]\\d{4}",
  offsetColon: "[+-]\\d\\d:\\d\\d",
  offsetHours: "[+-]\\d\\d",
  zOffset: "z|[+-]\\d{4}",
  zOffsetColon: "z|[+-]\\d\\d:\\d\\d",
  unix: "-?\\d{1,12}",
};

/** The milliseconds since 1970 that a text says; undefined if it does not have that layout. */
export function parseTime(
  text: string,
  fields: readonly LayoutField[],
  zone: string,
): number | undefined {
  const names = fields.flatMap((part) => "field" in part ? [part.field] : []);
  const pattern = fields.map((part) =>
    "literal" in part
      ? part.literal.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
      : `(${PATTERNS[part.field]})`
  ).join("");
  const [, ...parts] = new RegExp(`^${pattern}$`, "i").exec(text) ?? [];
  if (parts.length === 0) return undefined;
  const values = new Map(names.map((name, index) => [name, parts[index] ?? ""]));
  const find = (...those: readonly FieldName[]) => {
    const name = those.find((one) => values.has(one));
    return name === undefined ? undefined : values.get(name)!;
  };
  const unix = find("unix");
  if (unix !== undefined) return Number(unix) * 1000;
  return toInstant(find, zone);
}

type Find = (...those: readonly FieldName[]) => string | undefined;

function toInstant(find: Find, zone: string): number | undefined {
  const short = find("year2");
  const year = Number(find("year") ?? (short === undefined ? 1970 : yearOf(Number(short))));
  const name = find("monthShort", "monthLong")?.slice(0, 3).toLowerCase();
  const month = name === undefined
    ? Number(find("month", "month1") ?? 1)
    : MONTHS.indexOf(name) + 1;
  const day = Number(find("day", "day1", "daySpace") ?? 1);
  const yearDay = find("yearDay");
  const hour = hourOf(find);
  const minute = Number(find("minute", "minute1") ?? 0);
  const second = Number(find("second", "second1") ?? 0);
  const digits = (find("milliseconds", "microseconds", "fraction") ?? "").replace(/^[.,]/, "");
  const milliseconds = Math.trunc(Number(digits.padEnd(3, "0").slice(0, 3)));
  if (month < 1 || month > 12 || day < 1 || hour === undefined || minute > 59 || second > 60) {
    return undefined;
  }
  const date = new Date(0).setUTCFullYear(
    year,
    yearDay === undefined ? month - 1 : 0,
    yearDay === undefined ? day : Number(yearDay),
  );
  // 31 February would be a day of March.
  if (yearDay === undefined && new Date(date).getUTCDate() !== day) return undefined;
  const shown = date + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
  const offset = offsetOf(find);
  if (offset === "unknown") return undefined;
  return offset === undefined ? instantOf(shown, zone) : shown - offset * 60_000;
}

/** Two digits mean the years 1969 to 2068, as in Go and C. */
function yearOf(digits: number): number {
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
