import {
  COLLECTION_STYLE,
  constructFromEvents,
  CORE_SCHEMA,
  defineScalarTag,
  type Event as YamlEvent,
  EVENT_ID,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  legacyMapTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from "js-yaml";
import type { Source, Span } from "../source.ts";
import { readInteger } from "../value/value.ts";
import { findOpening } from "./find_opening.ts";

/** No real document is nested deeper, and recursion over a deeper one could overflow the stack. */
export const MAX_DEPTH = 500;

export { COLLECTION_STYLE, EVENT_ID, getScalarValue, SCALAR_STYLE, type YamlEvent };

/** Files as events of the parser, whose offsets are those of all texts one after the other. */
export interface ParsedYaml {
  readonly files: readonly Source[];
  readonly text: string;
  /** Where each file begins in the text. */
  readonly starts: readonly number[];
  /** The files that are not empty. */
  readonly filled: readonly Source[];
  /** One document, a list with the content of each file, so that anchors count in later files. */
  readonly events: YamlEvent[];
}

/** A text that is not YAML: the parser's reason and the offset where it stopped. */
export class YamlFault extends Error {
  constructor(
    readonly reason: string,
    readonly source: Source,
    readonly offset: number,
  ) {
    super(reason);
  }
}

/** The reason of a fault that is ours: a second document in a file. */
export const SECOND_DOCUMENT = "a second document";
/** The reason of our own fault: content that cannot be merged with other files' keys. */
export const NOT_A_MAPPING = "not a mapping";

/** `<<` may bring in that many keys in all, so that a small file does not become a huge value. */
const MAX_MERGED_KEYS = 1_000_000;

const NOTHING = { anchorStart: -1, anchorEnd: -1, tagStart: -1, tagEnd: -1 };

/** Parses files that make up one document. Throws YamlFault for the first that is wrong. */
export function parseYaml(files: readonly Source[]): ParsedYaml {
  const directives: Extract<YamlEvent, { directives: unknown }>["directives"] = [];
  const events: YamlEvent[] = [
    { type: EVENT_ID.DOCUMENT, explicitStart: false, explicitEnd: false, directives },
    { type: EVENT_ID.SEQUENCE, start: 0, ...NOTHING, style: COLLECTION_STYLE.BLOCK },
  ];
  const starts: number[] = [];
  const filled: Source[] = [];
  let text = "";
  for (const source of files) {
    const start = text.length;
    starts.push(start);
    text += source.text.endsWith("\n") ? source.text : `${source.text}\n`;
    const document = onlyDocument(parseFile(source), source, files.length > 1);
    if (document.length > 0) filled.push(source);
    for (const event of document) {
      if (event.type === EVENT_ID.DOCUMENT) {
        for (const one of event.directives) directives.push(one);
      } else events.push(start === 0 ? event : shifted(event, start));
    }
  }
  events.push({ type: EVENT_ID.POP }, { type: EVENT_ID.POP });
  return { files, text, starts, filled, events };
}

function parseFile(source: Source): readonly YamlEvent[] {
  const { text } = source;
  const options = { maxDepth: MAX_DEPTH };
  try {
    return parseEvents(text, options);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const fault = faultIn(source, error);
    const joined = fault.reason === "deficient indentation" ? joinBrackets(text) : undefined;
    if (joined === undefined) throw fault;
    try {
      return parseEvents(joined, options);
    } catch (other) {
      if (!(other instanceof YAMLException)) throw other;
      // Where the bracket does close, what comes after it is wrong.
      throw /^[\]}]/.test(text.slice(fault.offset)) ? faultIn(source, other) : fault;
    }
  }
}

function faultIn(source: Source, { reason, mark }: YAMLException): YamlFault {
  return new YamlFault(reason, source, mark?.position ?? 0);
}

/** The events of the one document of a file that holds something, without its last one. */
function onlyDocument(
  events: readonly YamlEvent[],
  source: Source,
  isJoined: boolean,
): readonly YamlEvent[] {
  const starts = events.flatMap(({ type }, index) => type === EVENT_ID.DOCUMENT ? [index] : []);
  const filled = starts.filter((start) => !isEmpty(events[start + 1]!));
  const [start, second] = filled;
  if (start === undefined) return [];
  const end = starts.find((other) => other > start) ?? events.length;
  if (second !== undefined) {
    const from = Math.max(...events.slice(start + 1, end).slice(-3).map(endOf));
    const marker = /^(?:---|\.\.\.)(?=\s|$)/m.exec(source.text.slice(from));
    throw new YamlFault(SECOND_DOCUMENT, source, from + (marker?.index ?? 0));
  }
  const root = events[start + 1]!;
  if (isJoined && root.type !== EVENT_ID.MAPPING) {
    throw new YamlFault(NOT_A_MAPPING, source, startOf(root));
  }
  return events.slice(start, end - 1);
}

function isEmpty(event: YamlEvent): boolean {
  return event.type === EVENT_ID.SCALAR && event.valueStart < 0 && event.tagStart < 0 &&
    event.anchorStart < 0;
}

function startOf(event: YamlEvent): number {
  if ("start" in event) return event.start;
  return "valueStart" in event ? event.valueStart : "anchorStart" in event ? event.anchorStart : 0;
}

function endOf(event: YamlEvent): number {
  return "valueEnd" in event ? event.valueEnd : "anchorEnd" in event ? event.anchorEnd : 0;
}

const OFFSETS: readonly string[] = [
  ...["start", "valueStart", "valueEnd", "anchorStart", "anchorEnd", "tagStart", "tagEnd"],
];

function shifted<T extends YamlEvent>(event: T, by: number): T {
  const moved = Object.entries(event).map(([key, value]) =>
    [key, OFFSETS.includes(key) && value >= 0 ? value + by : value] as const
  );
  return Object.fromEntries(moved) as T;
}

/**
 * The value of each file in `filled`. Of a key that a mapping has twice, the last one counts if
 * `allowsDuplicates`. Throws YamlFault.
 */
export function constructValues(parsed: ParsedYaml, allowsDuplicates = false): readonly unknown[] {
  const { text: source, events } = parsed;
  const options = {
    ...{ source, schema: makeSchema(), maxTotalMergeKeys: MAX_MERGED_KEYS },
    json: allowsDuplicates,
  };
  try {
    return constructFromEvents(events, options)[0] as unknown[];
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const offset = error.mark?.position ?? 0;
    const { source, start } = spanAt(parsed, offset, offset);
    throw new YamlFault(error.reason, source, start);
  }
}

/** A part of the joined text as a part of the file that it came from. */
export function spanAt({ files, starts }: ParsedYaml, start: number, end: number): Span {
  let index = starts.length - 1;
  while (index > 0 && starts[index]! > start) index--;
  const from = starts[index] ?? 0;
  const source = files[index]!;
  const inFile = (offset: number) => Math.min(offset - from, source.text.length);
  return { source, start: inFile(start), end: inFile(end) };
}

/** YAML's core schema with `<<` and the numbers of YAML 1.1: 0b11, 1_000 and 010, which is 8. */
function makeSchema() {
  const intTag = defineScalarTag<number | bigint | string>("tag:yaml.org,2002:int", {
    ...intCoreTag,
    resolve: (text) => parseInteger(text) ?? NOT_RESOLVED,
  });
  const floatTag = defineScalarTag<number>("tag:yaml.org,2002:float", {
    ...floatCoreTag,
    resolve: (text) => parseFloat(text) ?? NOT_RESOLVED,
  });
  return CORE_SCHEMA.withTags(mergeTag, legacyMapTag, intTag, floatTag);
}

const INTEGER = /^[-+]?(?:0|[1-9](?:_*\d)*|0o?(?:_*[0-7])+|0b(?:_*[01])+|0x(?:_*[\da-fA-F])+)$/;

/** An integer; as text if it is too large for any number, and undefined if the text is not one. */
function parseInteger(text: string): number | bigint | string | undefined {
  if (!INTEGER.test(text)) return /^[-+]?0[\d_]+$/.test(text) ? text : undefined;
  return readInteger(text.replaceAll("_", "").replace(/(?<=^[-+]?)0(?=\d)/, "0o")) ?? text;
}

const FLOAT = /^[-+]?(?:(?:0|[1-9][\d_]*)(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?(?<!_)$/;
const SPECIAL = /^([-+]?)\.(?:(inf|Inf|INF)|nan|NaN|NAN)$/;

/** A number with a fraction or an exponent; undefined if the text is not one, or too large. */
function parseFloat(text: string): number | undefined {
  const special = SPECIAL.exec(text);
  if (special) return special[2] ? Number(`${special[1]}Infinity`) : NaN;
  const value = FLOAT.test(text) ? Number(text.replaceAll("_", "")) : Infinity;
  return Math.abs(value) === Infinity ? undefined : value;
}

/**
 * The text, in the same length, with each closing bracket in the line of its opening bracket; undefined
 * where one is open. YAML wants a `}` to be indented deeper than the key of its `{`, and so does the
 * parser; formatters do not indent it, and other parsers read it.
 */
function joinBrackets(text: string): string | undefined {
  const pieces: string[] = [];
  let copied = 0;
  const opening = findOpening(text, text.length, (start, end) => {
    pieces.push(text.slice(copied, start), " ".repeat(end - start));
    copied = end;
  });
  return opening === undefined ? pieces.join("") + text.slice(copied) : undefined;
}
