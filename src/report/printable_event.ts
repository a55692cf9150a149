import type { RunEvent } from "../run/event.ts";

/**
 * Characters that drive a terminal instead of standing on it, or that turn the order of those
 * around them. Line ends and tabs are for the layout to deal with.
 */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;
const EACH_UNSAFE = new RegExp(UNSAFE, "g");

/** A text in which every control character is a visible sign for itself. */
export function printable(text: string): string {
  if (!UNSAFE.test(text)) return text;
  return text.replaceAll("\r\n", "\n").replace(EACH_UNSAFE, visible);
}

function visible(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // ␛ for ESC
  return code === 0x7f ? "␡" : "\ufffd";
}

/**
 * An event whose texts do no more than show. Names, bodies and outputs come from outside, and
 * what a server answers must not move the cursor of who reads about it.
 */
export function printableEvent(event: RunEvent): RunEvent {
  if (event !== last) {
    last = event;
    lastPrintable = isPrintable(event) ? event : printablePart(event) as RunEvent;
  }
  return lastPrintable as RunEvent;
}

/** Each event comes to every reporter in turn. */
let last: RunEvent | undefined;
let lastPrintable: RunEvent | undefined;

/** Nearly all events are fine as they are, and finding that out need not copy them. */
function isPrintable(part: unknown): boolean {
  if (typeof part === "string") return !UNSAFE.test(part);
  if (typeof part !== "object" || part === null) return true;
  if (Array.isArray(part)) return part.every(isPrintable);
  for (const key in part) {
    if (UNSAFE.test(key) || !isPrintable((part as Record<string, unknown>)[key])) return false;
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
