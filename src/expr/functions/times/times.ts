import { readTimestamp, writeTimestamp } from "../../../base/value/timestamp.ts";
import type { Value } from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { Fault, kindOf, quoted } from "../../fault.ts";
import { parseTime } from "./parse_time.ts";
import { type FieldName, type LayoutField, readLayout, USUAL_LAYOUTS } from "./time_layout.ts";
import { isZone, type LocalTime, localTime, zoneName } from "./time_zone.ts";

const LAYOUT_HINT = "write out the reference time, as in 2006-01-02 15:04:05, or %Y-%m-%d %H:%M:%S";

/** The time that a string or a Unix time says. */
export function readDate(run: Evaluation, time: Value, layout?: string, given?: string): Value {
  run.spend(100);
  const zone = zoneOf("date", given);
  if (typeof time === "number") return written(time * 1000);
  if (typeof time !== "string") {
    throw new Fault(`date() needs a string or a Unix time, got ${kindOf(time)}`);
  }
  const text = time.trim();
  if (text.length > 100) throw new Fault("this string is too long for a date");
  const layouts = layout === undefined ? USUAL_LAYOUTS : [layout];
  for (const one of layouts) {
    const fields = layoutToRead(one);
    const instant = parseTime(text, fields, zone);
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

/** A time in a layout. */
export function formatDate(run: Evaluation, time: Value, layout: string, given?: string): Value {
  run.spend(100 + layout.length);
  const zone = zoneOf("format_date", given);
  const instant = instantIn("format_date", time);
  const local = localTime(instant, zone);
  return layoutOf("format_date", layout).map((part) =>
    "literal" in part ? part.literal : writeField(part.field, local, instant, zone)
  ).join("");
}

/** The parts of a time in a zone: what clocks and calendars show there. */
export function partsOfDate(run: Evaluation, time: Value, given?: string): Value {
  run.spend(200);
  const zone = zoneOf("date_parts", given);
  const instant = instantIn("date_parts", time);
  const { offset, ...shown } = localTime(instant, zone);
  const day = dayOf(shown);
  return {
    ...shown,
    weekday: day.getUTCDay() || 7,
    yearday: dayOfYear(shown),
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

type Day = Pick<LocalTime, "year" | "month" | "day">;

function dayOf({ year, month, day }: Day): Date {
  return new Date(new Date(0).setUTCFullYear(year, month - 1, day));
}

function dayOfYear(day: Day): number {
  const first = dayOf({ year: day.year, month: 1, day: 1 });
  return 1 + Math.round((dayOf(day).getTime() - first.getTime()) / 86_400_000);
}

function zoneOf(name: string, zone = "UTC"): string {
  if (isZone(zone)) return zone === "Etc/UTC" || zone === "GMT" ? "UTC" : zone;
  throw new Fault(
    `unknown time zone ${quoted(zone)} of ${name}()`,
    "write the name of a place, as in Europe/Zurich, or UTC",
  );
}

function layoutOf(name: string, layout: string): readonly LayoutField[] {
  const fields = readLayout(layout);
  if (fields) return fields;
  throw new Fault(`${name}() cannot read the layout ${JSON.stringify(layout)}`, LAYOUT_HINT);
}

/** Without parts that are there twice: a text could be divided between many of them in countless ways. */
function layoutToRead(layout: string): readonly LayoutField[] {
  const fields = layoutOf("date", layout);
  const names = fields.flatMap((part) => "field" in part ? [part.field] : []);
  if (new Set(names).size === names.length) return fields;
  throw new Fault(
    `date() cannot read the layout ${JSON.stringify(layout)}`,
    "each part of a time can be in it once",
  );
}

const MONTHS = ("January February March April May June July August September October " +
  "November December").split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

function writeField(field: FieldName, at: LocalTime, instant: number, zone: string): string {
  const pad = (number: number, length = 2) => String(number).padStart(length, "0");
  const hour12 = at.hour % 12 === 0 ? 12 : at.hour % 12;
  const dayOfWeek = dayOf(at).getUTCDay();
  const sign = at.offset < 0 ? "-" : "+";
  const [hours, minutes] = [Math.trunc(Math.abs(at.offset) / 60), Math.abs(at.offset) % 60];
  switch (field) {
    case "year":
      return pad(at.year, 4);
    case "year2":
      return pad(at.year % 100);
    case "month":
      return pad(at.month);
    case "month1":
      return String(at.month);
    case "monthShort":
      return MONTHS[at.month - 1]!.slice(0, 3);
    case "monthLong":
      return MONTHS[at.month - 1]!;
    case "day":
      return pad(at.day);
    case "day1":
      return String(at.day);
    case "daySpace":
      return String(at.day).padStart(2);
    case "yearDay":
      return pad(dayOfYear(at), 3);
    case "hour":
      return pad(at.hour);
    case "hour1":
      return String(at.hour);
    case "hour12":
      return pad(hour12);
    case "hour12_1":
      return String(hour12);
    case "minute":
      return pad(at.minute);
    case "minute1":
      return String(at.minute);
    case "second":
      return pad(at.second);
    case "second1":
      return String(at.second);
    case "milliseconds":
      return pad(at.millisecond, 3);
    case "microseconds":
      return pad(at.millisecond * 1000, 6);
    case "fraction":
      return at.millisecond === 0 ? "" : `.${pad(at.millisecond, 3).replace(/0+$/, "")}`;
    case "PM":
      return at.hour < 12 ? "AM" : "PM";
    case "pm":
      return at.hour < 12 ? "am" : "pm";
    case "weekdayShort":
      return DAYS[dayOfWeek]!.slice(0, 3);
    case "weekdayLong":
      return DAYS[dayOfWeek]!;
    case "weekdayNumber":
      return String(dayOfWeek === 0 ? 7 : dayOfWeek);
    case "zoneName":
      return zoneName(instant, zone);
    case "offset":
      return `${sign}${pad(hours)}${pad(minutes)}`;
    case "offsetColon":
      return `${sign}${pad(hours)}:${pad(minutes)}`;
    case "offsetHours":
      return `${sign}${pad(hours)}`;
    case "zOffset":
      return at.offset === 0 ? "Z" : `${sign}${pad(hours)}${pad(minutes)}`;
    case "zOffsetColon":
      return at.offset === 0 ? "Z" : `${sign}${pad(hours)}:${pad(minutes)}`;
    case "unix":
      return String(Math.floor(instant / 1000));
  }
}
