import { holdsTemplate } from "../../expr/template/template_data.ts";
import type { Path } from "../../base/source.ts";
import { isDict, isNumber } from "../../base/value/value.ts";
import { MAX_DEPTH } from "../../base/yaml/parse_yaml.ts";
import type { Document } from "../model.ts";
import { addWarning, type Problem } from "../problem.ts";

/** The properties of a document found before decoding. */
interface Inspection {
  /** Why the document must not be traversed, and the place of the cause. */
  readonly fault?: { readonly message: string; readonly path: Path };
  /** Mappings that are templates without quotes: YAML reads `{{ x }}` as a mapping in a mapping. */
  readonly unquoted: readonly Path[];
  /** Constant names of files that steps may read, as they are written, and the keys that have them. */
  readonly files: readonly { readonly key: string; readonly name: string }[];
}

/** Keys whose texts are paths of files that a step reads, or lists of them. */
const FILE_KEYS: readonly (string | number)[] = [
  ...["file", "openapi", "proto", "descriptor_set", "cookie_file", "attachments"],
  ...["ca", "cert", "key", "pfx"],
];

/** The number of values that aliases may add to those that are written. */
const MAX_ALIASED_VALUES = 1_000_000;

/** The name that a mapping gets as a key. */
const MAPPING_AS_KEY = "[object Object]";

/** Walks through a document once, however often its aliases repeat a part of it. */
export function inspectValue(root: unknown): Inspection {
  const known = new Map<object, Size>();
  const open = new Set<object>();
  const path: (string | number)[] = [];
  const unquoted: Path[] = [];
  let fault: Inspection["fault"];
  let written = 0;
  const files: { key: string; name: string }[] = [];
  const fail = (message: string): Size => {
    fault ??= { message, path: [...path] };
    return LEAF;
  };
  const walk = (value: unknown): Size => {
    if (typeof value !== "object" || value === null || fault) {
      written++;
      const key = path.slice(-2).find((key) => FILE_KEYS.includes(key));
      if (typeof value === "string" && key !== undefined && path[0] !== "vars") {
        if (!holdsTemplate(value)) files.push({ key: String(key), name: value });
      }
      return LEAF;
    }
    const before = known.get(value);
    if (before) return before;
    if (open.has(value)) return fail("an alias refers to itself");
    if (path.length > MAX_DEPTH) return fail("the values are nested too deeply");
    written++;
    open.add(value);
    let [values, levels] = [1, 0];
    const step = (key: string | number, part: unknown) => {
      path.push(key);
      const size = walk(part);
      path.pop();
      values += size.values;
      levels = Math.max(levels, size.levels);
    };
    if (Array.isArray(value)) value.forEach((item, index) => step(index, item));
    else for (const key of Object.keys(value)) step(key, (value as Record<string, unknown>)[key]);
    open.delete(value);
    if (Object.hasOwn(value, MAPPING_AS_KEY)) unquoted.push([...path]);
    if (values - written > MAX_ALIASED_VALUES) return fail("aliases make the document too large");
    if (levels >= MAX_DEPTH) return fail("the values are nested too deeply");
    const size = { values, levels: levels + 1 };
    known.set(value, size);
    return size;
  };
  walk(root);
  return { fault, unquoted, files };
}

interface Size {
  readonly values: number;
  readonly levels: number;
}

const LEAF: Size = { values: 1, levels: 0 };

/** The list of a key of a mapping; empty if there is none. */
export function listIn(map: unknown, key: string): readonly unknown[] {
  const list = isDict(map) && Object.hasOwn(map, key) ? map[key] : undefined;
  return Array.isArray(list) ? list : [];
}

/** A text that YAML may read as an octal number, wherever a value can be. */
const ANY_LEADING_ZERO = /(?<=^|[\s,[{:])[-+]?0[\d_]+(?=[\s,\]}]|$)/m;
const LEADING_ZERO = /^[-+]?0[\d_]+$/;

/**
 * Warns of numbers with a leading zero. YAML reads them to the base of eight, and they were often
 * meant as text, like a zip code.
 */
export async function warnOfLeadingZeros(problems: Problem[], document: Document): Promise<void> {
  if (!document.files.some(({ text }) => ANY_LEADING_ZERO.test(text))) return;
  const positions = await document.positions();
  const known = new Set<object>();
  const walk = (value: unknown, path: Path) => {
    if (isNumber(value)) {
      const written = positions.text(path)?.text ?? "";
      if (!LEADING_ZERO.test(written)) return;
      addWarning(problems, "leading-zero", path, `${written} is read as ${value}`, {
        hint: "put it in quotes for text, or leave out the zero",
      });
    } else if (typeof value === "object" && value !== null && !known.has(value)) {
      known.add(value);
      if (Array.isArray(value)) value.forEach((item, index) => walk(item, [...path, index]));
      else for (const [key, part] of Object.entries(value)) walk(part, [...path, key]);
    }
  };
  walk(document.value, []);
}
