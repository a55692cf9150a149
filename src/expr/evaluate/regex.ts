import type { RE2JS, RE2JSSyntaxException } from "re2js";
import type { Meter } from "../../base/value/meter.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../expression_limits.ts";

/** Compiling is paid for as so many steps. */
const COMPILE_COST = 1000;
const CACHE_SIZE = 200;

let engine: typeof RE2JS | undefined;
let loading: Promise<void> | undefined;
const compiled = new Map<string, RE2JS>();

/**
 * Loads the engine for regular expressions, whose time grows in line with the text whatever the
 * pattern is. It takes a few milliseconds, and most workflows have no pattern at all.
 */
export function loadRegexEngine(): Promise<void> {
  return loading ??= import("re2js").then((module) => {
    engine = module.RE2JS;
  });
}

/** The problem of a pattern; undefined if there is none, or before the engine is loaded. */
export function regexProblem(pattern: string): string | undefined {
  if (!engine) return undefined;
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** A pattern of ECMAScript as the engine writes it; it must be loaded. */
export function translateEcma(pattern: string): string {
  if (!engine) throw new Error("the engine for regular expressions is not loaded");
  return engine.translateRegExp(pattern);
}

/** Whether a pattern is found anywhere in a text. */
export function matchesRegex(text: string, pattern: string, meter: Meter): boolean {
  if (!compiled.has(pattern)) meter.spend(COMPILE_COST);
  const regex = compile(pattern);
  // The engine walks the program once for each character.
  meter.spend((text.length * Math.max(8, regex.programSize())) / 32);
  return regex.matcher(text).find();
}

/** The first match of a pattern and its groups; a group that took no part is null. */
export function captureRegex(
  text: string,
  pattern: string,
  meter: Meter,
): (string | null)[] | undefined {
  if (!compiled.has(pattern)) meter.spend(COMPILE_COST);
  const regex = compile(pattern);
  // Groups take a second walk, which copies where each of them is.
  const width = Math.max(8, regex.programSize()) * (2 + regex.groupCount());
  meter.spend((text.length * width) / 32);
  const matcher = regex.matcher(text);
  if (!matcher.find()) return undefined;
  return Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index));
}

function compile(pattern: string): RE2JS {
  if (!engine) throw new Error("the engine for regular expressions is not loaded");
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > LIMITS.pattern) {
    throw new Fault(`the regular expression is longer than ${LIMITS.pattern} characters`);
  }
  let regex: RE2JS;
  try {
    regex = engine.compile(pattern);
  } catch (error) {
    throw new Fault(`invalid regular expression: ${problemOf(error, pattern)}`);
  }
  if (compiled.size >= CACHE_SIZE) compiled.delete(compiled.keys().next().value!);
  compiled.set(pattern, regex);
  return regex;
}

/** What other engines have and this one cannot have. */
const UNSUPPORTED: readonly (readonly [form: RegExp, words: string])[] = [
  [/^\(\?<?[=!]/, "lookaround is not supported"],
  [/^\(\?>/, "atomic groups are not supported"],
  [/^\\[1-9]/, "backreferences are not supported"],
];

/** Without the pattern, which may hold a secret. */
function problemOf(error: unknown, pattern: string): string {
  if (!(error instanceof Error && "getDescription" in error)) return "unknown syntax";
  const { getDescription, getPattern } = error as RE2JSSyntaxException;
  const part = getPattern.call(error);
  const description = UNSUPPORTED.find(([form]) => form.test(part ?? ""))?.[1] ??
    getDescription.call(error);
  // Of a missing or unexpected bracket the engine names the rest of the pattern, or all of it.
  if (!part || /closing|unexpected/.test(description)) return description;
  const at = pattern.indexOf(part);
  const isClear = at >= 0 && pattern.indexOf(part, at + 1) < 0;
  return isClear
    ? `${description} at character ${[...pattern.slice(0, at)].length + 1}`
    : description;
}

/** The regular expression in `/…/`, if a text is one. */
export function patternIn(text: string): string | undefined {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/")
    ? text.slice(1, -1)
    : undefined;
}
