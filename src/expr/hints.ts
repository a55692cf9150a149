import { hintForFunction, hintForMethod, hintForMisspeltFunction } from "../base/other_tools.ts";
import type { CallExpression, Node } from "./parse/ast.ts";
import type { MissingName } from "./evaluate/evaluation.ts";
import { countOf } from "../base/text/count_of.ts";
import { ExpressionError } from "../base/errors.ts";
import type { FunctionRecord } from "./functions/function.ts";
import { FUNCTIONS } from "./functions/registry.ts";
import { didYouMean } from "../base/text/suggest.ts";

/** A token that could not be parsed, and the text around it. */
interface Misfit {
  readonly input: string;
  readonly start: number;
  readonly end: number;
  /** Whether the expression is between `{{` and `}}`. */
  readonly inTemplate: boolean;
  /** Whether an expression could have ended before the token. */
  readonly isBehind: boolean;
}

/** A hint for a token that makes no sense. */
export function syntaxHint(misfit: Misfit): string | undefined {
  return HINTS.find(({ applies }) => applies(misfit))?.hint(misfit);
}

interface Hint {
  readonly applies: (misfit: Misfit) => boolean;
  readonly hint: (misfit: Misfit) => string;
}

export const COMMENT_HINT = "a comment is written // … or /* … */";

/** The first that applies is given. */
const HINTS: readonly Hint[] = [
  {
    applies: (misfit) => misfit.isBehind && token(misfit) === "#",
    hint: () => COMMENT_HINT,
  },
  {
    applies: (misfit) =>
      token(misfit) === ">" && before(misfit).endsWith("-") ||
      token(misfit) === "=" && after(misfit) === ">",
    hint: () => "to compare write >=; a condition needs no parameter: filter(list, # > 1)",
  },
  {
    applies: (misfit) => token(misfit) === "~" || after(misfit) === "~",
    hint: () => 'for a pattern write text matches "^a+$"',
  },
  {
    applies: (misfit) => token(misfit) === "=",
    hint: (misfit) =>
      before(misfit).endsWith("!=") ? "use != without another =" : "use == to compare",
  },
  {
    applies: (misfit) => misfit.inTemplate && token(misfit) === "." && opens(misfit),
    hint: (misfit) => {
      const inner = /^[^{}]*/.exec(misfit.input.slice(misfit.start))?.[0].trim() ?? "";
      return `to keep braces as text write {{ "{{${inner}}}" }}`;
    },
  },
  {
    applies: (misfit) => misfit.inTemplate && /\{\{\{[^{}]*$/.test(before(misfit)),
    hint: () => "{{{ begins a map; for a brace as text put a space after it: { {{x}} }",
  },
  {
    applies: (misfit) => !misfit.inTemplate && misfit.input.includes("{{") && isBrace(misfit),
    hint: () => "this field is an expression already: leave out {{ and }}",
  },
  {
    applies: (misfit) => token(misfit) === ":" && /\{\s*["'`\w$]+\s*$/.test(before(misfit)),
    hint: () => "put parentheses around a map here: ({name: value})",
  },
  {
    applies: (misfit) => token(misfit) === ".",
    hint: () => ".name is a field of the item, inside filter(list, .name == 1) and the like",
  },
  {
    applies: (misfit) => /^["']/.test(token(misfit)) && /["']$/.test(before(misfit)),
    hint: (misfit) => `for a quote inside a string write \\${token(misfit).charAt(0)}`,
  },
  {
    applies: (misfit) => /^[\p{L}_]/u.test(token(misfit)) && /["']$/.test(before(misfit)),
    hint: (misfit) => `for a quote inside a string write \\${before(misfit).slice(-1)}`,
  },
  {
    applies: (misfit) => /^\.\d/.test(token(misfit)),
    hint: (misfit) => `write [${token(misfit).slice(1)}] for an item of a list`,
  },
  {
    applies: (misfit) => /^\d/.test(token(misfit)) && before(misfit).endsWith("?."),
    hint: () => "put a space after the ?",
  },
  {
    applies: (misfit) => token(misfit) === "/",
    hint: () => 'a pattern is a string: text matches "^a+$"',
  },
  {
    applies: (misfit) => token(misfit) === ">" && before(misfit).endsWith("<"),
    hint: () => "use != for unequal",
  },
  {
    applies: (misfit) => token(misfit) === "*" && before(misfit).endsWith("["),
    hint: () => "for a member of every item write map(list, .name)",
  },
  {
    applies: (misfit) => misfit.isBehind && /^(is|exists|eq|ne|[gl]te?)$/i.test(token(misfit)),
    hint: (misfit) =>
      hintForFunction(token(misfit)) ?? 'write value != nil, or type(value) == "string"',
  },
  {
    applies: (misfit) => misfit.isBehind && /^(and|or|not)$/i.test(token(misfit)),
    hint: (misfit) => `write ${token(misfit).toLowerCase()}`,
  },
  {
    applies: (misfit) => misfit.isBehind && /^([\p{L}_$,]|!$)/u.test(token(misfit)),
    hint: () => "an operator is missing here, such as && between conditions",
  },
];

function token({ input, start, end }: Misfit): string {
  return input.slice(start, end);
}

function before({ input, start }: Misfit): string {
  return input.slice(Math.max(0, start - 200), start);
}

function after({ input, end }: Misfit): string {
  return input.slice(end, end + 1);
}

function opens(misfit: Misfit): boolean {
  return before(misfit).trimEnd().endsWith("{{");
}

function isBrace(misfit: Misfit): boolean {
  return token(misfit) === "{" || token(misfit) === "}" || opens(misfit) ||
    before(misfit).includes("{{");
}

/** A hint for `outputs.create-user`, which the grammar reads as a subtraction. */
export function hyphenHint({ start, end }: Node, source: string): string | undefined {
  const before = keyBefore(source, start);
  const after = /^(?:-[\p{L}_$][\p{L}\d_$]*)+/u.exec(source.slice(end))?.[0] ?? "";
  if (before === "" && after === "") return undefined;
  return keyHint(before + source.slice(start, end) + after);
}

/** The same for `outputs.step-1`, which may be meant as it is: only if there is such a key. */
export function hyphenKeyHint({ at, key, among }: MissingName, source: string): string | undefined {
  const whole = key + (/^(?:-[\p{L}\d_$]+)+/u.exec(source.slice(at.end))?.[0] ?? "");
  return whole !== key && Object.hasOwn(among, whole) ? keyHint(whole) : undefined;
}

/** The same for `outputs.step-1.token`, where `1.` looks like a number and `1.token` like none. */
export function hyphenNumberHint(
  number: string,
  start: number,
  source: string,
): string | undefined {
  const before = keyBefore(source, start);
  return before !== "" && /^\d+\.$/.test(number)
    ? keyHint(before + number.slice(0, -1))
    : undefined;
}

/** The names with hyphens that end right before an offset. */
function keyBefore(source: string, start: number): string {
  const text = source.slice(Math.max(0, start - 200), start);
  return /(?<![\p{L}\d_$-])([\p{L}_$][\p{L}\d_$]*-(?:[\p{L}\d_$]+-)*)$/u.exec(text)?.[1] ?? "";
}

function keyHint(key: string): string {
  return `a hyphen is a minus; for one key write ["${key}"]`;
}

/** Errors of a call for any values: a method, an unknown function, a wrong argument count. */
export function callProblem({ callee, arguments: args, start, end }: CallExpression) {
  if (callee.type === "MemberExpression") {
    const { property } = callee;
    const hint = property.type === "Identifier" ? methodHint(property.name) : undefined;
    return new ExpressionError("values have no methods", property.start, end, hint);
  }
  if (callee.type !== "Identifier") return new ExpressionError("this cannot be called", start, end);
  const record = FUNCTIONS.get(callee.name);
  if (!record) {
    const message = `unknown function "${callee.name}"`;
    return new ExpressionError(message, callee.start, callee.end, functionHint(callee.name));
  }
  if (args.length >= record.minArguments && args.length <= record.maxArguments) return undefined;
  const message = `${record.name}() takes ${argumentCount(record)}, got ${args.length}`;
  return new ExpressionError(message, start, end, `write ${record.signature}`);
}

function argumentCount({ minArguments: min, maxArguments: max }: FunctionRecord): string {
  if (max === Infinity) return `at least ${countOf(min, "argument")}`;
  return min === max ? countOf(max, "argument") : `${min} to ${countOf(max, "argument")}`;
}

/** A hint for an unknown function: one of other tools, or a misspelt one. */
function functionHint(name: string): string | undefined {
  return hintForFunction(name) ?? didYouMean(name, FUNCTIONS.keys()) ??
    hintForMisspeltFunction(name);
}

function methodHint(name: string): string {
  if (OPERATORS.includes(name)) return `write value ${name} …`;
  const record = FUNCTIONS.get(name);
  if (record?.maxArguments === 0) return `write ${name}()`;
  if (record) return record.maxArguments === 1 ? `write ${name}(value)` : `write ${name}(value, …)`;
  return hintForMethod(name) ?? "write function(value)";
}

/** Operators that are methods in other languages. */
const OPERATORS = ["contains", "startsWith", "endsWith", "matches"];
