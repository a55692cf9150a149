import { maskPlace } from "../source/mask_place.ts";
import type { Place } from "../source/source.ts";
import type { Masker } from "../value/masker.ts";
import type { RunEvent } from "./event.ts";

/**
 * An event with every secret taken out of its texts. Keys are left as they are: those that come
 * from outside stand in an exchange, which was masked when it was cut.
 */
export function maskEvent(event: RunEvent, masker: Masker): RunEvent {
  return maskPart(event, masker) as RunEvent;
}

/** The same part where there is nothing to mask in it: nearly all events are copied nowhere. */
function maskPart(part: unknown, masker: Masker): unknown {
  if (typeof part === "string") return masker.mask(part);
  if (typeof part !== "object" || part === null) return part;
  if (isPlace(part)) return maskPlace(part, (text) => masker.mask(text));
  const source = part as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key in source) {
    const value = source[key];
    const masked = maskPart(value, masker);
    if (masked === value) continue;
    copy ??= Array.isArray(part) ? [...part] as never : { ...source };
    copy[key] = masked;
  }
  return copy ?? part;
}

function isPlace(part: object): part is Place {
  return "text" in part && "from" in part && "to" in part && "line" in part;
}
