import type { Failure } from "../run/event.ts";
import { formatPlace, summarizeFailure } from "./render_failure.ts";
import { fitSentence, indentedRoom, type Room } from "./room.ts";
import type { Style } from "./style.ts";
import { countOf, indentLines, oneLine } from "./text_lines.ts";

/** A step or job that failed, for the list at the end of a report. */
export interface FailureEntry {
  /** `Build › check the total`. */
  readonly title: string;
  /** `api.yml:14:15`. */
  readonly place?: string;
  readonly lines: readonly string[];
}

/** More of them nobody reads, and they are all in the report above. */
const MOST_ENTRIES = 100;

/** The entry for failures of one step or job; `remark` goes before what was wrong. */
export function makeFailureEntry(
  title: string,
  failures: readonly Failure[],
  remark = "",
): FailureEntry {
  const place = failures.find((failure) => failure.place)?.place;
  const lines = failures.map((failure) => remark + summarizeFailure(failure));
  return { title: oneLine(title), lines, ...(place ? { place: formatPlace(place) } : {}) };
}

/** Everything that failed, once more, with its place in the file. */
export function renderFailureList(
  entries: readonly FailureEntry[],
  style: Style,
  room: Room,
): string[] {
  if (entries.length === 0) return [];
  const lines = entries.slice(0, MOST_ENTRIES).flatMap(({ title, place, lines }, index) => {
    const number = `${String(index + 1).padStart(3)}. `;
    const below = indentedRoom(room, number.length);
    const reasons = lines.flatMap((line) => fitSentence(line, below));
    return [
      style.dim(number) + title + (place === undefined ? "" : `   ${style.cyan(place)}`),
      ...indentLines(reasons.map(style.red), number.length),
    ];
  });
  const left = entries.length - MOST_ENTRIES;
  if (left > 0) lines.push(`     … (${countOf(left, "more failure")} above)`);
  return [style.bold("Failures"), ...lines, ""];
}
