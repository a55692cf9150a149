import { type LocalTime, zoneName } from "./zone.ts";

/** A part of a layout: literal text, or a field. */
export type LayoutPart = { readonly literal: string } | { readonly field: FieldName };

/** A moment in a zone. */
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

export const MONTHS = ("January February March April May June July August September October " +
  "November December").split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** All fields of layouts. A number at the end of a name means one digit where that is enough. */
export const FIELDS = {
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

export type FieldName = keyof typeof FIELDS;

function pad(number: number, length = 2): string {
  return String(number).padStart(length, "0");
}

function offsetText({ offset }: ZonedTime, separator = ""): string {
  const minutes = Math.abs(offset);
  return (offset < 0 ? "-" : "+") + pad(Math.trunc(minutes / 60)) + separator + pad(minutes % 60);
}

/** The day of the week: 1 is Monday, 7 Sunday. */
export function weekday({ year, month, day }: LocalTime): number {
  return dateOf(year, month, day).getUTCDay() || 7;
}

export function dayOfYear({ year, month, day }: LocalTime): number {
  const sinceFirst = dateOf(year, month, day).getTime() - dateOf(year, 1, 1).getTime();
  return 1 + sinceFirst / 86_400_000;
}

function dateOf(year: number, month: number, day: number): Date {
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
export const USUAL_LAYOUTS: readonly string[] = [
  ...["DateOnly", "DateTime", "2006-01-02T15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04"],
  ...["RFC3339Nano", "2006-01-02T15:04:05.999Z0700", "2006-01-02 15:04:05.999Z07:00"],
  ...["2006-01-02 15:04:05.999 -0700", "RFC1123", "RFC1123Z", "Mon, 2 Jan 2006 15:04:05 -0700"],
  ...["RFC822", "RFC822Z", "RFC850", "ANSIC", "UnixDate", "02/Jan/2006:15:04:05 -0700"],
];

/** The parts of a layout of Go or strftime; undefined if it has none but literal text. */
export function readLayout(layout: string): readonly LayoutPart[] | undefined {
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
