import { didYouMean, suggest } from "../../base/text/suggest.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { ENVIRONMENT, FUNCTIONS_ELSEWHERE } from "./functions_elsewhere.ts";

/** A hint for an unknown function: one of other tools, or a misspelt one. */
export function functionHint(name: string): string | undefined {
  return FUNCTIONS_ELSEWHERE.get(name.toLowerCase()) ?? didYouMean(name, FUNCTIONS.keys()) ??
    FUNCTIONS_ELSEWHERE.get(suggest(name, FUNCTIONS_ELSEWHERE.keys()) ?? "");
}

/** A hint for a method. */
export function methodHint(name: string): string {
  const operator = OPERATOR_METHODS.get(name);
  if (operator) return `write value ${operator} …`;
  const record = FUNCTIONS.get(name);
  if (record?.most === 0) return `write ${name}()`;
  if (record) return record.most === 1 ? `write ${name}(value)` : `write ${name}(value, …)`;
  return METHODS.get(name) ?? FUNCTIONS_ELSEWHERE.get(name.toLowerCase()) ??
    "write function(value)";
}

/** A hint for a name of other tools. */
export function nameHint(name: string): string | undefined {
  return NAMES.get(name);
}

/** The same for a misspelling of such a name. */
export function misspeltNameHint(name: string): string | undefined {
  // Of short names too many are alike.
  return NAMES.get(suggest(name, [...NAMES.keys()].filter((known) => known.length > 5)) ?? "");
}

const OPERATOR_METHODS: ReadonlyMap<string, string> = new Map([
  ["contains", "contains"],
  ["startsWith", "startsWith"],
  ["endsWith", "endsWith"],
  ["matches", "matches"],
  ["match", "matches"],
  ["test", "matches"],
]);

const METHODS: ReadonlyMap<string, string> = new Map([
  ["Format", "write format_date(value, layout)"],
  ...["Year", "Month", "Day", "Hour", "Minute", "Second", "Weekday", "YearDay", "Unix"].map((
    name,
  ) => [name, `write date_parts(value).${name.toLowerCase()}`] as const),
  ["UnixMilli", "write date_parts(value).unix * 1000"],
  ["Millisecond", "write date_parts(value).millisecond"],
  ["Date", "write date_parts(value)"],
  ["UTC", "times are in UTC already"],
  ["Milliseconds", "a duration is a number of seconds: write value * 1000"],
  ["Add", 'write value + duration("1h")'],
  ["Sub", "write value - other"],
  ["Before", "write value < other"],
  ["After", "write value > other"],
  ["Hours", "a duration is a number of seconds: write value / 3600"],
  ["Minutes", "a duration is a number of seconds: write value / 60"],
  ["Seconds", "a duration is a number of seconds"],
  ["In", "give the zone to format_date(value, layout, zone)"],
  ["toISOString", "times are such texts already"],
  ["parse", "write fromJSON(text)"],
  ["stringify", "write toJSON(value)"],
  ["random", "write random_int(100)"],
  ["at", "write value[0]"],
  ["entries", "write toPairs(value)"],
  ["fromEntries", "write fromPairs(pairs)"],
  ["getTime", "write date_parts(value).unix * 1000"],
  ["getFullYear", "write date_parts(value).year"],
  ["replaceAll", "write replace(value, old, new)"],
]);

const NAMES: ReadonlyMap<string, string> = new Map([
  ["env", ENVIRONMENT],
  ["jobs", "outputs of earlier steps are in outputs"],
  ["steps", "outputs of earlier steps are in outputs"],
  ["response", "the result of the action is res"],
  ["request", "the request of the action is req"],
  ["body", "write res.body"],
  ["code", "write res.code"],
  ["statusCode", "write res.code"],
  ["status_code", "write res.code"],
  ["headers", 'write res.headers["Content-Type"]'],
  ["cookies", "write res.cookies"],
  ["$", "the body of a response is res.body"],
  ["duration", "the seconds that the action took are rt.sec"],
  ["elapsed", "the seconds that the action took are rt.sec"],
  ["undefined", "write nil"],
  ["None", "write nil"],
  ["True", "write true"],
  ["False", "write false"],
  ["yes", "write true"],
  ["no", "write false"],
  ["on", "write true"],
  ["off", "write false"],
]);
