import { quoteText } from "../openapi/gen/templates.ts";
import { type Blocks, pairsOf } from "./bruno_blocks.ts";
import {
  absenceOf,
  comparisonOf,
  containsOf,
  existenceOf,
  headerOf,
  joined,
  keyOf,
  nullOf,
  TYPE_TESTS,
  withoutMaps,
} from "./expressions.ts";
import type { Names } from "./import_names.ts";
import type { RequestDraft } from "./request_draft.ts";

/** Operators of the block `assert`, in our words. */
const OPERATORS: Readonly<Record<string, (actual: string, expected: string) => string>> = {
  eq: (a, b) => comparisonOf(a, "==", b),
  neq: (a, b) => comparisonOf(a, "!=", b),
  gt: (a, b) => `${a} > ${b}`,
  gte: (a, b) => `${a} >= ${b}`,
  lt: (a, b) => `${a} < ${b}`,
  lte: (a, b) => `${a} <= ${b}`,
  contains: containsOf,
  notContains: (a, b) => `${a} != nil && not (${containsOf(a, b)})`,
  startsWith: (a, b) => `${a} startsWith ${b}`,
  endsWith: (a, b) => `${a} endsWith ${b}`,
  matches: (a, b) => `${a} matches ${b}`,
  notMatches: (a, b) => `not (${a} matches ${b})`,
  in: (a, b) => `${a} in [${b}]`,
  notIn: (a, b) => `not (${a} in [${b}])`,
  between: (a, b) => `${a} >= ${b.split(", ")[0]} && ${a} <= ${b.split(", ")[1]}`,
  length: (a, b) => `len(${a}) == ${b}`,
  isDefined: existenceOf,
  isNull: nullOf,
  isUndefined: absenceOf,
  isEmpty: (a) => `len(${a}) == 0`,
  isNotEmpty: (a) => `len(${a}) > 0`,
  isTruthy: (a) => `${a} == true`,
  isFalsy: (a) => `${a} == false`,
  isString: TYPE_TESTS.string,
  isNumber: TYPE_TESTS.number,
  isBoolean: TYPE_TESTS.boolean,
  isArray: TYPE_TESTS.array,
  isJson: TYPE_TESTS.object,
};

/** The two kinds of nothing that JavaScript has. */
const NOTHING: Readonly<Record<string, string>> = {
  "eq null": "isNull",
  "eq undefined": "isUndefined",
  "neq undefined": "isDefined",
};

/** Adds the tests of a request and the values that it keeps. */
export function addAssertions(request: RequestDraft, blocks: Blocks): void {
  const { names, notes } = request;
  for (const [subject, text] of pairsOf(blocks, "assert")) {
    const condition = NOTHING[text] ?? text;
    const [, word = "", value = ""] = /^(\w+)\s*(.*)$/s.exec(condition) ?? [];
    const [operator, rest] = OPERATORS[word] ? [word, value] : ["eq", condition];
    const actual = expressionOf(subject);
    const expected = operandOf(rest, operator, names);
    if (actual === undefined || expected === undefined) {
      notes.push(`the assertion ${subject}: ${condition}`);
    } else request.tests.push(withoutMaps(OPERATORS[operator]!(actual, expected)));
  }
  for (const [name, value] of pairsOf(blocks, "vars:post-response")) {
    const expression = expressionOf(value);
    if (expression === undefined) notes.push(`the variable ${name}: ${value}`);
    else request.capture(name, expression);
  }
}

function operandOf(text: string, operator: string, names: Names): string | undefined {
  const variable = /^\{\{([^{}]+)\}\}$/.exec(text);
  if (variable) return names.read(variable[1]!.trim());
  if (["in", "notIn", "between"].includes(operator)) {
    return text.replace(/^\[(.*)\]$/, "$1").split(",")
      .map((one) => operandOf(one.trim(), "eq", names)).join(", ");
  }
  const isPattern = /atches$/.test(operator);
  const plain = text.replace(isPattern ? /^(\/)(.*)\/$/s : /^(["'])(.*)\1$/s, "$2");
  const parts = plain.split(/\{\{\s*([^{}]+?)\s*\}\}/);
  if (parts.length > 1) return joined(parts, names);
  if (/^(?:null|undefined)$/.test(text)) return "nil";
  const isLiteral = /^(?:true|false|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text);
  return isLiteral && !isPattern ? text : quoteText(plain);
}

/** `res.body.id`, `res("items[0].id")` and `res.headers.location` as expressions of ours. */
function expressionOf(text: string): string | undefined {
  const query = /^res\(\s*["'](.+)["']\s*\)$/.exec(text);
  const path = query ? `res.body.${query[1]}` : text;
  if (path === "res.status") return "res.code";
  if (path === "res.responseTime") return "rt.sec * 1000";
  const header = /^res\.headers(?:\.([\w-]+)|\[["']([^"']+)["']\])$/.exec(path);
  if (header) return headerOf(header[1] ?? header[2]!);
  const keys = path.replace(/\[(["'])([^"'\\]*)\1\]/g, (_, _quote, name) => keyOf(name));
  const [, value, length] = /^(res\.body(?:\.[A-Za-z_]\w*?|\[\d+\]|\['[^']*'\])*?)(\.length)?$/
    .exec(keys) ?? [];
  return value === undefined ? undefined : length ? `len(${value})` : value;
}
