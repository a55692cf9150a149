import { describeValue } from "../../base/value/value.ts";
import { map, type Rule, texts, value } from "../../action/rule.ts";
import { textOf } from "../../action/parameter.ts";
import type { SearchObject } from "./imap_connection.ts";

/** A point in time, or one before now. */
export type Time = (now: number) => Date;

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
};

/** A point in time as people write it; a day begins at midnight, UTC. */
export function time(summary: string): Rule<Time> {
  return value("any", summary).as((written, param) => {
    if (typeof written === "number") return () => new Date(written * 1000);
    const text = typeof written === "string" ? written.trim() : "";
    const days = ["today", "yesterday"].indexOf(text.toLowerCase());
    if (days >= 0) return (now) => new Date(now - now % DAY - days * DAY);
    const [, count, unit] = /^(\d+) (second|minute|hour|day|week)s? ago$/i.exec(text) ?? [];
    if (unit) return (now) => new Date(now - Number(count) * UNITS[unit.toLowerCase()]!);
    const date = parseDate(text);
    if (!Number.isNaN(date)) return () => new Date(date);
    throw param.wrong(
      `unsupported date ${describeValue(written)} for ${param.name}`,
      "write 2026-01-02, 2026-01-02T03:04:05Z, today, yesterday or 5 minutes ago",
    );
  });
}

function parseDate(text: string): number {
  const [, day = "", month = "", year] = /^(\d\d?)\/(\d\d?)\/(\d{4})$/.exec(text) ?? [];
  if (year) return Date.parse(`${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`);
  const [, short] = /^(\d{1,2}-[a-z]{3}-\d{4})$/i.exec(text) ?? [];
  if (short) return Date.parse(`${short.replaceAll("-", " ")} 00:00 GMT`);
  // Of the forms that the runtime reads, only those with a year, so that "5" is none.
  const isDate =
    /^\d{4}-\d\d-\d\d([T ]|$)|^\d{4}\/\d\d\/\d\d$|^(\w{3}, )?\d{1,2}[ -]\w{3}[ -]\d{2,4}\b/;
  return isDate.test(text) ? Date.parse(text.replaceAll("/", "-")) : NaN;
}

/** A condition of a search, at a time. */
type Condition = (now: number) => readonly SearchObject[];

const each = (summary: string, search: (text: string) => SearchObject): Rule<Condition> =>
  texts(summary).as((all) => () => all.map(search));

const at = (
  summary: string,
  name: "since" | "before" | "sentSince" | "sentBefore",
): Rule<Condition> => time(summary).as((time) => (now) => [{ [name]: time(now) }]);

const numbers = (summary: string, name: "seq" | "uid"): Rule<Condition> =>
  texts(summary).as((sets) => () => [{ [name]: sets.join(",") }]);

const CRITERIA = {
  seq_nums: numbers("Numbers of mails: `1`, `1:3`, `2:*`", "seq"),
  uids: numbers("UIDs of mails, in the same way", "uid"),
  since: at("They arrived then or later", "since"),
  before: at("They arrived before then", "before"),
  sent_since: at("They were sent then or later", "sentSince"),
  sent_before: at("They were sent before then", "sentBefore"),
  headers: value("map", "Names of headers and texts in them").as((headers): Condition => () =>
    Object.entries(headers).map(([name, text]) => ({
      header: { [name]: text === null || text === "" ? true : textOf(text) },
    }))
  ),
  bodies: each("Texts in the body", (body) => ({ body })),
  texts: each("Texts in a header or the body", (text) => ({ text })),
  flags: each("Flags that they have: `seen`", (flag) => searchFlag(flag, true)),
  not_flags: each("Flags that they do not have", (flag) => searchFlag(flag, false)),
  subject: each("Texts in the subject", (subject) => ({ subject })),
  from: each("Texts in the sender", (from) => ({ from })),
  to: each("Texts in the recipients", (to) => ({ to })),
};

/** What `search` looks for, in the form of the library. */
export function criteria(summary: string): Rule<(now: number) => SearchObject> {
  return map(CRITERIA, summary).as((conditions) => (now) =>
    everyOne(Object.values(conditions).flatMap((condition) => condition?.(now) ?? []))
  );
}

/** Conditions that must all be true; an object has one of each kind, and further ones nest. */
function everyOne([first, ...rest]: readonly SearchObject[]): SearchObject {
  if (!first) return { all: true };
  return rest.length === 0 ? first : { ...first, not: { not: everyOne(rest) } };
}

function searchFlag(written: string, isSet: boolean): SearchObject {
  const flag = written.replace(/^\\/, "");
  const [, un, name] = /^(un)?(seen|answered|flagged|deleted|draft)$/i.exec(flag) ?? [];
  if (name) return { [name.toLowerCase()]: isSet === (un === undefined) };
  if (/^recent$/i.test(flag)) return isSet ? { recent: true } : { old: true };
  return isSet ? { keyword: flag } : { unKeyword: flag };
}
