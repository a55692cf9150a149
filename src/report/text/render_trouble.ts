import type { Failure, StepResult } from "../../run/event.ts";
import { renderAttempts } from "./render_attempts.ts";
import { renderExchange, withoutMinor } from "./render_exchange.ts";
import { renderFailure } from "./render_failure.ts";
import { indentedRoom, type Room } from "./text_lines.ts";
import type { Style } from "../style.ts";

/** Enough for most of the two kilobytes of a body that an event holds unless all is asked for. */
const EXCHANGE_LINES = 40;
/** Lines of an exchange that is repeated rather than referred to. */
const SHORT_EXCHANGE = 3;
/** The indentation of the text of a field of an exchange. */
const DEEPEST_FIELD = 4;

/** The exchange that a job has shown last, and where: `in step 3`. */
export interface ShownExchange {
  text?: string;
  place?: string;
}

/** Why a step failed: each failure, its attempts, and what went over the wire. */
export function renderTrouble(
  result: StepResult,
  style: Style,
  room: Room,
  shown: ShownExchange = {},
  place = "",
): string[] {
  const { columns } = indentedRoom(room, DEEPEST_FIELD);
  const bounds = { columns, lines: EXCHANGE_LINES };
  const { failures, attempts, exchange } = result;
  // The steps inside show what they sent and got.
  const isInside = failures.every(({ kind }) => kind === "embedded");
  const lines = exchange && !isInside ? renderExchange(withoutMinor(exchange), style, bounds) : [];
  const text = lines.join("\n");
  const isShown = text === shown.text && lines.length > SHORT_EXCHANGE;
  if (!isShown) Object.assign(shown, { text, place });
  return [
    ...renderFailures(failures, style, room),
    ...renderAttempts(attempts, room),
    ...isShown ? [style.dim(`request and response: the same as ${shown.place}`)] : lines,
  ];
}

/** Everything that failed at once. */
export function renderFailures(failures: readonly Failure[], style: Style, room: Room): string[] {
  return failures.flatMap((failure) => renderFailure(failure, style, room));
}
