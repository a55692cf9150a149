import { parseDuration } from "../../base/value/duration.ts";
import { Fault, quoted } from "../fault.ts";
import { defineLoaded, defineNew } from "./function.ts";

/** Functions about times, which are texts as RFC 3339 writes them, and durations in seconds. */
export const TIME_FUNCTIONS = [
  defineLoaded(
    "date(time: any, layout?: string, zone?: string)",
    "The time in a string or of a Unix time, as text in UTC. The layout is one of Go or strftime; without one, the usual ones are tried. The zone applies if the string names none.",
    async () => ({ call: (await import("./times/times.ts")).readDate }),
  ),
  defineLoaded(
    "format_date(time: any, layout: string, zone?: string)",
    "A time in a layout of Go or strftime, in a time zone such as Europe/Zurich, or in UTC.",
    async () => ({ call: (await import("./times/times.ts")).formatDate }),
  ),
  defineLoaded(
    "date_parts(time: any, zone?: string)",
    "A map of the year, month, day, hour, minute, second, millisecond, weekday (1 is Monday), yearday, offset (seconds ahead of UTC) and unix (seconds) of a time, in a time zone or in UTC.",
    async () => ({ call: (await import("./times/times.ts")).partsOfDate }),
  ),
  defineNew(
    "duration(text: string)",
    "The seconds of a duration such as 1h30m; times and durations can be added and subtracted.",
    (_, text: string) => {
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
