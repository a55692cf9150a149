/** The forms of a duration, for messages. */
export const DURATION_FORMS = 'like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds';

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3, // U+00B5, the micro sign
  "μs": 1e-3, // U+03BC, the Greek letter
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const AMOUNT = String.raw`(?:\d+(?:\.\d*)?|\.\d+)`;
const UNIT = "(?:[nuµμm]s|[smhd])";
const SECONDS = new RegExp(`^${AMOUNT}$`);
const PARTS = new RegExp(`^(?:${AMOUNT}${UNIT})+$`);
const PART = new RegExp(`(${AMOUNT})(${UNIT})`, "g");

/** The source of a regular expression that matches durations. */
export const DURATION_TEXT = String.raw`^\s*(?:${AMOUNT}|(?:${AMOUNT}${UNIT})+)\s*$`;

/** The milliseconds of a duration; undefined if the value is invalid. A plain number is seconds. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === "number") return value < 0 ? undefined : exact(value * UNITS.s!);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (SECONDS.test(text)) return exact(Number(text) * UNITS.s!);
  if (!PARTS.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    milliseconds += Number(amount) * UNITS[unit!]!;
  }
  return exact(milliseconds);
}

/** Rounds to nanoseconds, so that 1.001 s are 1001 ms; an overflow is not a duration. */
function exact(milliseconds: number): number | undefined {
  if (!Number.isFinite(milliseconds)) return undefined;
  return milliseconds > 1e9 ? milliseconds : Math.round(milliseconds * 1e6) / 1e6;
}

/** The problem with an invalid duration, to follow its name; undefined if it is valid. */
export function durationProblem(value: unknown): string | undefined {
  if (parseDuration(value) !== undefined) return undefined;
  const shown = value === null ? "nil" : typeof value === "number" ? `${value}` : quote(value);
  if (String(value).trim().startsWith("-")) return `must not be negative, not ${shown}`;
  return `must be a duration ${DURATION_FORMS}, not ${shown}${hintForIso(value)}`;
}

const ISO = /^P(\d+D)?(?:T((?:\d+H)?(?:\d+M)?(?:[\d.]+S)?))?$/i;

/** Says how a duration of ISO 8601 is written: `: write 1h30m` for `PT1H30M`. */
export function hintForIso(value: unknown): string {
  const [, days = "", times = ""] = ISO.exec(String(value)) ?? [];
  return days + times === "" ? "" : `: write ${(days + times).toLowerCase()}`;
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

/** A duration for people, in units that `parseDuration` reads: `300ms`, `1.5s`, `1h30m`. */
export function formatDuration(milliseconds: number): string {
  const rounded = milliseconds < 1000
    ? Math.round(milliseconds * 1000) / 1000
    : Math.round(milliseconds);
  if (rounded === 0) return "0s";
  if (rounded < 1) return `${Math.round(rounded * 1000)}µs`;
  if (rounded < 1000) return `${rounded}ms`;
  const hours = Math.floor(rounded / UNITS.h!);
  const minutes = Math.floor(rounded % UNITS.h! / UNITS.m!);
  const seconds = rounded % UNITS.m! / UNITS.s!;
  return (hours ? `${hours}h` : "") + (minutes ? `${minutes}m` : "") +
    (seconds ? `${seconds}s` : "");
}

/** Milliseconds rounded to microseconds: a clock's further digits are noise. */
export function roundDuration(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** A measured time in as many digits as people read: `0.4ms`, `12ms`, `1.2s`, `2m5s`, `1h2m`. */
export function formatElapsed(milliseconds: number): string {
  if (milliseconds < 9.95) return `${Math.round(milliseconds * 10) / 10}ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)}ms`;
  if (milliseconds < 59_950) return `${Math.round(milliseconds / 100) / 10}s`;
  const seconds = Math.round(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60 ? `${seconds % 60}s` : ""}`;
  const hours = Math.floor(minutes / 60);
  return `${hours}h${minutes % 60 ? `${minutes % 60}m` : ""}`;
}

/** A point in time as the clock on the wall shows it: `12:34:56.789`. */
export function formatClock(time: number): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}` +
    `.${milliseconds}`;
}
