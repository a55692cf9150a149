import type { JsYaml } from "./js_yaml.ts";
import { MOST_LEVELS } from "../limits.ts";
import { parseEvents } from "./parse_events.ts";
import type { JoinedText } from "../read_files.ts";
import { buildNodes, type YamlNode, type YamlScalar } from "./yaml_nodes.ts";

/** What is wrong with a YAML text, and where: an offset in it. */
export interface YamlFault {
  readonly reason: string;
  readonly offset: number;
}

/** The value of a text, read by js-yaml, or what is wrong with the text. */
type ExactResult = { readonly value: unknown } | { readonly fault: YamlFault };

/** Keys that `<<` may bring in all, so that a small file does not become a huge value. */
const MOST_MERGED_KEYS = 1_000_000;

/** Reads files as one document, in which a later file may set a top-level key again. */
export function parseExactly(joined: JoinedText, yaml: JsYaml): ExactResult {
  const { text, files } = joined;
  try {
    const events = parseEvents(text, yaml, MOST_LEVELS);
    const root = files.length > 1 ? buildNodes(events, text, yaml) : undefined;
    const { replaced, twice } = keysSetAgain(root, joined);
    if (twice) return { fault: { reason: "duplicated mapping key", offset: twice.start } };
    const [value] = yaml.constructFromEvents(events, {
      source: text,
      schema: makeSchema(yaml, replaced),
      maxTotalMergeKeys: MOST_MERGED_KEYS,
    });
    return { value: value ?? null };
  } catch (error) {
    if (error instanceof RangeError) return { fault: { reason: "nesting exceeded", offset: 0 } };
    if (!(error instanceof yaml.YAMLException)) throw error;
    return { fault: { reason: error.reason, offset: error.mark?.position ?? 0 } };
  }
}

/** Top-level keys that several files set, and the first that one file sets twice. */
function keysSetAgain(
  root: YamlNode | undefined,
  { starts }: JoinedText,
): { readonly replaced: ReadonlySet<string>; readonly twice?: YamlScalar } {
  const fileOf = (node: YamlNode) => starts.findLastIndex((start) => start <= node.start);
  const replaced = new Set<string>();
  const lastFile = new Map<string, number>();
  for (const { key } of root?.kind === "map" ? root.pairs : []) {
    if (key.kind !== "scalar" || key.text === "<<") continue;
    const file = fileOf(key);
    const earlier = lastFile.get(key.text);
    if (earlier === file) return { replaced, twice: key };
    if (earlier !== undefined) replaced.add(key.text);
    lastFile.set(key.text, file);
  }
  return { replaced };
}

/**
 * YAML's core schema with `<<`, and with numbers as the fast parser reads them, so that a
 * number means the same whichever parser reads it.
 */
function makeSchema(yaml: JsYaml, replaced: ReadonlySet<string>) {
  const { CORE_SCHEMA, mergeTag, legacyMapTag, intCoreTag, floatCoreTag } = yaml;
  let root: object | undefined;
  const mapTag = yaml.defineMappingTag("tag:yaml.org,2002:map", {
    addPair: legacyMapTag.addPair,
    keys: legacyMapTag.keys,
    get: legacyMapTag.get,
    identify: legacyMapTag.identify,
    create: (tagName) => {
      const map = legacyMapTag.create(tagName);
      root ??= map;
      return map;
    },
    has: (map, key) => legacyMapTag.has(map, key) && !(map === root && replaced.has(String(key))),
  });
  const intTag = yaml.defineScalarTag<number | string>("tag:yaml.org,2002:int", {
    ...intCoreTag,
    resolve: (text) => parseInteger(text) ?? yaml.NOT_RESOLVED,
  });
  const floatTag = yaml.defineScalarTag<number>("tag:yaml.org,2002:float", {
    ...floatCoreTag,
    resolve: (text) => parseFloat(text) ?? yaml.NOT_RESOLVED,
  });
  return CORE_SCHEMA.withTags(mergeTag, mapTag, intTag, floatTag);
}

const INTEGER = /^([-+]?)(0[xbo]?(?=[_\da-fA-F])|(?=\d))([\d_a-fA-F]+)$/;
const DIGITS: Readonly<Record<string, RegExp>> = {
  "": /^(?:0|[1-9](?:_*\d)*)$/,
  "0": /^(?:_*[0-7])+$/,
  "0o": /^(?:_*[0-7])+$/,
  "0b": /^(?:_*[01])+$/,
  "0x": /^(?:_*[\da-fA-F])+$/,
};

/** An integer; as text where a number cannot hold it, and undefined where the text is none. */
function parseInteger(text: string): number | string | undefined {
  const [, sign = "", prefix = "", digits = ""] = INTEGER.exec(text) ?? [];
  if (!DIGITS[prefix]!.test(digits)) return /^[-+]?0[\d_]+$/.test(text) ? text : undefined;
  const radix = prefix === "0" ? "0o" : prefix;
  const value = Number(radix + digits.replaceAll("_", ""));
  if (!Number.isSafeInteger(value)) return text;
  return sign === "-" ? -value : value;
}

const FLOAT = /^[-+]?(?:(?:0|[1-9][\d_]*)(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?(?<!_)$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  [".inf", Infinity],
  ["+.inf", Infinity],
  ["-.inf", -Infinity],
  [".nan", NaN],
]);

/** A number with a fraction or an exponent; undefined where the text is none, or too large. */
function parseFloat(text: string): number | undefined {
  if (/^[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)$/.test(text)) return SPECIAL.get(text.toLowerCase());
  const value = FLOAT.test(text) ? Number(text.replaceAll("_", "")) : Infinity;
  return value === Infinity || value === -Infinity ? undefined : value;
}
