import { maskPlace } from "../source/mask_place.ts";
import type { Place } from "../source/source.ts";
import type { Masker } from "../value/masker.ts";
import type { RunEvent } from "./event.ts";

/** An event with every secret taken out of its texts. */
export function maskEvent(event: RunEvent, masker: Masker): RunEvent {
  return maskPart(event, masker) as RunEvent;
}

function maskPart(part: unknown, masker: Masker): unknown {
  if (typeof part === "string") return masker.mask(part);
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((item) => maskPart(item, masker));
  if (isPlace(part)) return maskPlace(part, (text) => masker.mask(text));
  const out: Record<string, unknown> = Object.create(null);
  // Keys are data as well, in what went over the wire.
  for (const [key, value] of Object.entries(part)) out[masker.mask(key)] = maskPart(value, masker);
  return out;
}

function isPlace(part: object): part is Place {
  return "text" in part && "from" in part && "to" in part && "line" in part;
}
