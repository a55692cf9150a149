import type { RunEvent } from "../../run/event.ts";
import { isPrintable, printable } from "../../base/text/printable.ts";

/**
 * An event without control characters in its texts. Names, bodies and outputs come from outside,
 * and must not move the cursor of a terminal.
 */
export function printableEvent(event: RunEvent): RunEvent {
  return isSafe(event) ? event : printablePart(event) as RunEvent;
}

/** Nearly all events are fine as they are, and finding that out need not copy them. */
function isSafe(part: unknown): boolean {
  if (typeof part === "string") return isPrintable(part);
  if (typeof part !== "object" || part === null) return true;
  if (Array.isArray(part)) return part.every(isSafe);
  for (const key in part) {
    if (!isPrintable(key) || !isSafe((part as Record<string, unknown>)[key])) return false;
  }
  return true;
}

function printablePart(part: unknown): unknown {
  if (typeof part === "string") return printable(part);
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map(printablePart);
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [printable(key), printablePart(value)]),
  );
}
