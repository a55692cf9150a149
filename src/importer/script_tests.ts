import { parseScript, type SyntaxNode } from "../expr/parse/tokenizer.ts";
import { type Data, quoteText, Template } from "../draft/draft.ts";
import { isSecretName } from "../secrets/secrets.ts";
import {
  absenceOf,
  containsOf,
  existenceOf,
  headerOf,
  keyOf,
  nullOf,
  TYPE_TESTS,
  withoutMaps,
} from "./expressions.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import { Names } from "../draft/names.ts";

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
  /^(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable|bru\.set(?:Env|GlobalEnv)?Var|(?:client\.global|client\.variables\.(?:global|file)|request\.variables)\.set)$/;

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

/** Sets a variable for one request. */
const LOCAL_SETTER = /^(?:pm|request)\.variables\.set$/;

/**
 * Makes vars of the values that a script before a request sets, if it does nothing else and they
 * need nothing else; undefined if it was not translated. The result ends those of this request.
 */
export function translateBefore(text: string, names: Names): (() => void) | undefined {
  const script: Script = { text, aliases: new Map() };
  const found: [name: string, value: Data, isLocal: boolean][] = [];
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
    if (call.type !== "CallExpression") return false;
    const setter = nameOf(call.callee, script);
    if (!SETTER.test(setter)) return false;
    const [name, value] = [textOf(call.arguments[0]), valueOf(call.arguments[1])];
    if (name === undefined || value === undefined) return false;
    found.push([name, value, LOCAL_SETTER.test(setter)]);
    return true;
  };
  try {
    if (!parseScript(text).every(isKnown)) return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return undefined;
  }
  const ends = found.map(([name, value, isLocal]) => {
    const end = names.defineFromHere(name, value);
    return isLocal ? end : () => {};
  });
  return () => ends.toReversed().forEach((end) => end());
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

/** An expression of a script in the expression language. */
interface ScriptValue {
  readonly text: string;
  readonly isTest?: true;
}

/** A script that is being translated. */
interface Script {
  readonly text: string;
  /** Its variables; undefined for those with a value that is not translated. */
  readonly aliases: Map<string, ScriptValue | undefined>;
}

/** The parts of the response in the scripts of the tools. */
const READERS: readonly (readonly [pattern: RegExp, expression: string])[] = [
  [/^(?:pm\.response|responseCode)\.code$/, "res.code"],
  [/^res(?:ponse\.status|\.status|\.getStatus\(\))$/, "res.code"],
  [/^response\.contentType\.mimeType$/, "split(res.headers['Content-Type'], ';')[0]"],
  [/^(?:pm\.response\.responseTime|res\.(?:responseTime|getResponseTime\(\)))$/, "rt.sec * 1000"],
  [/^(?:pm\.response\.text\(\)|responseBody)$/, "(res.rawbody ?? res.body)"],
  [/^(?:pm\.response\.json|res\.getBody)\(\)$|^JSON\.parse\(responseBody\)$/, "res.body"],
  [/^res(?:ponse)?\.body$/, "res.body"],
];

const HEADER = /^(?:pm\.response\.headers\.get|res\.getHeader|response\.headers\.valueOf)$/;

/** The text of a part of a script, in one line. */
function sourceOf({ start, end }: SyntaxNode, { text }: Script): string {
  return text.slice(start, end).replace(/\s+/g, " ").trim();
}

/** `pm.response.json`, if the script has no variable of this name. */
function nameOf(node: SyntaxNode, script: Script): string {
  const name = sourceOf(node, script).replaceAll(" ", "");
  return script.aliases.has(/^\w*/.exec(name)![0]) ? "" : name;
}

/** The value of a string literal. */
function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "TemplateLiteral") {
    return node.expressions.length > 0 ? undefined : node.quasis[0]!.value.cooked ?? undefined;
  }
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** Tests that an expression is truthy in JavaScript. */
function readTest(node: SyntaxNode | undefined, script: Script): string | undefined {
  if (node?.type === "LogicalExpression" && node.operator !== "??") {
    const [left, right] = [readTest(node.left, script), readTest(node.right, script)];
    if (left === undefined || right === undefined) return undefined;
    return node.operator === "&&" ? `${left} && ${right}` : `(${left} || ${right})`;
  }
  const value = node && readValue(node, script);
  return value?.isTest ? value.text : value && truthOf(value.text);
}

/** A value as a part of another expression. */
function readText(node: SyntaxNode | undefined, script: Script): string | undefined {
  const value = node && readValue(node, script);
  return value?.isTest ? `(${value.text})` : value?.text;
}

/** Translates an expression; undefined if it is not supported. */
function readValue(node: SyntaxNode, script: Script): ScriptValue | undefined {
  const name = nameOf(node, script);
  const reader = READERS.find(([pattern]) => pattern.test(name));
  if (reader) return { text: reader[1] };
  switch (node.type) {
    case "ChainExpression":
      return readValue(node.expression, script);
    case "Identifier":
      return node.name === "undefined" ? { text: "nil" } : script.aliases.get(node.name);
    case "UnaryExpression": {
      const test = node.operator === "!" ? readTest(node.argument, script) : undefined;
      if (test !== undefined) return { text: `not (${test})`, isTest: true };
      return /^-\d[\d.]*$/.test(name) ? { text: name } : undefined;
    }
    case "LogicalExpression": {
      const [left, right] = [readValue(node.left, script), readValue(node.right, script)];
      if (node.operator !== "&&" && /^(?:\[\]|\{\})$/.test(right?.text ?? "")) return left;
      const text = left?.isTest && right?.isTest ? readTest(node, script) : undefined;
      return text === undefined ? undefined : { text, isTest: true };
    }
    case "MemberExpression": {
      const object = readValue(node.object, script);
      const key = node.computed ? textOf(node.property) : sourceOf(node.property, script);
      const index = readText(node.property, script) ?? "";
      if (!object || object.isTest || key === undefined && !/^\d+$/.test(index)) return undefined;
      if (key === "length") return { text: `len(${object.text})` };
      const path = keyOf(key ?? Number(index));
      const mark = !node.optional ? "" : path.startsWith(".") ? "?" : "?.";
      return { text: object.text + mark + path };
    }
    case "BinaryExpression": {
      const text = comparisonOf(node, script);
      return text === undefined ? undefined : { text, isTest: true };
    }
    case "CallExpression": {
      const { callee, arguments: [first] } = node;
      const header = HEADER.test(nameOf(callee, script)) ? textOf(first) : undefined;
      if (header !== undefined) return { text: headerOf(header) };
      const text = first && callTest(callee, first, script);
      return text === undefined ? undefined : { text, isTest: true };
    }
    default: {
      const text = literalOf(node, script);
      return text === undefined ? undefined : { text };
    }
  }
}

function literalOf(node: SyntaxNode, script: Script): string | undefined {
  const text = textOf(node);
  if (text !== undefined) return quoteText(text);
  if (node.type === "Literal") {
    const source = sourceOf(node, script);
    if (source === "null") return "nil";
    return /^(?:true|false|\d[\d.]*(?:e[+-]?\d+)?)$/i.test(source) ? source : undefined;
  }
  if (node.type === "ArrayExpression") {
    const items = node.elements.map((one) => readText(one ?? undefined, script));
    return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
  }
  if (node.type !== "ObjectExpression") return undefined;
  const fields = node.properties.map((field) => {
    if (field.type !== "Property" || field.computed) return undefined;
    const value = readText(field.value, script);
    return value && `${quoteText(textOf(field.key) ?? sourceOf(field.key, script))}: ${value}`;
  });
  return fields.includes(undefined) ? undefined : `{${fields.join(", ")}}`;
}

function comparisonOf(
  node: SyntaxNode & { readonly type: "BinaryExpression" },
  script: Script,
): string | undefined {
  const [left, right] = [readText(node.left, script), readText(node.right, script)];
  if (left === undefined || right === undefined) return undefined;
  if (node.operator === "in") {
    const key = textOf(node.left);
    return key === undefined ? undefined : existenceOf(right + keyOf(key));
  }
  // JavaScript has null and undefined.
  if (right === "nil") return undefined;
  const operator = node.operator.replace(/^([=!]=)=$/, "$1");
  return /^(?:[=!]=|[<>]=?)$/.test(operator) ? `${left} ${operator} ${right}` : undefined;
}

/** Translates a call that is a test: `items.includes(1)`, `Array.isArray(items)`. */
function callTest(callee: SyntaxNode, first: SyntaxNode, script: Script): string | undefined {
  const name = nameOf(callee, script);
  if (name === "Boolean") return readTest(first, script);
  const value = readText(first, script);
  if (value === undefined) return undefined;
  if (name === "Array.isArray") return `type(${value}) == "array"`;
  if (name === "Number.isInteger") return `type(${value}) == "int"`;
  const object = callee.type === "MemberExpression" ? readText(callee.object, script) : undefined;
  if (object === undefined || callee.type !== "MemberExpression") return undefined;
  const method = sourceOf(callee.property, script);
  if (/^(?:has|includes)$/.test(method)) return containsOf(object, value);
  const key = method === "hasOwnProperty" ? textOf(first) : undefined;
  return key === undefined ? undefined : existenceOf(object + keyOf(key));
}

/** Tests that a value is truthy in JavaScript. */
function truthOf(expression: string): string {
  return `not (${expression} in [nil, false, 0, ""])`;
}
