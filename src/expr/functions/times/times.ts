import { parseDuration } from "../../../base/value/duration.ts";
import { readTimestamp, writeTimestamp } from "../../../base/value/timestamp.ts";
import type { Value } from "../../../base/value/value.ts";
import { Fault, kindOf, quoted } from "../../fault.ts";
import { defineNew } from "../function.ts";
import {
  dayOfYear,
  FIELDS,
  type LayoutPart,
  readLayout,
  USUAL_LAYOUTS,
  weekday,
} from "./layout.ts";
import { parseTime } from "./parse_time.ts";
import { isZone, localTime } from "./zone.ts";

/** Functions about times, which are texts as RFC 3339 writes them, and durations in seconds. */
export const TIME_FUNCTIONS = [
  defineNew(
    "date(time: any, layout?: string, zone?: string)",
    "The time in a string or of a Unix time, as text in UTC. The layout is one of Go or strftime; without one, the usual ones are tried. The zone applies if the string names none.",
    readDate,
  ),
  defineNew(
    "format_date(time: any, layout: string, zone?: string)",
    "A time in a layout of Go or strftime, in a time zone such as Europe/Zurich, or in UTC.",
    formatDate,
  ),
  defineNew(
    "date_parts(time: any, zone?: string)",
    "A map of the year, month, day, hour, minute, second, millisecond, weekday (1 is Monday), yearday, offset (seconds ahead of UTC) and unix (seconds) of a time, in a time zone or in UTC.",
    datePartsOf,
  ),
  defineNew(
    "duration(text: string)",
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
] as const;

const LAYOUT_HINT = "write out the reference time, as in 2006-01-02 15:04:05, or %Y-%m-%d %H:%M:%S";

function readDate(time: Value, layout?: string, zoneName?: string): Value {
  const zone = zoneOf("date", zoneName);
  if (typeof time === "number") return written(time * 1000);
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
