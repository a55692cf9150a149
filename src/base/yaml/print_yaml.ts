import { stringify } from "@std/yaml/stringify";
import { isDict } from "../value/value.ts";

/**
 * Renders plain data as YAML, with double quotes as `runner fmt` writes them. It reads back as the
 * same data, here and by parsers of YAML 1.1 and 1.2.
 */
export function printYaml(value: unknown): string {
  const options = { lineWidth: -1, useAnchors: false, quoteStyle: '"' } as const;
  return stringify(mark(value), options).replace(
    MARKED,
    (_, sign: string, text: string) => sign === "F" ? `"${text}"` : text,
  );
}

/**
 * Texts that stringify() does not put in quotes, though parsers of YAML 1.2 read them as numbers,
 * such as `0o17` and `-.5`, and those that it puts in single quotes.
 */
const NEEDS_QUOTES = new RegExp(
  [
    String.raw`^(?:|[-+]?(?:0o?[\d_]+|\.[\d_]+|[\d_]+(?:\.[\d_]*)?)(?:[eE][-+]?\d+)?`,
    String.raw`[yn]|yes|no|on|off)$`,
  ].join("|"),
  "i",
);

/** Signs that are in no text: stringify() puts what has them in quotes, and writes them as escapes. */
const TEXT = "\uFFFF";
const INTEGER = "\uFFFE";
const MARKED = /"\\uFFF([EF])([-+.\w]*)"/g;

/** The data with a sign before the texts that need quotes and before integers beyond ±2^53. */
function mark(value: unknown): unknown {
  if (typeof value === "bigint") return INTEGER + value;
  if (typeof value === "string") return markText(value);
  if (Array.isArray(value)) return value.map(mark);
  if (!isDict(value)) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [markText(key), mark(part)]));
}

function markText(text: string): string {
  return NEEDS_QUOTES.test(text) ? TEXT + text : text;
}
