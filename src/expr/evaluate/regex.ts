import type { RE2JS, RE2JSSyntaxException } from "re2js";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";
import { remember } from "../remember.ts";
import type { Evaluation } from "./evaluation.ts";

let engine: typeof RE2JS | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads the engine for regular expressions, which runs in linear time whatever the
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

/** Whether a pattern is found anywhere in a text. */
export function matchesRegex(text: string, pattern: string, run?: Evaluation): boolean {
  return matcherOf(text, pattern, run).find();
}

/** Each character of a text may take a step for each instruction of the pattern. */
function matcherOf(text: string, pattern: string, run: Evaluation | undefined) {
  const regex = compile(pattern);
  run?.step((text.length >> 7) * regex.programSize());
  return regex.matcher(text);
}

/** The first match of a pattern and its groups; a group that took no part is null. */
export function captureRegex(
  text: string,
  pattern: string,
  run: Evaluation,
): (string | null)[] | undefined {
  const matcher = matcherOf(text, pattern, run);
  if (!matcher.find()) return undefined;
  return Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index));
}

const compile = remember((pattern): RE2JS => {
  if (pattern.length > LIMITS.pattern) {
    throw new Fault(`the regular expression is longer than ${LIMITS.pattern} characters`);
  }
  const loaded = loadedEngine();
  try {
    return loaded.compile(pattern);
  } catch (error) {
    throw new Fault(`invalid regular expression: ${problemOf(error, pattern)}`);
  }
});

function loadedEngine(): typeof RE2JS {
  if (!engine) throw new Error("the engine for regular expressions is not loaded");
  return engine;
}

/** Syntax of other engines that RE2 does not support. */
const UNSUPPORTED: readonly (readonly [form: RegExp, message: string])[] = [
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
  // For a missing or unexpected bracket the engine quotes the rest of the pattern, or all of it.
  if (!part || /closing|unexpected/.test(description)) return description;
  const at = pattern.indexOf(part);
  const isClear = at >= 0 && pattern.indexOf(part, at + 1) < 0;
  return isClear
    ? `${description} at character ${[...pattern.slice(0, at)].length + 1}`
    : description;
}

/** White space of ECMAScript, as a part of a class; that of RE2 is ASCII alone. */
const SPACE = "\\t-\\r\\x{feff}\\p{Z}";

/** General categories of Unicode by their long names, which RE2 does not know. */
const CATEGORIES: Readonly<Record<string, string>> = {
  ...{ Letter: "L", Cased_Letter: "LC", Uppercase_Letter: "Lu", Lowercase_Letter: "Ll" },
  ...{ Titlecase_Letter: "Lt", Modifier_Letter: "Lm", Other_Letter: "Lo", Mark: "M" },
  ...{ Nonspacing_Mark: "Mn", Spacing_Mark: "Mc", Enclosing_Mark: "Me", Number: "N" },
  ...{ Decimal_Number: "Nd", digit: "Nd", Letter_Number: "Nl", Other_Number: "No" },
  ...{ Punctuation: "P", punct: "P", Connector_Punctuation: "Pc", Dash_Punctuation: "Pd" },
  ...{ Open_Punctuation: "Ps", Close_Punctuation: "Pe", Initial_Punctuation: "Pi" },
  ...{ Final_Punctuation: "Pf", Other_Punctuation: "Po", Symbol: "S", Math_Symbol: "Sm" },
  ...{ Currency_Symbol: "Sc", Modifier_Symbol: "Sk", Other_Symbol: "So", Separator: "Z" },
  ...{ Space_Separator: "Zs", Line_Separator: "Zl", Paragraph_Separator: "Zp", Other: "C" },
  ...{ Control: "Cc", Format: "Cf", Surrogate: "Cs", Private_Use: "Co", Unassigned: "Cn" },
};

/** A pattern of ECMAScript, as JSON Schema has them, for RE2; the engine must be loaded. */
export function patternForRe2(pattern: string): string {
  let isInClass = false;
  const plain = pattern.replace(/\\([pP])\{([^}]*)\}|\\?./gsu, (text, sign, name) => {
    if (sign !== undefined) return `\\${sign}{${categoryOf(name)}}`;
    switch (text) {
      case "[":
        isInClass = true;
        break;
      case "]":
        isInClass = false;
        break;
      case "\\s":
        return isInClass ? SPACE : `[${SPACE}]`;
      case "\\S":
        // A class cannot hold the complement of another one; that of ASCII is close to it.
        return isInClass ? text : `[^${SPACE}]`;
      case "\\b":
        return isInClass ? "\\x08" : text;
    }
    return text;
  });
  return loadedEngine().translateRegExp(plain);
}

/** `L` for `Letter` and `General_Category=Letter`, `Greek` for `Script=Greek`. */
function categoryOf(name: string): string {
  const value = name.replace(/^(?:General_Category|gc|Script|sc|Script_Extensions|scx)=/, "");
  return Object.hasOwn(CATEGORIES, value) ? CATEGORIES[value]! : value;
}
