import type { Place } from "./source.ts";

/** A place without secrets; the mark stays under its text, which may have become shorter. */
export function maskPlace(place: Place, mask: (text: string) => string): Place {
  const text = mask(place.text);
  const file = mask(place.file);
  if (text === place.text) return file === place.file ? place : { ...place, file };
  const from = Math.min(mask(place.text.slice(0, place.from)).length, text.length);
  const to = Math.min(mask(place.text.slice(0, place.to)).length, text.length);
  return { ...place, file, text, from, to: Math.max(from, to) };
}
