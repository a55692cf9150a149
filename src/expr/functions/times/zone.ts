/** The local time of a zone. */
export interface LocalTime {
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
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** The local time of a zone at an instant. */
export function localTime(instant: number, zone: string): LocalTime {
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
export function instantOf(shown: number, zone: string): number {
  // Close to a change of the clocks, the second guess is on the right side of it.
  const guess = shown - offsetAt(shown, zone) * 60_000;
  return shown - offsetAt(guess, zone) * 60_000;
}

/** `CET`; the offset, as in `+09`, where English has no short name. */
export function zoneName(instant: number, zone: string): string {
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
