import type { Value } from "../../value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf } from "../fault.ts";
import { countCharacters, findLastText, findText, splitText } from "../evaluate/text.ts";
import { define } from "./function.ts";

/** Functions on texts. */
export const TEXT_FUNCTIONS = [
  define(
    "trim(text: string, characters?: string)",
    "The text without spaces, or without the given characters, at both ends.",
    (_, text: string, characters?: string) =>
      characters === undefined ? text.trim() : trimCharacters(text, characters),
  ),
  define(
    "trimPrefix(text: string, prefix?: string)",
    "The text without a beginning, by default one space.",
    (_, text: string, prefix = " ") => text.startsWith(prefix) ? text.slice(prefix.length) : text,
  ),
  define(
    "trimSuffix(text: string, suffix?: string)",
    "The text without an ending, by default one space.",
    (_, text: string, suffix = " ") =>
      text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  define(
    "upper(text: string)",
    "The text in capital letters.",
    (_, text: string) => text.toUpperCase(),
  ),
  define(
    "lower(text: string)",
    "The text in small letters.",
    (_, text: string) => text.toLowerCase(),
  ),
  define(
    "split(text: string, separator: string, limit?: integer)",
    "The parts of a text between the separators, at most so many.",
    (run, text: string, separator: string, limit?: number) => split(run, text, separator, limit),
  ),
  define(
    "splitAfter(text: string, separator: string, limit?: integer)",
    "As split, with the separator kept at the end of each part.",
    (run, text: string, separator: string, limit?: number) =>
      split(run, text, separator, limit).map((part, index, parts) =>
        index < parts.length - 1 ? part + separator : part
      ),
  ),
  define(
    "replace(text: string, old: string, new: string, limit?: integer)",
    "The text with each old part, or the first so many, replaced by the new.",
    replace,
  ),
  define(
    "repeat(text: string, count: integer)",
    "The text so many times.",
    (run, text: string, count: number) => {
      if (count < 0) throw new Fault("repeat() needs a count of 0 or more");
      run.reserveText(text.length * count);
      return text.repeat(count);
    },
  ),
  define(
    "join(list: list, separator?: string)",
    "The texts of a list as one, with the separator between them.",
    join,
  ),
  define(
    "indexOf(text: string, part: string)",
    "Where a part first stands in a text, counted in characters, or -1.",
    (_, text: string, part: string) => characterIndex(text, findText(text, part)),
  ),
  define(
    "lastIndexOf(text: string, part: string)",
    "Where a part last stands in a text, counted in characters, or -1.",
    (_, text: string, part: string) => characterIndex(text, findLastText(text, part)),
  ),
  define(
    "hasPrefix(text: string, prefix: string)",
    "Whether a text begins so.",
    (_, text: string, prefix: string) => text.startsWith(prefix),
  ),
  define(
    "hasSuffix(text: string, suffix: string)",
    "Whether a text ends so.",
    (_, text: string, suffix: string) => text.endsWith(suffix),
  ),
] as const;

function trimCharacters(text: string, characters: string): string {
  const all = [...text];
  const unwanted = new Set(characters);
  const from = all.findIndex((character) => !unwanted.has(character));
  if (from < 0) return "";
  return all.slice(from, all.findLastIndex((character) => !unwanted.has(character)) + 1).join("");
}

function split(run: Evaluation, text: string, separator: string, limit = -1): string[] {
  run.spend(text.length >> 2);
  if (limit === 0) return [];
  const parts = splitText(text, separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function replace(run: Evaluation, text: string, old: string, by: string, limit = -1): string {
  const parts = old === "" ? ["", ...text, ""] : splitText(text, old);
  run.spend(parts.length);
  const count = limit < 0 ? parts.length - 1 : Math.min(limit, parts.length - 1);
  run.reserveText(text.length + count * by.length);
  const changed = parts.slice(0, count + 1).join(by);
  return count === parts.length - 1 ? changed : [changed, ...parts.slice(count + 1)].join(old);
}

function join(run: Evaluation, list: readonly Value[], separator = ""): string {
  let length = 0;
  run.spend(list.length);
  for (const [index, item] of list.entries()) {
    if (typeof item !== "string") {
      const hint = "turn the items into text first: map(list, string(#))";
      throw new Fault(`join() needs strings, item ${index} is ${kindOf(item)}`, hint);
    }
    length += item.length + separator.length;
    run.reserveText(length);
  }
  return list.join(separator);
}

function characterIndex(text: string, index: number): number {
  return index < 0 ? -1 : countCharacters(text.slice(0, index));
}
