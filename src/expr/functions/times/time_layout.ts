/** Layouts of times: those of Go, which write out a reference time, and those of strftime. */

/** A part of a layout. */
export type LayoutField = { readonly literal: string } | { readonly field: FieldName };

export type FieldName =
  | "year"
  | "year2"
  | "month"
  | "month1"
  | "monthShort"
  | "monthLong"
  | "day"
  | "day1"
  | "daySpace"
  | "yearDay"
  | "hour"
  | "hour1"
  | "hour12"
  | "hour12_1"
  | "minute"
  | "minute1"
  | "second"
  | "second1"
  | "milliseconds"
  | "microseconds"
  | "fraction"
  | "PM"
  | "pm"
  | "weekdayShort"
  | "weekdayLong"
  | "weekdayNumber"
  | "zoneName"
  | "offset"
  | "offsetColon"
  | "offsetHours"
  | "zOffset"
  | "zOffsetColon"
  | "unix";

const GO: Readonly<Record<string, FieldName>> = {
  "2006": "year",
  "06": "year2",
  "01": "month",
  "1": "month1",
  "Jan": "monthShort",
  "January": "monthLong",
  "02": "day",
  "2": "day1",
  "_2": "daySpace",
  "002": "yearDay",
  "15": "hour",
  "03": "hour12",
  "3": "hour12_1",
  "04": "minute",
  "4": "minute1",
  "05": "second",
  "5": "second1",
  "PM": "PM",
  "pm": "pm",
  "Mon": "weekdayShort",
  "Monday": "weekdayLong",
  "MST": "zoneName",
  "-0700": "offset",
  "-07:00": "offsetColon",
  "-07": "offsetHours",
  "Z0700": "zOffset",
  "Z07:00": "zOffsetColon",
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

/** The parts of a layout; undefined if it has none but literal text. */
export function readLayout(layout: string): readonly LayoutField[] | undefined {
  const written = Object.hasOwn(NAMED, layout) ? NAMED[layout]! : layout;
  const parts = /%[-:]?[A-Za-z%]/.test(written) ? readStrftime(written) : readGo(written);
  return parts?.some((part) => "field" in part) ? parts : undefined;
}

function readGo(layout: string): LayoutField[] {
  const parts: LayoutField[] = [];
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
function fractionOf(text: string): LayoutField[] {
  if (text[1] === "9") return [{ field: "fraction" }];
  const field = text.length > 4 ? "microseconds" : "milliseconds";
  return [{ literal: text[0]! }, { field }];
}

function readStrftime(layout: string): LayoutField[] | undefined {
  const parts: LayoutField[] = [];
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
