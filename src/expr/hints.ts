import { assertNever, ExpressionError } from "../base/errors.ts";
import {
  hintForFunction,
  hintForMethod,
  hintForMisspeltFunction,
  hintForName,
} from "../base/other_tools.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { typeName, type Value, valueAt } from "../base/value/value.ts";
import type { Evaluation, Missing, MissingItem, MissingName } from "./evaluate/evaluation.ts";
import { isOfMissing } from "./evaluate/locate_fault.ts";
import type { TestOperand } from "./expression.ts";
import { type Fault, NilOwner } from "./fault.ts";
import { type EvaluatedMistake, type Misfit, type Mistake, PlainError } from "./plain_error.ts";
import { FUNCTIONS } from "./functions/registry.ts";
import { isRead } from "./limits.ts";
import type { CallExpression, Identifier, Node } from "./parse/ast.ts";
import { COMMENT_HINT } from "./parse_expression.ts";
import { referencesIn } from "./references.ts";

/**
 * An error with the words and the hint for its mistake, which few runs load. Any other value is
 * given back.
 */
export function explained<T>(error: T): T | ExpressionError {
  if (!(error instanceof PlainError)) return error;
  const { message, start, end, details, mistake } = error;
  const { path } = details;
  switch (mistake.kind) {
    case "misfit":
      return new ExpressionError(message, start, end, syntaxHint(mistake), { path });
    case "call":
      return new ExpressionError(message, start, end, callHint(mistake.node), { path });
    case "nil": {
      const { hint, isNil } = nilHint(mistake);
      return new ExpressionError(message, start, end, hint, { ...details, isNil });
    }
    case "evaluated":
      return explainEvaluated(error, mistake);
    default:
      return assertNever(mistake);
  }
}

function explainEvaluated(
  { message, start, end, hint, details }: PlainError,
  { fault, node, run, source, isOfMissing }: EvaluatedMistake,
): ExpressionError {
  const { missing } = run;
  const better = isOfMissing
    ? missingFault(missing!, run.scope.strict, source, hint)
    : { message, hint: hint ?? nilPartHint(fault, node, source) };
  const isSought = missing && "within" in missing && start === missing.node.start;
  const operands = isSought ? soughtValues(missing, run, source) : undefined;
  return new ExpressionError(better.message, start, end, better.hint, { ...details, operands });
}

const LONGEST_OWNER = 60;

/** The values that the condition of a call of find() reads of its scope. */
function soughtValues(
  { node: { arguments: [, predicate] } }: MissingItem,
  { scope }: Evaluation,
  source: string,
): readonly Omit<TestOperand, "start" | "end">[] {
  const references = predicate ? referencesIn(predicate) : [];
  const values = references.flatMap(({ root, keys, isOpen, start, end }) => {
    const path = [root, ...keys.map(({ name }) => name)];
    const value = isOpen ? undefined : valueAt(scope.names, path) as Value | undefined;
    if (value === undefined) return [];
    return { text: source.slice(start, end), value, type: typeName(value) };
  });
  return [...new Map(values.map((one) => [one.text, one])).values()];
}

/** The part that was nil when a key of it was read, or the side of an operation that was. */
function nilPart(fault: Fault, node: Node): Node | undefined {
  if (fault instanceof NilOwner) {
    return node.type === "MemberExpression" ? node.object : undefined;
  }
  if (node.type !== "BinaryExpression") return undefined;
  const [, left, right] = /^cannot (?:compare|compute|add) (?:(nil) |.* (nil)$)/.exec(
    fault.message,
  ) ?? [];
  return left ? node.left : right ? node.right : undefined;
}

/** A hint that names the value that was nil. */
function nilPartHint(fault: Fault, node: Node, source: string): string | undefined {
  const blamed = nilPart(fault, node);
  const text = blamed && shortText(blamed, source);
  return text && `${text} is nil`;
}

/** A part of an expression as a message names it; undefined if it is long, or between lines. */
function shortText({ start, end }: Node, source: string): string | undefined {
  const text = source.slice(start, end);
  return text.trim() === "" || text.length > LONGEST_OWNER || text.includes("\n")
    ? undefined
    : text;
}

/** The absent name is to blame, not the nil that it gave. */
function missingFault(
  missing: Missing,
  strict: boolean,
  source: string,
  hint: string | undefined,
): Pick<ExpressionError, "message" | "hint"> {
  if ("within" in missing) {
    return {
      message: notFound(missing, source),
      hint: missing.within && missingHint(missing.within, source),
    };
  }
  const { node, at, key } = missing;
  const isComputed = node.type === "MemberExpression" && node.computed && at.type !== "Literal";
  if (isComputed && !(node.object.type === "Identifier" && node.object.name === "outputs")) {
    // A key that was computed may hold a secret, and is not named, unless it is the id of a step.
    return { message: "unknown key", hint: thereIs(Object.keys(missing.among)) };
  }
  const isName = node.type === "Identifier";
  const message = isName && strict ? `unknown name "${key}"` : absence(node, key, source);
  const better = hyphenHint(at, source) ?? hyphenKeyHint(missing, source) ??
    (isName ? hintForName(key) : undefined) ??
    nearHint(missing);
  return { message, hint: better ?? hint };
}

/** A hint for a part that is nil because a key is missing: the path that was read, and a similar key. */
export function missingHint(missing: Missing, source: string): string | undefined {
  if ("within" in missing) return notFound(missing, source);
  const { node, at, key } = missing;
  if (node.type !== "MemberExpression") return nearHint(missing);
  // A key that was computed may hold a secret, and is not named.
  if (node.computed && at.type !== "Literal") return undefined;
  const near = nearHint(missing);
  const hint = absence(node, key, source);
  return near === undefined ? hint : `${hint}; ${near}`;
}

/** A hint for a part of a text that is nil, and whether the name that it reads is there. */
function nilHint({ part, run: { missing }, source, meant }: Extract<Mistake, { kind: "nil" }>) {
  const hint = missing && isOfMissing(part, missing) ? missingHint(missing, source) : undefined;
  const isNil = hint === undefined && isRead(part);
  const read = source.slice(part.start, part.end);
  // With `?.` and of find() the author may expect that it is missing.
  const isExpected = read.includes("?.") || missing && "within" in missing;
  const hints = hint === undefined ? [meant] : isExpected ? [hint, meant] : [hint];
  return { hint: hints.join("; "), isNil };
}

/** `find(…) found no item with .name == "pot"`. */
function notFound({ node }: MissingItem, source: string): string {
  const [, predicate] = node.arguments;
  const text = predicate && shortText(predicate, source);
  const what = text === undefined ? "no item" : `no item with ${text}`;
  return `${source.slice(node.callee.start, node.callee.end)}(…) found ${what}`;
}

/** `res.body has no "totl"`: in a list of failures there is only the message. */
function absence(node: Node, key: string, source: string): string {
  // In a predicate there may be nothing before the dot.
  const owner = node.type === "MemberExpression" ? shortText(node.object, source) : undefined;
  return owner === undefined ? `there is no "${key}" here` : `${owner} has no "${key}"`;
}

/** `did you mean "x"?`, or the existing keys. */
function nearHint({ key, among }: MissingName): string | undefined {
  const keys = Object.keys(among);
  return didYouMean(key, keys) ?? thereIs(keys);
}

function thereIs(keys: readonly string[]): string | undefined {
  if (keys.length === 0) return "it is empty";
  const some = keys.slice(0, 6).map((key) => JSON.stringify(key)).join(", ");
  return `there is ${some}${keys.length > 6 ? " and more" : ""}`;
}

/** A hint for a token that makes no sense. */
function syntaxHint(misfit: Misfit): string | undefined {
  if (misfit.isNumber) return hyphenNumberHint(misfit);
  return HINTS.find(({ applies }) => applies(misfit))?.hint(misfit);
}

interface Hint {
  readonly applies: (misfit: Misfit) => boolean | undefined;
  readonly hint: (misfit: Misfit) => string;
}

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

/** A hint for a name that is unknown where only some are known. */
export function nameHint(
  identifier: Identifier,
  source: string,
  known: readonly string[],
  vars: readonly string[],
): string {
  const { name } = identifier;
  if (vars.includes(name) && known.includes("vars")) return `write vars.${name}`;
  return hintForName(name, known) ?? hyphenHint(identifier, source) ?? didYouMean(name, known) ??
    environmentHint(name) ?? quoteHint(identifier, source) ??
    (known.length === 1
      ? `the only name here is ${known[0]}`
      : `the names here are ${known.join(", ")}`);
}

/** A word on the right of a comparison was meant to be a text. */
function quoteHint({ name, start, end }: Identifier, source: string): string | undefined {
  const isWord = !/^\s*[.?[(]/.test(source.slice(end));
  const isCompared = isWord && COMPARISON_BEFORE.test(source.slice(0, start));
  return isCompared ? `put text in quotes: "${name}"` : undefined;
}

const COMPARISON_BEFORE = /(?:[!=]=|\b(?:contains|startsWith|endsWith|matches))\s*$/;

/** A name in capitals was meant to be an environment variable. */
function environmentHint(name: string): string | undefined {
  if (!/^[A-Z][A-Z\d_]+$/.test(name)) return undefined;
  return `environment variables are read in the vars of the workflow: ${name}: "{{${name}}}"`;
}

/** A hint for `outputs.create-user`, which the grammar reads as a subtraction. */
function hyphenHint({ start, end }: Node, source: string): string | undefined {
  const before = keyBefore(source, start);
  const after = /^(?:-[\p{L}_$][\p{L}\d_$]*)+/u.exec(source.slice(end))?.[0] ?? "";
  if (before === "" && after === "") return undefined;
  return keyHint(before + source.slice(start, end) + after);
}

/** The same for `outputs.step-1`, which may be meant as it is: only if there is such a key. */
function hyphenKeyHint({ at, key, among }: MissingName, source: string): string | undefined {
  const whole = key + (/^(?:-[\p{L}\d_$]+)+/u.exec(source.slice(at.end))?.[0] ?? "");
  return whole !== key && Object.hasOwn(among, whole) ? keyHint(whole) : undefined;
}

/** The same for `outputs.step-1.token`, where `1.` looks like a number and `1.token` like none. */
function hyphenNumberHint({ input, start, end }: Misfit): string | undefined {
  const before = keyBefore(input, start);
  const [, number] = /^(\d+)\.(?!\d)/.exec(input.slice(start, end)) ?? [];
  return before !== "" && number !== undefined ? keyHint(before + number) : undefined;
}

/** The names with hyphens that end right before an offset. */
function keyBefore(source: string, start: number): string {
  const text = source.slice(Math.max(0, start - 200), start);
  return /(?<![\p{L}\d_$-])([\p{L}_$][\p{L}\d_$]*-(?:[\p{L}\d_$]+-)*)$/u.exec(text)?.[1] ?? "";
}

function keyHint(key: string): string {
  return `a hyphen is a minus; for one key write ["${key}"]`;
}

/** A hint for a call of a method, or of an unknown function. */
function callHint({ callee }: CallExpression): string | undefined {
  if (callee.type === "Identifier") return functionHint(callee.name);
  return callee.type === "MemberExpression" && callee.property.type === "Identifier"
    ? methodHint(callee.property.name)
    : undefined;
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
