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
const MAX_REPEATED_VALUES = 1_000_000;

/** The name that a mapping gets as a key. */
const MAPPING_AS_KEY = "[object Object]";

/** Walks through a document, also through the parts that its aliases repeat. */
export function inspectValue(root: unknown): Inspection {
  const seen = new Set<object>();
  const open = new Set<object>();
  const path: (string | number)[] = [];
  const unquoted: Path[] = [];
  const files: { key: string; name: string }[] = [];
  let fault: Inspection["fault"];
  /** The values that aliases repeat, and the number of aliases around the current value. */
  let repeated = 0;
  let aliases = 0;
  const walk = (value: unknown): void => {
    if (fault) return;
    if (aliases > 0 && ++repeated > MAX_REPEATED_VALUES) {
      fault = { message: "aliases make the document too large", path: [...path] };
    } else if (typeof value === "string") {
      const key = path.slice(-2).find((key) => FILE_KEYS.includes(key));
      if (key !== undefined && path[0] !== "vars" && !holdsTemplate(value)) {
        files.push({ key: String(key), name: value });
      }
    } else if (typeof value === "object" && value !== null) {
      if (open.has(value)) fault = { message: "an alias refers to itself", path: [...path] };
      else walkInto(value);
    }
  };
  const walkInto = (value: object) => {
    if (path.length > MAX_DEPTH) {
      fault = { message: "the values are nested too deeply", path: [...path] };
      return;
    }
    if (Object.hasOwn(value, MAPPING_AS_KEY)) unquoted.push([...path]);
    const isRepeated = seen.has(value);
    if (isRepeated) aliases++;
    seen.add(value);
    open.add(value);
    for (const [key, part] of Object.entries(value)) {
      path.push(Array.isArray(value) ? Number(key) : key);
      walk(part);
      path.pop();
    }
    open.delete(value);
    if (isRepeated) aliases--;
  };
  walk(root);
  return { fault, unquoted, files };
}

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
export function warnOfLeadingZeros(problems: Problem[], document: Document): void {
  if (!document.files.some(({ text }) => ANY_LEADING_ZERO.test(text))) return;
  const positions = document.positions();
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
