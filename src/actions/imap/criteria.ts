import type { SearchObject } from "./imap_connection.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { describeValue } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import { textOf } from "../../action/text_of.ts";
import { CRITERIA } from "./commands.ts";

/** A mistake in a command of a step. */
export class CommandFault extends Error {}

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
};

/** Reads a point in time as people write it; a day begins at midnight, UTC. */
export function readTime(value: Value, now: number): Date {
  if (typeof value === "number") return new Date(value * 1000);
  const text = typeof value === "string" ? value.trim() : "";
  const today = now - now % DAY;
  if (/^today$/i.test(text)) return new Date(today);
  if (/^yesterday$/i.test(text)) return new Date(today - DAY);
  const [, count, unit] = /^(\d+) (second|minute|hour|day|week)s? ago$/i.exec(text) ?? [];
  if (unit) return new Date(now - Number(count) * UNITS[unit.toLowerCase()]!);
  const [, day, month, year] = /^(\d\d?)\/(\d\d?)\/(\d{4})$/.exec(text) ?? [];
  const written = year ? `${year}-${month!.padStart(2, "0")}-${day!.padStart(2, "0")}` : text;
  // Of the forms that the runtime reads, only those with a year, so that "5" is none.
  const isDate = /^\d{4}-\d\d-\d\d([T ]|$)|^(\w{3}, )?\d{1,2}[ -]\w{3}[ -]\d{2,4}\b/.test(written);
  const time = isDate || /^\d{4}\/\d\d\/\d\d$/.test(written)
    ? Date.parse(
      written.replaceAll("/", "-").replace(/^(\d{1,2})-(\w{3})-(\d{4})$/, "$1 $2 $3 00:00 GMT"),
    )
    : NaN;
  if (!Number.isNaN(time)) return new Date(time);
  throw new CommandFault(
    `unsupported date ${describeValue(value)}: write 2026-01-02, 2026-01-02T03:04:05Z, today, ` +
      "yesterday or 5 minutes ago",
  );
}

const TIMES: Readonly<Record<string, "since" | "before" | "sentSince" | "sentBefore">> = {
  since: "since",
  before: "before",
  sent_since: "sentSince",
  sent_before: "sentBefore",
};

const NAMES = CRITERIA.map(({ name }) => name);

/** The criteria of `search` in the form of the library. */
export function readCriteria(criteria: Dict, now: number): SearchObject {
  const all: SearchObject[] = [];
  for (const [name, value] of Object.entries(criteria)) {
    if (!NAMES.includes(name)) {
      const hint = didYouMean(name, NAMES) ?? `there are ${NAMES.join(", ")}`;
      throw new CommandFault(`unknown criterion "${name}": ${hint}`);
    }
    if (value !== null) all.push(...readCriterion(name, value, now));
  }
  return everyOne(all);
}

/** Conditions that must all be true; an object has one of each kind, and further ones nest. */
function everyOne([first, ...rest]: readonly SearchObject[]): SearchObject {
  if (!first) return { all: true };
  return rest.length === 0 ? first : { ...first, not: { not: everyOne(rest) } };
}

function readCriterion(name: string, value: Value, now: number): SearchObject[] {
  const time = TIMES[name];
  if (time) return [{ [time]: readTime(value, now) }];
  const texts = (Array.isArray(value) ? value : [value]).map(textOf);
  switch (name) {
    case "seq_nums":
      return [{ seq: texts.join(",") }];
    case "uids":
      return [{ uid: texts.join(",") }];
    case "bodies":
      return texts.map((body) => ({ body }));
    case "texts":
      return texts.map((text) => ({ text }));
    case "flags":
      return texts.map((flag) => flagOf(flag, true));
    case "not_flags":
      return texts.map((flag) => flagOf(flag, false));
    case "headers":
      if (typeof value !== "object" || Array.isArray(value) || value === null) {
        throw new CommandFault(`"headers" must be a map, not ${describeValue(value)}`);
      }
      return Object.entries(value as Dict).map(([header, text]) => ({
        header: { [header]: text === null || text === "" ? true : textOf(text) },
      }));
    default:
      return texts.map((text) => ({ [name]: text }));
  }
}

function flagOf(written: string, isSet: boolean): SearchObject {
  const flag = written.replace(/^\\/, "");
  const [, un, name] = /^(un)?(seen|answered|flagged|deleted|draft)$/i.exec(flag) ?? [];
  if (name) return { [name.toLowerCase()]: isSet === (un === undefined) };
  if (/^recent$/i.test(flag)) return isSet ? { recent: true } : { old: true };
  return isSet ? { keyword: flag } : { unKeyword: flag };
}
