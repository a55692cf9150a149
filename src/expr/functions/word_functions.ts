import { testText } from "../evaluate/operations.ts";
import { define } from "./function.ts";

/** The operators on texts that are words, written as functions. */
export const WORD_FUNCTIONS = [
  define(
    "contains(text: any, part: any)",
    "Whether the string contains `part`: text contains part.",
    (run, text, part) => testText("contains", text, part, run),
  ),
  define(
    "startsWith(text: any, part: any)",
    "Whether the string starts with `part`: text startsWith part.",
    (run, text, part) => testText("startsWith", text, part, run),
  ),
  define(
    "endsWith(text: any, part: any)",
    "Whether the string ends with `part`: text endsWith part.",
    (run, text, part) => testText("endsWith", text, part, run),
  ),
  define(
    "matches(text: any, pattern: any)",
    "Whether the regular expression matches part of the string: text matches pattern.",
    (run, text, pattern) => testText("matches", text, pattern, run),
  ),
] as const;
