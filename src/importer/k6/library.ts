import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import { quoteText } from "../../openapi/gen/templates.ts";
import { type ScriptValue, textOf } from "../script_values.ts";

/** The name of a function that a call has: `Math.random`; "" if it is not plain. */
export function callOf(node: SyntaxNode): string {
  return node.type === "CallExpression" ? pathOf(node.callee) : "";
}

function pathOf(node: SyntaxNode): string {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") {
    return "";
  }
  const object = pathOf(node.object as SyntaxNode);
  return object === "" ? "" : `${object}.${node.property.name}`;
}

/** Functions of JavaScript and of the libraries of k6, by their arguments. */
const FUNCTIONS: Readonly<Record<string, (first: string, second: string) => string>> = {
  uuidv4: () => "uuid()",
  randomString: (length) => `random_str(${length})`,
  randomIntBetween: (from, to) => `(${from} + random_int(${to} - ${from} + 1))`,
  "Math.random": () => "(random_int(1000000) / 1000000.0)",
  "Date.now": () => "(unixtime() * 1000)",
  encodeURIComponent: (text) => `encode_url(string(${text}))`,
  "encoding.b64encode": (text) => `encode_base64(${text})`,
  "encoding.b64decode": (text) => `decode_base64(${text})`,
  b64encode: (text) => `encode_base64(${text})`,
  parseInt: (text) => `int(${text})`,
  parseFloat: (text) => `float(${text})`,
  Number: (text) => `float(${text})`,
  String: (value) => `string(${value})`,
  "JSON.stringify": (value) => `toJSON(${value})`,
};

/** The call of a function that is known; null if its arguments are not. */
export function libraryCall(
  node: SyntaxNode & { readonly type: "CallExpression" },
  source: string,
  text: (node: SyntaxNode) => string | undefined,
): ScriptValue | null | undefined {
  const name = callOf(node);
  const values = () => node.arguments.map(text);
  if (/^Math\.(?:floor|round|ceil)$/.test(name)) {
    const [, limit] = /^Math\.\w+\(Math\.random\(\) ?\* ?(\d+)\)$/.exec(source) ?? [];
    if (limit !== undefined) return { text: `random_int(${limit})` };
    const [value] = values();
    return value === undefined ? null : { text: `int(${value})` };
  }
  if (/^new Date\(\)\.toISOString\(\)$/.test(source)) return { text: "now()" };
  if (/^new Date\(\)\.(?:getTime|valueOf)\(\)$/.test(source)) {
    return { text: "(unixtime() * 1000)" };
  }
  if (!Object.hasOwn(FUNCTIONS, name)) return undefined;
  const [first = "", second = ""] = values();
  if (values().includes(undefined)) return null;
  return { text: FUNCTIONS[name]!(first, second) };
}

/** Whether each evaluation of a source has another value. */
export function isRandom(source: string): boolean {
  return /\b(?:Math\.random|uuidv4|random(?:String|IntBetween)|Date\.now)\(|new Date\(\)/.test(
    source,
  );
}

/** Methods of texts without arguments, and functions that do the same. */
const METHODS: Readonly<Record<string, string>> = {
  toString: "string",
  trim: "trim",
  toLowerCase: "lower",
  toUpperCase: "upper",
};

/** The call of a method of a value; undefined for one that is not known. */
export function methodCall(
  method: string,
  value: string,
  [first, second]: readonly SyntaxNode[],
  text: (node: SyntaxNode) => string | undefined,
): ScriptValue | null | undefined {
  if (Object.hasOwn(METHODS, method)) return { text: `${METHODS[method]}(${value})` };
  if (method === "match") {
    return first?.type === "Literal" && first.value instanceof RegExp
      ? { text: `${value} matches ${patternOf(first.value)}`, isTest: true }
      : null;
  }
  if (!/^(?:startsWith|endsWith|split)$/.test(method)) return undefined;
  const part = first && text(first);
  if (!part || second) return null;
  return method === "split"
    ? { text: `split(${value}, ${part})` }
    : { text: `${value} ${method} ${part}`, isTest: true };
}

export const BODY = "(res.rawbody ?? res.body)";

/** The parts of a response, by the names of k6. */
export const RESPONSE: Readonly<Record<string, string>> = {
  status: "res.code",
  body: BODY,
  url: "res.url",
  "timings.duration": "rt.sec * 1000",
  "timings.waiting": "res.timing.first_byte * 1000",
  "timings.connecting": "res.timing.connect * 1000",
  "timings.tls_handshaking": "res.timing.tls * 1000",
  "timings.receiving": "res.timing.download * 1000",
};
/** `k6/execution`, with and without rounds. */
export const EXECUTION: readonly (readonly [pattern: RegExp, expression: string, alone: string])[] =
  [
    [/^\w*exec\w*\.vu\.(?:idInTest|idInInstance)$/, "(round.user + 1)", "1"],
    [/^\w*exec\w*\.(?:scenario\.iterationIn\w+|vu\.iterationIn\w+)$/, "round.index", "0"],
  ];
export function stringOf(text: string | undefined): string | undefined {
  return text === undefined || /^'|^string\(/.test(text) ? text : `string(${text})`;
}

export function patternOf({ source, flags }: RegExp): string {
  const kept = flags.replace(/[^ims]/g, "");
  return quoteText((kept && `(?${kept})`) + source);
}

/** `open("a.txt")`, `JSON.parse(open("a.json"))` */
export function fileOf(node: SyntaxNode): string | undefined {
  const [first] = node.type === "CallExpression" ? node.arguments : [];
  if (callOf(node) === "open" && textOf(first) !== undefined) {
    return `read_text(${quoteText(textOf(first)!)})`;
  }
  const text = callOf(node) === "JSON.parse" && first ? fileOf(first) : undefined;
  return text?.startsWith("read_text") ? text.replace("read_text", "read_json") : undefined;
}

/** The last name in a part of a script. */
export function nameIn(node: SyntaxNode): string {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.property.type !== "Identifier") return "value";
  return node.computed ? "value" : node.property.name;
}
