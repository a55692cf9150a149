import { findOpening } from "./find_opening.ts";
import type { JsYaml, YamlEvent } from "./js_yaml.ts";

/** The events of a text, with offsets in it. Throws what js-yaml throws. */
export function parseEvents(text: string, yaml: JsYaml, maxDepth: number): YamlEvent[] {
  try {
    return yaml.parseEvents(text, { maxDepth });
  } catch (fault) {
    const events = isOutdented(fault, yaml) && parseJoined(text, fault, yaml, maxDepth);
    if (!events) throw fault;
    return events;
  }
}

type YamlException = InstanceType<JsYaml["YAMLException"]>;

function isOutdented(fault: unknown, yaml: JsYaml): fault is YamlException {
  return fault instanceof yaml.YAMLException && fault.reason === "deficient indentation";
}

/**
 * Reads a text in which lines in brackets or quotes are not indented, like a `}` below the key
 * that its `{` belongs to. YAML forbids that, and everybody writes and every other parser reads
 * it. Undefined where the text has other faults, which are not to be told of.
 */
function parseJoined(
  text: string,
  fault: YamlException,
  yaml: JsYaml,
  maxDepth: number,
): YamlEvent[] | undefined {
  const joined = joinLines(text);
  if (joined === undefined) return undefined;
  try {
    const events = yaml.parseEvents(joined, { maxDepth });
    // Scalars of one line are copied as they are; these are folded, when they are read.
    return events.map((event) => isBroken(event, text) ? { ...event, fast: false } : event);
  } catch (other) {
    // Where the bracket does close, it is what comes after it that is wrong.
    if (/^[\]}]/.test(text.slice(fault.mark?.position ?? 0))) throw other;
    return undefined;
  }
}

/** The text with what is in brackets and quotes in one line; undefined where one is open. */
function joinLines(text: string): string | undefined {
  const pieces: string[] = [];
  let copied = 0;
  const opening = findOpening(text, text.length, (start, end) => {
    pieces.push(text.slice(copied, start), " ".repeat(end - start));
    copied = end;
  });
  if (opening !== undefined) return undefined;
  return pieces.join("") + text.slice(copied);
}

function isBroken(event: YamlEvent, text: string): boolean {
  return "fast" in event && event.fast &&
    /[\r\n]/.test(text.slice(event.valueStart, event.valueEnd));
}
