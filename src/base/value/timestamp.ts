/** Times in plain data: texts as RFC 3339 writes them, which name one instant each. */

const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** The milliseconds since 1970 of a text such as `2026-01-02T03:04:05Z`; undefined for others. */
export function readTimestamp(text: string): number | undefined {
  // Nearly every text that is compared is ruled out by this.
  if (text.length < 20 || text[4] !== "-" || text[13] !== ":") return undefined;
  const [, year, month, day, hours] = TIMESTAMP.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23) return undefined;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(month) > 12 || Number(day) < 1 || Number(day) > days) return undefined;
  const time = Date.parse(text.replace(" ", "T").replace(/(\.\d{3})\d+/, "$1").toUpperCase());
  return Number.isNaN(time) ? undefined : time;
}

/** Writes a time in UTC, all of the same length, so that they sort as texts; undefined beyond year 9999. */
export function writeTimestamp(milliseconds: number): string | undefined {
  const rounded = Math.round(milliseconds);
  if (!(rounded >= -62_167_219_200_000 && rounded <= 253_402_300_799_999)) return undefined;
  return new Date(rounded).toISOString();
}
