import type { SyntaxNode } from "../expr/parse/tokenizer.ts";
import { quoteText } from "../draft/templates.ts";
import { containsOf, existenceOf, headerOf, keyOf, truthOf } from "./expressions.ts";

/** An expression of a script in the expression language. */
export interface ScriptValue {
  readonly text: string;
  /** Whether its value is a boolean. */
  readonly isTest?: true;
}

/** A script that is being translated. */
export interface Script {
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
export function sourceOf({ start, end }: SyntaxNode, { text }: Script): string {
  return text.slice(start, end).replace(/\s+/g, " ").trim();
}

/** `pm.response.json`, if the script has no variable of this name. */
export function nameOf(node: SyntaxNode, script: Script): string {
  const name = sourceOf(node, script).replaceAll(" ", "");
  return script.aliases.has(/^\w*/.exec(name)![0]) ? "" : name;
}

/** The value of a string literal. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "TemplateLiteral") {
    return node.expressions.length > 0 ? undefined : node.quasis[0]!.value.cooked ?? undefined;
  }
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** Tests that an expression is truthy in JavaScript. */
export function readTest(node: SyntaxNode | undefined, script: Script): string | undefined {
  if (node?.type === "LogicalExpression" && node.operator !== "??") {
    const [left, right] = [readTest(node.left, script), readTest(node.right, script)];
    if (left === undefined || right === undefined) return undefined;
    return node.operator === "&&" ? `${left} && ${right}` : `(${left} || ${right})`;
  }
  const value = node && readValue(node, script);
  return value?.isTest ? value.text : value && truthOf(value.text);
}

/** A value as a part of another expression. */
export function readText(node: SyntaxNode | undefined, script: Script): string | undefined {
  const value = node && readValue(node, script);
  return value?.isTest ? `(${value.text})` : value?.text;
}

/** Translates an expression; undefined if it is not supported. */
export function readValue(node: SyntaxNode, script: Script): ScriptValue | undefined {
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
