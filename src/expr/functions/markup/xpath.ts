import { isDict, type Value } from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { LIMITS } from "../../expression_limits.ts";
import { Fault, quoted } from "../../fault.ts";
import { loadHtml, readMarkup } from "./select_html.ts";
import { makeTree, type TreeNode } from "./xpath_tree.ts";
import { importXpath, type XpathLibrary, type XpathResult } from "./xpath_library.js";

let library: XpathLibrary | undefined;

/** Loads what evaluates XPath, which few workflows need. */
export async function loadXpath(): Promise<void> {
  await loadHtml();
  library ??= await importXpath();
}

/** The problem of an XPath; undefined if there is none, or before the library is loaded. */
export function xpathProblem(expression: string): string | undefined {
  if (!library) return undefined;
  if (expression.length > LIMITS.pattern) {
    return `the XPath is longer than ${LIMITS.pattern} characters`;
  }
  const bare = expression.replaceAll(/"[^"]*"|'[^']*'/g, "''");
  try {
    library.parse(expression);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The message of the library may quote a secret, and says nothing else.
    const reason = syntaxProblem(bare);
    return `invalid XPath${reason === undefined ? "" : `: ${reason}`}`;
  }
  const unknown = [...bare.matchAll(/(?<![\w:$@.-])([a-z][a-z-]{0,29})\s*\(/g)]
    .find(([, name]) => !CALLABLE.has(name!));
  return unknown && `XPath 1.0 has no function ${unknown[1]}()`;
}

/** What may come before a bracket in XPath 1.0: functions, types of nodes, and operators. */
const CALLABLE: ReadonlySet<string> = new Set([
  ...["last", "position", "count", "id", "local-name", "namespace-uri", "name", "string", "concat"],
  ...["starts-with", "contains", "substring-before", "substring-after", "substring"],
  ...["string-length", "normalize-space", "translate", "boolean", "not", "true", "false", "lang"],
  ...["number", "sum", "floor", "ceiling", "round"],
  ...["text", "node", "comment", "processing-instruction", "and", "or", "div", "mod"],
]);

/** The usual mistakes in an expression without its strings. */
function syntaxProblem(bare: string): string | undefined {
  if (/["']/.test(bare.replaceAll("''", ""))) return "a quote is not closed";
  const open: string[] = [];
  for (const [bracket] of bare.matchAll(/[[\]()]/g)) {
    if (bracket === "[" || bracket === "(") open.push(bracket);
    else if (open.pop() !== (bracket === "]" ? "[" : "(")) return `"${bracket}" closes nothing`;
  }
  if (open.length > 0) return `"${open.at(-1)}" is not closed`;
  return /(?:[/|+=<>*@:$-]|\b(?:and|or|div|mod))\s*$/.test(bare) ? "it ends too early" : undefined;
}

/** Evaluates an XPath 1.0 expression on XML or HTML. */
export function evaluateXpath(
  run: Evaluation,
  text: string,
  expression: string,
  namespaces: Value = {},
): Value {
  if (!library) throw new Error("xpath is not loaded");
  const problem = xpathProblem(expression);
  if (problem !== undefined) throw new Fault(problem);
  run.spend(PARSE_COST + expression.length + (text.length >> 3));
  const isHtml = /^\s*(?:<!doctype html|<html)\b/i.test(text);
  const node = makeTree(run, readMarkup(text, !isHtml, "xpath()").children);
  if (!node.documentElement) {
    throw new Fault("this text has no elements", "xpath() reads XML and HTML");
  }
  const result = attempt(() =>
    valueOf(run, library!.parse(expression).evaluate({ node, namespaces: spacesOf(namespaces) }))
  );
  return result;
}

const PARSE_COST = 1000;

function spacesOf(namespaces: Value): Readonly<Record<string, string>> {
  const entries = isDict(namespaces) ? Object.entries(namespaces) : [];
  for (const [, uri] of entries) {
    if (typeof uri !== "string") throw new Fault("the namespaces of xpath() must be strings");
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function attempt<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (error instanceof RangeError) throw new Fault("this XPath is nested too deeply");
    if (!(error instanceof Error)) throw error;
    const prefix = /^Cannot resolve QName (\w+)/.exec(error.message)?.[1];
    throw prefix !== undefined
      ? new Fault(
        `xpath() does not know the namespace of the prefix ${quoted(prefix)}`,
        `name it: xpath(text, "//${prefix}:name", {${prefix}: "http://…"})`,
      )
      : new Fault("this XPath cannot be evaluated: a function or a type in it does not fit");
  }
}

function valueOf(run: Evaluation, result: XpathResult): Value {
  if (result.toArray) return (result.toArray() as TreeNode[]).map((node) => textOf(node));
  if (result.b !== undefined) return result.b;
  if (result.num !== undefined) return result.num;
  const text = result.stringValue();
  run.reserveText(text.length);
  return text;
}

/** A namespace node is none of the tree. */
function textOf(node: TreeNode | { readonly nodeValue?: string }): string {
  return "text" in node ? node.text() : node.nodeValue ?? "";
}
