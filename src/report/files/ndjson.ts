import type { RunEvent } from "../../run/event.ts";

/** An event as a line of JSON. */
export function renderNdjson(event: RunEvent): string {
  return `${JSON.stringify(event)}\n`;
}
