import type { Value } from "../../base/value/value.ts";
import { captureRegex, loadRegexEngine, regexProblem } from "../evaluate/regex.ts";
import { testText } from "../evaluate/operations.ts";
import { limitText } from "../limits.ts";
import { countCharacters } from "../evaluate/access.ts";
import { Fault, kindOf } from "../fault.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { define, defineWithEvaluation, type FunctionBodies } from "./function.ts";

export const BODIES: FunctionBodies = {
  trim: define(
    "The string without white space, or without the given characters, at both ends.",
    (text: string, characters?: string) =>
      characters === undefined ? text.trim() : trimCharacters(text, characters),
  ),
  trimPrefix: define(
    "The string without `prefix`, by default one space.",
    (text: string, prefix = " ") => text.startsWith(prefix) ? text.slice(prefix.length) : text,
  ),
  trimSuffix: define(
    "The string without `suffix`, by default one space.",
    (text: string, suffix = " ") =>
      text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  upper: define("The string in upper case.", (text: string) => text.toUpperCase()),
  lower: define("The string in lower case.", (text: string) => text.toLowerCase()),
  split: define(
    "The parts of a string between separators; at most `limit` parts.",
    split,
  ),
  splitAfter: define(
    "Like split; each part keeps its separator.",
    (text: string, separator: string, limit?: number) =>
      split(text, separator, limit).map((part, index, parts) =>
        index < parts.length - 1 ? part + separator : part
      ),
  ),
  replace: define(
    "The string with `old` replaced by `new`, everywhere or the first `limit` times.",
    replace,
  ),
  repeat: define(
    "The string repeated `count` times.",
    (text: string, count: number) => {
      if (count < 0) throw new Fault("repeat() needs a count of 0 or more");
      limitText(text.length * count);
      return text.repeat(count);
    },
  ),
  join: define(
    "The strings of a list joined with a separator.",
    join,
  ),
  indexOf: define(
    "The index of the first occurrence in characters, or -1.",
    (text: string, part: string) => characterIndex(text, text.indexOf(part)),
  ),
  lastIndexOf: define(
    "The index of the last occurrence in characters, or -1.",
    (text: string, part: string) => characterIndex(text, text.lastIndexOf(part)),
  ),
  hasPrefix: define(
    "Whether the string starts with `prefix`.",
    (text: string, prefix: string) => text.startsWith(prefix),
  ),
  hasSuffix: define(
    "Whether the string ends with `suffix`.",
    (text: string, suffix: string) => text.endsWith(suffix),
  ),
  capture: defineWithEvaluation(
    "The first match of a regular expression and its groups, as a list; nil if there is none.",
    (run, text: string, pattern: string) => captureRegex(text, pattern, run) ?? null,
    { load: loadRegexEngine, constant: { position: 1, problem: regexProblem } },
  ),
  contains: wordFunction("contains", "part", "Whether the string contains `part`"),
  startsWith: wordFunction("startsWith", "part", "Whether the string starts with `part`"),
  endsWith: wordFunction("endsWith", "part", "Whether the string ends with `part`"),
  matches: wordFunction(
    "matches",
    "pattern",
    "Whether the regular expression matches part of the string",
  ),
};

/** An operator that is a word, written as a function. */
function wordFunction(name: Parameters<typeof testText>[0], part: string, summary: string) {
  return defineWithEvaluation(
    `${summary}: text ${name} ${part}.`,
    (run: Evaluation, text: Value, part: Value) => testText(name, text, part, run),
    name === "matches" ? { load: loadRegexEngine } : {},
  );
}

function trimCharacters(text: string, characters: string): string {
  const all = [...text];
  const unwanted = new Set(characters);
  const from = all.findIndex((character) => !unwanted.has(character));
  if (from < 0) return "";
  return all.slice(from, all.findLastIndex((character) => !unwanted.has(character)) + 1).join("");
}

function split(text: string, separator: string, limit = -1): string[] {
  if (limit === 0) return [];
  const parts = separator === "" ? [...text] : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function replace(text: string, old: string, by: string, limit = -1): string {
  const parts = old === "" ? ["", ...text, ""] : text.split(old);
  const count = limit < 0 ? parts.length - 1 : Math.min(limit, parts.length - 1);
  limitText(text.length + count * by.length);
  const changed = parts.slice(0, count + 1).join(by);
  return count === parts.length - 1 ? changed : [changed, ...parts.slice(count + 1)].join(old);
}

function join(list: readonly Value[], separator = ""): string {
  let length = 0;
  for (const [index, item] of list.entries()) {
    if (typeof item !== "string") {
      const hint = "turn the items into text first: map(list, string(#))";
      throw new Fault(`join() needs strings, item ${index} is ${kindOf(item)}`, hint);
    }
    length += item.length + separator.length;
  }
  limitText(length);
  return list.join(separator);
}

function characterIndex(text: string, index: number): number {
  return index < 0 ? -1 : countCharacters(text.slice(0, index));
}
