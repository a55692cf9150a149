import { maskExcerpt, type SourceExcerpt } from "../base/source.ts";
import { boundPart } from "../secrets/bound_value.ts";
import type { Masker } from "../secrets/masker.ts";
import type { RunEvent } from "./event.ts";

/** Fields that give an event its shape: ids, numbers as text, and one of a few words. */
const SHAPE: ReadonlySet<string> = new Set(
  "type runId run id job needs step uses state level why kind outcome hash role phase buckets span parent"
    .split(" "),
);

/** Fields that hold data of users: the names in it have no meaning here. */
const DATA: ReadonlySet<string> = new Set(["value", "req", "res", "outputs", "vars"]);

/** A program may fail with a message of megabytes. */
const LONGEST_MESSAGE = 10_000;
const LONGEST_WARNING = 500;

/**
 * An event with every secret taken out of its texts: the one place where secrets are replaced,
 * through which all events go. Texts that were cut before were masked then, as half a secret is not
 * recognized. What gives an event its shape is left as it is: a variable may hold such a word by
 * chance. Undefined fields are left out, as in JSON.
 */
export function maskEvent(event: RunEvent, masker: Masker): RunEvent {
  const isWarning = event.type === "note" && event.level === "warning";
  const maskText = (text: string, key: string) => {
    const masked = masker.mask(text);
    if (key === "message" || key === "hint") return cutMessage(masked, LONGEST_MESSAGE);
    return isWarning && key === "text" ? cutMessage(masked, LONGEST_WARNING) : masked;
  };
  const mask = (part: unknown, key: string): unknown => {
    if (typeof part === "string") return maskText(part, key);
    if (typeof part !== "object" || part === null) return part;
    if (isExcerpt(part, key)) return maskExcerpt(part, (text) => maskText(text, ""));
    if (Array.isArray(part)) {
      const items = part.map((item) => mask(item, key));
      return items.every((item, index) => item === part[index]) ? part : items;
    }
    const fields: Record<string, unknown> = {};
    let isSame = true;
    for (const name of Object.keys(part)) {
      const field = (part as Record<string, unknown>)[name];
      const masked = maskField(name, field, key);
      isSame &&= masked === field && field !== undefined;
      if (field !== undefined) fields[name] = masked;
    }
    return isSame ? part : fields;
  };
  const maskField = (name: string, field: unknown, parent: string): unknown => {
    const isPicture = parent === "images" && name === "data";
    if (SHAPE.has(name) || isPicture || field === undefined) return field;
    return DATA.has(name) ? boundPart(field, { left: Infinity }, masker) : mask(field, name);
  };
  return mask(event, "") as RunEvent;
}

function isExcerpt(part: object, key: string): part is SourceExcerpt {
  return key === "place" && "text" in part;
}

/** The first part of a text, up to the end of a line where one is near. */
function cutMessage(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const line = text.lastIndexOf("\n", longest);
  const end = line > longest / 2 ? line : longest;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}
