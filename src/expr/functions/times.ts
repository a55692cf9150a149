import { parseDuration } from "../../base/value/duration.ts";
import { readTimestamp, writeTimestamp } from "../../base/value/timestamp.ts";
import type { Value } from "../../base/value/value.ts";
import { Fault, kindOf, quoted } from "../fault.ts";
import { define, type FunctionBodies } from "./function.ts";

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

/** A part of a layout: literal text, or a field. */
type LayoutPart = { readonly literal: string } | { readonly field: FieldName };

interface ZonedTime extends LocalTime {
  /** Milliseconds since 1970. */
  readonly instant: number;
  readonly zone: string;
}

/** How a field is read and written. */
interface Field {
  /** A regular expression of its texts. */
  readonly pattern: string;
  readonly write: (time: ZonedTime) => string;
}

const MONTHS = ("January February March April May June July August September October " +
  "November December").split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** All fields of layouts. A number at the end of a name means one digit where that is enough. */
const FIELDS = {
  year: { pattern: "\\d{4}", write: ({ year }) => pad(year, 4) },
  year2: { pattern: "\\d\\d", write: ({ year }) => pad(year % 100) },
  month: { pattern: "\\d\\d", write: ({ month }) => pad(month) },
  month1: { pattern: "\\d\\d?", write: ({ month }) => String(month) },
  monthShort: { pattern: "[a-z]{3}", write: ({ month }) => MONTHS[month - 1]!.slice(0, 3) },
  monthLong: { pattern: "[a-z]{3,9}", write: ({ month }) => MONTHS[month - 1]! },
  day: { pattern: "\\d\\d", write: ({ day }) => pad(day) },
  day1: { pattern: "\\d\\d?", write: ({ day }) => String(day) },
  daySpace: { pattern: " ?\\d\\d?", write: ({ day }) => String(day).padStart(2) },
  yearDay: { pattern: "\\d{3}", write: (time) => pad(dayOfYear(time), 3) },
  hour: { pattern: "\\d\\d", write: ({ hour }) => pad(hour) },
  hour1: { pattern: "\\d\\d?", write: ({ hour }) => String(hour) },
  hour12: { pattern: "\\d\\d", write: ({ hour }) => pad(hour % 12 || 12) },
  hour12_1: { pattern: "\\d\\d?", write: ({ hour }) => String(hour % 12 || 12) },
  minute: { pattern: "\\d\\d", write: ({ minute }) => pad(minute) },
  minute1: { pattern: "\\d\\d?", write: ({ minute }) => String(minute) },
  second: { pattern: "\\d\\d", write: ({ second }) => pad(second) },
  second1: { pattern: "\\d\\d?", write: ({ second }) => String(second) },
  milliseconds: { pattern: "\\d{1,9}", write: ({ millisecond }) => pad(millisecond, 3) },
  microseconds: { pattern: "\\d{1,9}", write: ({ millisecond }) => pad(millisecond * 1000, 6) },
  fraction: {
    pattern: "(?:[.,]\\d{1,9})?",
    write: ({ millisecond }) =>
      millisecond === 0 ? "" : `.${pad(millisecond, 3).replace(/0+$/, "")}`,
  },
  PM: { pattern: "[ap]m", write: ({ hour }) => hour < 12 ? "AM" : "PM" },
  pm: { pattern: "[ap]m", write: ({ hour }) => hour < 12 ? "am" : "pm" },
  weekdayShort: { pattern: "[a-z]{3}", write: (time) => DAYS[weekday(time) % 7]!.slice(0, 3) },
  weekdayLong: { pattern: "[a-z]{6,9}", write: (time) => DAYS[weekday(time) % 7]! },
  weekdayNumber: { pattern: "[1-7]", write: (time) => String(weekday(time)) },
  zoneName: { pattern: "[a-z]{1,5}", write: ({ instant, zone }) => zoneName(instant, zone) },
  offset: { pattern: "[+-]\\d{4}", write: (time) => offsetText(time) },
  offsetColon: { pattern: "[+-]\\d\\d:\\d\\d", write: (time) => offsetText(time, ":") },
  offsetHours: { pattern: "[+-]\\d\\d", write: (time) => offsetText(time).slice(0, 3) },
  zOffset: {
    pattern: "z|[+-]\\d{4}",
    write: (time) => time.offset === 0 ? "Z" : offsetText(time),
  },
  zOffsetColon: {
    pattern: "z|[+-]\\d\\d:\\d\\d",
    write: (time) => time.offset === 0 ? "Z" : offsetText(time, ":"),
  },
  unix: { pattern: "-?\\d{1,12}", write: ({ instant }) => String(Math.floor(instant / 1000)) },
} as const satisfies Readonly<Record<string, Field>>;

type FieldName = keyof typeof FIELDS;

function pad(number: number, length = 2): string {
  return String(number).padStart(length, "0");
}

function offsetText({ offset }: ZonedTime, separator = ""): string {
  const minutes = Math.abs(offset);
  return (offset < 0 ? "-" : "+") + pad(Math.trunc(minutes / 60)) + separator + pad(minutes % 60);
}

/** The day of the week: 1 is Monday, 7 Sunday. */
function weekday({ year, month, day }: LocalTime): number {
  return utcDate(year, month, day).getUTCDay() || 7;
}

function dayOfYear({ year, month, day }: LocalTime): number {
  const sinceFirst = utcDate(year, month, day).getTime() - utcDate(year, 1, 1).getTime();
  return 1 + sinceFirst / 86_400_000;
}

function utcDate(year: number, month: number, day: number): Date {
  return new Date(new Date(0).setUTCFullYear(year, month - 1, day));
}

/** The fields of Go's layouts, which write out a reference time. */
const GO: Readonly<Record<string, FieldName>> = {
  ...{ "2006": "year", "06": "year2", "01": "month", "1": "month1", Jan: "monthShort" },
  ...{ January: "monthLong", "02": "day", "2": "day1", _2: "daySpace", "002": "yearDay" },
  ...{ "15": "hour", "03": "hour12", "3": "hour12_1", "04": "minute", "4": "minute1" },
  ...{ "05": "second", "5": "second1", PM: "PM", pm: "pm", Mon: "weekdayShort" },
  ...{ Monday: "weekdayLong", MST: "zoneName", "-0700": "offset", "-07:00": "offsetColon" },
  ...{ "-07": "offsetHours", Z0700: "zOffset", "Z07:00": "zOffsetColon" },
};

const GO_PART = new RegExp(
  "January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|Z07:00|Z0700|-07:00|-0700|-07|_2|002|" +
    "0[1-6]|15|PM|pm|[.,](?:0+|9+)(?!\\d)|[1-5]",
  "g",
);

const STRFTIME: Readonly<Record<string, FieldName>> = {
  ...{ Y: "year", y: "year2", m: "month", "-m": "month1", b: "monthShort", h: "monthShort" },
  ...{ B: "monthLong", d: "day", "-d": "day1", e: "daySpace", j: "yearDay", H: "hour" },
  ...{ "-H": "hour1", I: "hour12", "-I": "hour12_1", M: "minute", "-M": "minute1" },
  ...{ S: "second", "-S": "second1", p: "PM", P: "pm", a: "weekdayShort", A: "weekdayLong" },
  ...{ u: "weekdayNumber", Z: "zoneName", z: "offset", ":z": "offsetColon" },
  ...{ L: "milliseconds", f: "microseconds", s: "unix" },
};

const STRFTIME_SHORT: Readonly<Record<string, string>> = {
  ...{ F: "%Y-%m-%d", T: "%H:%M:%S", R: "%H:%M", D: "%m/%d/%y", r: "%I:%M:%S %p" },
  ...{ c: "%a %b %e %H:%M:%S %Y", n: "\n", t: "\t", "%": "%%" },
};

/** Layouts that have a name in Go. */
const NAMED: Readonly<Record<string, string>> = {
  ANSIC: "Mon Jan _2 15:04:05 2006",
  UnixDate: "Mon Jan _2 15:04:05 MST 2006",
  RFC822: "02 Jan 06 15:04 MST",
  RFC822Z: "02 Jan 06 15:04 -0700",
  RFC850: "Monday, 02-Jan-06 15:04:05 MST",
  RFC1123: "Mon, 02 Jan 2006 15:04:05 MST",
  RFC1123Z: "Mon, 02 Jan 2006 15:04:05 -0700",
  RFC3339: "2006-01-02T15:04:05Z07:00",
  RFC3339Nano: "2006-01-02T15:04:05.999Z07:00",
  Kitchen: "3:04PM",
  DateTime: "2006-01-02 15:04:05",
  DateOnly: "2006-01-02",
  TimeOnly: "15:04:05",
};

/** The layouts that a date may have if none is given. */
const USUAL_LAYOUTS: readonly string[] = [
  ...["DateOnly", "DateTime", "2006-01-02T15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04"],
  ...["RFC3339Nano", "2006-01-02T15:04:05.999Z0700", "2006-01-02 15:04:05.999Z07:00"],
  ...["2006-01-02 15:04:05.999 -0700", "RFC1123", "RFC1123Z", "Mon, 2 Jan 2006 15:04:05 -0700"],
  ...["RFC822", "RFC822Z", "RFC850", "ANSIC", "UnixDate", "02/Jan/2006:15:04:05 -0700"],
];

/** The parts of a layout of Go or strftime; undefined if it has none but literal text. */
function readLayout(layout: string): readonly LayoutPart[] | undefined {
  const written = Object.hasOwn(NAMED, layout) ? NAMED[layout]! : layout;
  const parts = /%[-:]?[A-Za-z%]/.test(written) ? readStrftime(written) : readGo(written);
  return parts?.some((part) => "field" in part) ? parts : undefined;
}

function readGo(layout: string): LayoutPart[] {
  const parts: LayoutPart[] = [];
  let end = 0;
  for (const match of layout.matchAll(GO_PART)) {
    const [text] = match;
    if (match.index > end) parts.push({ literal: layout.slice(end, match.index) });
    end = match.index + text.length;
    if (/^[.,]/.test(text)) parts.push(...fractionOf(text));
    else parts.push({ field: GO[text]! });
  }
  if (end < layout.length) parts.push({ literal: layout.slice(end) });
  return parts;
}

/** `.000` writes all digits and is written out here; `.999` leaves out zeros at the end. */
function fractionOf(text: string): LayoutPart[] {
  if (text[1] === "9") return [{ field: "fraction" }];
  const field = text.length > 4 ? "microseconds" : "milliseconds";
  return [{ literal: text[0]! }, { field }];
}

function readStrftime(layout: string): LayoutPart[] | undefined {
  const parts: LayoutPart[] = [];
  const whole = layout.replace(
    /%([A-Za-z%])/g,
    (text, letter: string) =>
      Object.hasOwn(STRFTIME_SHORT, letter) ? STRFTIME_SHORT[letter]! : text,
  );
  for (const [text, name] of whole.matchAll(/%([-:]?[A-Za-z]|%)|[^%]+|%/g)) {
    if (name === undefined || name === "%") parts.push({ literal: name ?? text });
    else if (Object.hasOwn(STRFTIME, name)) parts.push({ field: STRFTIME[name]! });
    else return undefined;
  }
  return parts;
}

interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** Minutes that the zone is ahead of UTC. */
  readonly offset: number;
}

/** A formatter is slow to make. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether there is a time zone of that name, as IANA names them. */
function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

function localTime(instant: number, zone: string): LocalTime {
  const offset = offsetAt(instant, zone);
  const shifted = new Date(instant + offset * 60_000);
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    millisecond: shifted.getUTCMilliseconds(),
    offset,
  };
}

/** When the clocks of a zone show this, in milliseconds as if they showed UTC. */
function instantOf(shown: number, zone: string): number {
  // Close to a change of the clocks, the second guess is on the right side of it.
  const guess = shown - offsetAt(shown, zone) * 60_000;
  return shown - offsetAt(guess, zone) * 60_000;
}

/** `CET`; the offset, as in `+09`, where English has no short name. */
function zoneName(instant: number, zone: string): string {
  if (zone === "UTC") return "UTC";
  for (const locale of ["en-US", "en-GB", "en-AU", "en-IN"]) {
    const parts = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "short" })
      .formatToParts(instant);
    const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
    if (!/\d/.test(name) && name !== "") return name;
  }
  const minutes = offsetAt(instant, zone);
  const hours = String(Math.trunc(Math.abs(minutes) / 60)).padStart(2, "0");
  const rest = Math.abs(minutes) % 60;
  return `${minutes < 0 ? "-" : "+"}${hours}${rest === 0 ? "" : String(rest).padStart(2, "0")}`;
}

/** `GMT+05:30`, or `GMT`; old local times of a place have seconds too. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d))?/;

function offsetAt(instant: number, zone: string): number {
  if (zone === "UTC") return 0;
  const [, sign, hours, minutes] = OFFSET.exec(formatOf(zone).format(instant)) ?? [];
  if (sign === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, made);
  return made;
}
