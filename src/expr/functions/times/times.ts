import { parseDuration } from "../../../base/value/duration.ts";
import { readTimestamp, writeTimestamp } from "../../../base/value/timestamp.ts";
import type { Value } from "../../../base/value/value.ts";
import { Fault, kindOf, quoted } from "../../fault.ts";
import { define, type FunctionBodies } from "../function.ts";
import {
  dayOfYear,
  type FieldName,
  FIELDS,
  type LayoutPart,
  MONTHS,
  readLayout,
  USUAL_LAYOUTS,
  weekday,
} from "./layout.ts";
import { instantOf, isZone, localTime } from "./zone.ts";

/** Functions about times, which are texts as RFC 3339 writes them, and durations in seconds. */
export const BODIES: FunctionBodies = {
  date: define(
    "The time in a string or of a Unix time, as text in UTC. The layout is one of Go or strftime; without one, the usual ones are tried. The zone applies if the string names none.",
    readDate,
  ),
  format_date: define(
    "A time in a layout of Go or strftime, in a time zone such as Europe/Zurich, or in UTC.",
    formatDate,
  ),
  date_parts: define(
    "A map of the year, month, day, hour, minute, second, millisecond, weekday (1 is Monday), yearday, offset (seconds ahead of UTC) and unix (seconds) of a time, in a time zone or in UTC.",
    datePartsOf,
  ),
  duration: define(
    "The seconds of a duration such as 1h30m; times and durations can be added and subtracted.",
    (text: string) => {
      const isNegative = text.trimStart().startsWith("-");
      const milliseconds = parseDuration(isNegative ? text.trim().slice(1) : text);
      if (milliseconds !== undefined) return (isNegative ? -1 : 1) * milliseconds / 1000;
      throw new Fault(
        `duration() cannot read ${quoted(text)}`,
        'write "300ms", "1.5s", "2m" or "1h30m"',
      );
    },
  ),
};

const LAYOUT_HINT = "write out the reference time, as in 2006-01-02 15:04:05, or %Y-%m-%d %H:%M:%S";

function readDate(time: Value, layout?: string, zoneName?: string): Value {
  const zone = zoneOf("date", zoneName);
  if (typeof time === "number") {
    // After the year 5138, as a number of seconds.
    if (Math.abs(time) < 1e11) return written(time * 1000);
    throw new Fault(
      `date() takes a Unix time in seconds, and ${time} looks like milliseconds`,
      "write date(value / 1000)",
    );
  }
  if (typeof time !== "string") {
    throw new Fault(`date() needs a string or a Unix time, got ${kindOf(time)}`);
  }
  const text = time.trim();
  if (text.length > 100) throw new Fault("this string is too long for a date");
  for (const one of layout === undefined ? USUAL_LAYOUTS : [layout]) {
    const instant = parseTime(text, layoutToRead(one), zone);
    if (instant !== undefined) return written(instant);
  }
  throw layout === undefined
    ? new Fault(`date() cannot read ${quoted(time)}`, unreadHint(text))
    : new Fault(
      `date() cannot read ${quoted(time)} with the layout ${JSON.stringify(layout)}`,
      LAYOUT_HINT,
    );
}

function unreadHint(text: string): string {
  return /^\d{4}-\d\d-\d\d/.test(text)
    ? "there is no such day or time"
    : 'give its layout: date(text, "02.01.2006")';
}

function written(milliseconds: number): string {
  const text = writeTimestamp(milliseconds);
  if (text === undefined) throw new Fault("this time is not in the years 0 to 9999");
  return text;
}

function formatDate(time: Value, layout: string, zoneName?: string): Value {
  const zone = zoneOf("format_date", zoneName);
  const instant = instantIn("format_date", time);
  const zoned = { ...localTime(instant, zone), instant, zone };
  return layoutOf("format_date", layout)
    .map((part) => "literal" in part ? part.literal : FIELDS[part.field].write(zoned))
    .join("");
}

function datePartsOf(time: Value, zoneName?: string): Value {
  const zone = zoneOf("date_parts", zoneName);
  const instant = instantIn("date_parts", time);
  const local = localTime(instant, zone);
  const { offset, ...shown } = local;
  return {
    ...shown,
    weekday: weekday(local),
    yearday: dayOfYear(local),
    offset: offset * 60,
    unix: Math.floor(instant / 1000),
  };
}

function instantIn(name: string, time: Value): number {
  const instant = typeof time === "number"
    ? time * 1000
    : typeof time === "string"
    ? readTimestamp(time)
    : undefined;
  if (instant === undefined) {
    throw new Fault(
      `${name}() needs a time, got ${typeof time === "string" ? quoted(time) : kindOf(time)}`,
      "read the string with date(text) first",
    );
  }
  written(instant);
  return instant;
}

function zoneOf(name: string, zone = "UTC"): string {
  if (isZone(zone)) return zone === "Etc/UTC" || zone === "GMT" ? "UTC" : zone;
  throw new Fault(
    `unknown time zone ${quoted(zone)} of ${name}()`,
    "write the name of a place, as in Europe/Zurich, or UTC",
  );
}

function layoutOf(name: string, layout: string): readonly LayoutPart[] {
  const parts = readLayout(layout);
  if (parts) return parts;
  throw new Fault(`${name}() cannot read the layout ${JSON.stringify(layout)}`, LAYOUT_HINT);
}

/** A layout without repeated parts: there could be countless ways to match them. */
function layoutToRead(layout: string): readonly LayoutPart[] {
  const parts = layoutOf("date", layout);
  const names = parts.flatMap((part) => "field" in part ? [part.field] : []);
  if (new Set(names).size === names.length) return parts;
  throw new Fault(
    `date() cannot read the layout ${JSON.stringify(layout)}`,
    "each part of a time can be in it once",
  );
}

/** Zones that mails and logs name by letters, in hours. */
const LETTERS: Readonly<Record<string, number>> = {
  ...{ UTC: 0, GMT: 0, Z: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8 },
  ...{ PDT: -7, CET: 1, CEST: 2, JST: 9 },
};

/** The text of the first of some fields that a layout has. */
type Find = (...names: readonly FieldName[]) => string | undefined;

/** The milliseconds since 1970 that a text says; undefined if it does not have that layout. */
function parseTime(
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
