import { parseScript, type SyntaxNode } from "../expr/parse/tokenizer.ts";
import { type Data, quoteText, Template } from "../draft/templates.ts";
import { isSecretName } from "../secrets/secrets.ts";
import {
  absenceOf,
  containsOf,
  existenceOf,
  headerOf,
  keyOf,
  nullOf,
  truthOf,
  TYPE_TESTS,
  withoutMaps,
} from "./expressions.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import { Names } from "../draft/names.ts";
import {
  nameOf,
  readTest,
  readText,
  readValue,
  type Script,
  sourceOf,
  textOf,
} from "./script_values.ts";

/** Receives the translation of scripts: a request. */
interface ScriptTarget {
  readonly names: Names;
  readonly tests: string[];
  /** Expressions by the names under which they are read. */
  readonly outputs: Record<string, string>;
  /** Parts that could not be translated. */
  readonly notes: string[];
}

interface RunningScript extends Script, ScriptTarget {
  /** False after an untranslated statement that may return. */
  isCertain: boolean;
}

const SETTER =
  /^(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable|bru\.set(?:Env|GlobalEnv)?Var|client\.(?:global|variables\.(?:global|file))\.set)$/;

const GETTER =
  /^(?:pm\.(?:environment|collectionVariables|globals|variables)\.get|bru\.get(?:Env|GlobalEnv)?Var|client\.global\.get)$/;

/** Words of Chai that do not change an assertion. */
const FILLERS =
  /^(?:to|be|been|is|that|which|and|has|have|with|at|of|same|but|does|still|also|an?)$/;

const EQUALITY = /^(?:equals?|eq|eqls?)$/;

/** Assertions of Chai that compare two values. */
const MATCHERS: readonly (readonly [
  pattern: RegExp,
  test: (actual: string, expected: string) => string,
])[] = [
  [EQUALITY, (a, b) => `${a} == ${b}`],
  [/^(?:includes?|contains?)$/, containsOf],
  [/^(?:above|greaterThan|gt)$/, (a, b) => `${a} > ${b}`],
  [/^(?:below|lessThan|lt)$/, (a, b) => `${a} < ${b}`],
  [/^(?:least|gte)$/, (a, b) => `${a} >= ${b}`],
  [/^(?:most|lte)$/, (a, b) => `${a} <= ${b}`],
  [/^oneOf$/, (a, b) => `${a} in ${b}`],
  [/^(?:lengthOf|length)$/, (a, b) => `len(${a}) == ${b}`],
];

/**
 * Translates the assertions and the kept values of scripts of Postman, Bruno and .http files. Scripts
 * are programs: only statements that always run are translated, and whatever depends on a condition,
 * a loop or a call becomes a note.
 */
export function translateScripts(
  scripts: readonly string[],
  { names, tests, outputs, notes }: ScriptTarget,
): void {
  for (const text of scripts) {
    const target = { names, tests, outputs, notes };
    const script: RunningScript = { ...target, text, aliases: new Map(), isCertain: true };
    try {
      for (const statement of parseScript(text)) translateOne(statement, script);
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
      notes.push(`the script: ${text.replace(/\s+/g, " ").trim()}`);
    }
  }
}

/** What scripts often make before a request. */
const MADE: readonly (readonly [pattern: RegExp, expression: string])[] = [
  [
    /^(?:require\(["']uuid["']\)|uuid)(?:\.?v4)?\(\)$|^uuidv4\(\)$|^crypto\.randomUUID\(\)$/,
    "uuid()",
  ],
  [/^newDate\(\)\.toISOString\(\)$/, "now()"],
  [/^Date\.now\(\)$|^newDate\(\)\.(?:getTime|valueOf)\(\)$/, "unixtime() * 1000"],
  [/^Math\.(?:floor|round)\(Date\.now\(\)\/1000\)$/, "unixtime()"],
];

/**
 * Makes vars of the values that a script before a request sets, if it does nothing else and they
 * need nothing else; whether it was translated.
 */
export function translateBefore(text: string, names: Names): boolean {
  const script: Script = { text, aliases: new Map() };
  const found: [name: string, value: Data][] = [];
  const valueOf = (node: SyntaxNode | undefined): Data | undefined => {
    if (!node) return undefined;
    const source = sourceOf(node, script).replaceAll(" ", "");
    const [, made] = MADE.find(([pattern]) => pattern.test(source)) ?? [];
    if (made !== undefined) return new Template(`{{${made}}}`);
    if (node.type === "Identifier") return constants.get(node.name);
    return textOf(node) ?? (node.type === "Literal" ? tryParseJson(source) : undefined);
  };
  const constants = new Map<string, Data>();
  const isKnown = (node: SyntaxNode): boolean => {
    if (node.type === "EmptyStatement") return true;
    if (node.type === "VariableDeclaration") {
      return node.kind === "const" && node.declarations.every(({ id, init }) => {
        if (
          /^(?:\{.*\}|\w+)=require\(["']uuid["']\)$/.test(
            `${sourceOf(id, script)}=${init ? sourceOf(init, script) : ""}`,
          )
        ) return true;
        const value = valueOf(init ?? undefined);
        if (id.type !== "Identifier" || value === undefined) return false;
        constants.set(id.name, value);
        return true;
      });
    }
    const call = node.type === "ExpressionStatement" ? node.expression : node;
    if (call.type !== "CallExpression" || !SETTER.test(nameOf(call.callee, script))) return false;
    const [name, value] = [textOf(call.arguments[0]), valueOf(call.arguments[1])];
    if (name === undefined || value === undefined) return false;
    found.push([name, value]);
    return true;
  };
  try {
    if (!parseScript(text).every(isKnown)) return false;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return false;
  }
  for (const [name, value] of found) names.defineFromHere(name, value);
  return true;
}

/** Whether a script can be translated and keeps no values, so that many requests can have it. */
export function onlyTests(script: string): boolean {
  const target: ScriptTarget = { names: new Names(), tests: [], outputs: {}, notes: [] };
  translateScripts([script], target);
  return target.notes.length === 0 && Object.keys(target.outputs).length === 0;
}

/** Finds the variables that a part of a script assigns or changes. */
const CHANGES =
  /([A-Za-z_$][\w$]*)(?:[.[][^\s=;(]*)?\s*(?:[-+*/%&|^?]*=(?![=>])|\+\+|--|(?<=\.(?:fill|pop|push|reverse|shift|sort|splice|unshift))\()/g;

/** Translates a part of a script, or notes it and forgets the variables that it may change. */
function translateOne(node: SyntaxNode, script: RunningScript): void {
  if (script.isCertain && translate(node, script)) return;
  const source = sourceOf(node, script);
  script.notes.push(`the script: ${source.replace(/;$/, "")}`);
  for (const [, name] of source.matchAll(CHANGES)) script.aliases.set(name!, undefined);
  const isControl = /(?<!Expression)Statement$/.test(node.type);
  if (isControl && /\breturn\b/.test(source)) script.isCertain = false;
}

/** Whether a part of a script could be translated. */
function translate(node: SyntaxNode, script: RunningScript): boolean {
  switch (node.type) {
    case "EmptyStatement":
      return true;
    case "ExpressionStatement":
      return node.directive !== undefined || translate(node.expression, script);
    case "TryStatement":
      // A test inside would not fail. Older scripts read the response in a try.
      if (/\b(?:assert|expect|response\.to|set\w*|tests?)\b/.test(sourceOf(node.block, script))) {
        return false;
      }
      node.block.body.forEach((one) => translateOne(one, script));
      return true;
    case "ReturnStatement": {
      const isTranslated = !node.argument || translate(node.argument, script);
      script.isCertain = false;
      return isTranslated;
    }
    case "VariableDeclaration":
      return node.declarations.map(({ id, init }) => define(id, init, script)).every(Boolean);
    case "AssignmentExpression":
      return node.operator === "=" &&
        (/^tests[.[]/.test(sourceOf(node.left, script))
          ? addTest(node.right, script)
          : define(node.left, node.right, script));
    case "MemberExpression":
      return addAssertion(node, script);
    case "CallExpression": {
      const [first, second] = node.arguments;
      const name = nameOf(node.callee, script);
      if (/^(?:(?:pm|client)\.)?test$/.test(name)) return translateTest(second, script);
      if (/^(?:client\.)?assert$/.test(name)) return addTest(first, script);
      if (!SETTER.test(name)) return addAssertion(node, script);
      const [variable, value] = [textOf(first), second && readValue(second, script)];
      const isSecret = second && textOf(second) !== undefined && isSecretName(variable ?? "");
      if (variable === undefined || !value || isSecret) return false;
      script.outputs[script.names.captureAnew(variable)] = value.text;
      return true;
    }
    default:
      return false;
  }
}

/** Translates the function of a test, which runs at once. */
function translateTest(run: SyntaxNode | undefined, script: RunningScript): boolean {
  if (run?.type !== "ArrowFunctionExpression" && run?.type !== "FunctionExpression") return false;
  const { isCertain } = script;
  const around = new Map(script.aliases);
  const body = run.body.type === "BlockStatement" ? run.body.body : [run.body];
  body.forEach((one) => translateOne(one, script));
  script.isCertain = isCertain;
  // It may have variables of the same names.
  for (const [name, value] of around) {
    if (value && value.text !== script.aliases.get(name)?.text) script.aliases.set(name, undefined);
  }
  return true;
}

/** Defines variables for a value or its fields; an untranslated value makes them unknown. */
function define(
  target: SyntaxNode,
  init: SyntaxNode | null | undefined,
  script: RunningScript,
): boolean {
  const value = init ? readValue(init, script) : undefined;
  if (target.type === "Identifier") {
    script.aliases.set(target.name, value);
    return value !== undefined || !init;
  }
  if (target.type !== "ObjectPattern" || !value) return false;
  return target.properties.every((property) => {
    if (property.type !== "Property" || property.value.type !== "Identifier") return false;
    const key = textOf(property.key) ?? sourceOf(property.key, script);
    return script.aliases.set(property.value.name, { text: value.text + keyOf(key) });
  });
}

function addTest(node: SyntaxNode | undefined, script: RunningScript): boolean {
  const test = readTest(node, script);
  if (test !== undefined) script.tests.push(withoutMaps(test));
  return test !== undefined;
}

/** A word of an assertion, with its arguments if it is called. */
type Word = readonly [name: string, args: readonly SyntaxNode[] | undefined];

/** The words of `pm.expect(x).to.eql(1)`. */
function wordsOf(node: SyntaxNode): readonly Word[] {
  const [target, args] = node.type === "CallExpression" ? [node.callee, node.arguments] : [node];
  if (target.type === "Identifier") return [[target.name, args]];
  if (target.type !== "MemberExpression" || target.property.type !== "Identifier") return [];
  return [...wordsOf(target.object), [target.property.name, args]];
}

function addAssertion(node: SyntaxNode, script: RunningScript): boolean {
  const words = wordsOf(node);
  const [[subject, args] = ["", undefined], ...chain] = words[0]?.[0] === "pm"
    ? words.slice(1)
    : words;
  const about = subject === "expect" ? args?.[0] : undefined;
  const isResponse = /^(?:(?:pm\.)?response|res)$/.test(about ? nameOf(about, script) : subject);
  let actual = isResponse ? "res" : readText(about, script);
  if (actual === undefined) return false;
  let [isNegated, isDeep] = [false, false];
  const tests: string[] = [];
  for (const word of chain) {
    const [name, args] = word;
    if (!args && name === "not") isNegated = true;
    else if (!args && name === "deep") isDeep = true;
    else if (args || !FILLERS.test(name)) {
      const test = isResponse
        ? negate(responseTest(word, script), isNegated)
        : assertionOf(actual, isDeep && name === "equal" ? ["eql", args] : word, isNegated, script);
      if (test === undefined) return false;
      tests.push(withoutMaps(test));
      if (name === "property") actual += keyOf(textOf(args?.[0])!);
    }
  }
  script.tests.push(...tests);
  return tests.length > 0;
}

function negate(test: string | undefined, isNegated: boolean): string | undefined {
  return test !== undefined && isNegated ? `not (${test})` : test;
}

/** Tests the response as a whole: `pm.response.to.have.status(200)`. */
function responseTest([name, args]: Word, script: RunningScript): string | undefined {
  if (!args && name === "json") return `${headerOf("content-type")} contains 'json'`;
  if (!args) return /^(?:ok|success)$/.test(name) ? "res.code < 300" : undefined;
  const [first, second] = args.map((one) => readText(one, script));
  if (first === undefined || args.length > 1 && second === undefined) return undefined;
  const text = textOf(args[0]);
  if (name === "status") {
    return text === undefined ? `res.code == ${first}` : `res.status endsWith ${first}`;
  }
  if (name !== "header" || text === undefined) return undefined;
  return `${headerOf(text)} ${second === undefined ? "!= nil" : `== ${second}`}`;
}

/** Tests a value: `.to.eql(1)`, `.to.be.true`. */
function assertionOf(
  actual: string,
  [name, args = []]: Word,
  isNegated: boolean,
  script: RunningScript,
): string | undefined {
  const [first, second] = args;
  const constant = first && EQUALITY.test(name) ? sourceOf(first, script) : first ? "" : name;
  if (constant === "null") return isNegated ? `${actual} != nil` : nullOf(actual);
  if (constant === "undefined") return isNegated ? existenceOf(actual) : absenceOf(actual);
  if (!first) {
    const test = {
      "true": `${actual} == true`,
      "false": `${actual} == false`,
      exist: `${actual} != nil`,
      ok: truthOf(actual),
      empty: `len(${actual}) == 0`,
    }[name];
    return negate(test, isNegated);
  }
  if (first.type === "Literal" && "regex" in first && first.regex && name === "match") {
    const flags = first.regex.flags.replace(/[^ims]/g, "");
    const pattern = (flags && `(?${flags})`) + first.regex.pattern;
    return negate(`${actual} matches ${quoteText(pattern)}`, isNegated);
  }
  const expected = expectedOf(first, script);
  if (expected === undefined) return undefined;
  // Without "deep", two lists or maps are never equal.
  if (/^(?:equals?|eq)$/.test(name) && /^[[{]/.test(expected)) return undefined;
  const key = textOf(first) ?? "";
  if (/^an?$/.test(name)) {
    const test = Object.entries(TYPE_TESTS).find(([type]) => type === key)?.[1];
    return negate(test?.(actual), isNegated);
  }
  let test = MATCHERS.find(([pattern]) => pattern.test(name))?.[1](actual, expected);
  if (name === "property" && key !== "") {
    const value = second && expectedOf(second, script);
    if (second && value === undefined) return undefined;
    const property = actual + keyOf(key);
    test = value === undefined ? existenceOf(property) : `${property} == ${value}`;
  }
  // Chai fails for a missing value, also in a negated assertion.
  return test && isNegated && actual !== "res.body" && /^(?:include|contain|property)/.test(name)
    ? `${actual} != nil && not (${test})`
    : negate(test, isNegated);
}

/** The value that an assertion expects, which may be a variable of the tool. */
function expectedOf(node: SyntaxNode, script: RunningScript): string | undefined {
  const isGetter = node.type === "CallExpression" && GETTER.test(nameOf(node.callee, script));
  const name = isGetter ? textOf(node.arguments[0]) : undefined;
  return name === undefined ? readText(node, script) : script.names.read(name);
}
