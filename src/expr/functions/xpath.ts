import { isDict, type Value } from "../../base/value/value.ts";
import { Fault, quoted } from "../fault.ts";
import { LIMITS } from "../limits.ts";
import { define, type FunctionBodies, Library } from "./function.ts";
import {
  loadMarkup,
  type MarkupDocument,
  type MarkupElement,
  type MarkupNode,
  readMarkup,
  textIn,
} from "./markup.ts";
import { importXpath, type XpathResult } from "./xpath_library.js";

const library = new Library(importXpath);

export const BODIES: FunctionBodies = {
  xpath: define(
    "The result of an XPath 1.0 expression on XML or HTML: a number, a boolean or a string, or the texts of the nodes that it finds, as a list. Namespaces are URIs by their prefixes; those of the root element are known, its default one as `_`.",
    evaluateXpath,
    {
      load: async () => {
        await loadMarkup();
        await library.load();
      },
      constant: { position: 1, problem: xpathProblem },
    },
  ),
};

/** The problem of an XPath; undefined if there is none, or before the library is loaded. */
function xpathProblem(expression: string): string | undefined {
  if (!library.isLoaded) return undefined;
  if (expression.length > LIMITS.pattern) {
    return `the XPath is longer than ${LIMITS.pattern} characters`;
  }
  const bare = expression.replaceAll(/"[^"]*"|'[^']*'/g, "''");
  try {
    library.module.parse(expression);
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

/** Names that may precede a parenthesis in XPath 1.0: functions, node types and operators. */
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
function evaluateXpath(text: string, expression: string, namespaces: Value = {}): Value {
  const problem = xpathProblem(expression);
  if (problem !== undefined) throw new Fault(problem);
  const isHtml = /^\s*(?:<!doctype html|<html)\b/i.test(text);
  const document = readMarkup(text, !isHtml, "xpath()");
  if (!document.children.some(isElement)) {
    throw new Fault("this text has no elements", "xpath() reads XML and HTML");
  }
  completeDom(document);
  const { "": _ = "", ...declared } = declaredIn(document.children.find(isElement)!);
  const spaces = { _, ...declared, ...namespacesOf(namespaces) };
  try {
    const parsed = library.module.parse(expression);
    return valueOf(parsed.evaluate({ node: document, namespaces: spaces }));
  } catch (error) {
    throw evaluationFault(error);
  }
}

function namespacesOf(namespaces: Value): Readonly<Record<string, string>> {
  const entries = isDict(namespaces) ? Object.entries(namespaces) : [];
  for (const [, uri] of entries) {
    if (typeof uri !== "string") throw new Fault("the namespaces of xpath() must be strings");
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function evaluationFault(error: unknown): unknown {
  if (error instanceof RangeError) return new Fault("this XPath is nested too deeply");
  if (!(error instanceof Error)) return error;
  const prefix = /^Cannot resolve QName (\w+)/.exec(error.message)?.[1];
  return prefix !== undefined
    ? new Fault(
      `xpath() does not know the namespace of the prefix ${quoted(prefix)}`,
      `name it: xpath(text, "//${prefix}:name", {${prefix}: "http://…"})`,
    )
    : new Fault("this XPath cannot be evaluated: a function or a type in it does not fit");
}

function valueOf(result: XpathResult): Value {
  // Attributes and namespaces have a value, and no text in them.
  if (result.toArray) {
    return (result.toArray() as (MarkupNode & { readonly nodeValue?: string })[])
      .map((node) => node.nodeValue ?? textIn(node));
  }
  return result.b ?? result.num ?? result.stringValue();
}

function isElement(node: MarkupNode): node is MarkupElement {
  return "attribs" in node;
}

const ATTRIBUTE_NODE = 2;
const XML = "http://www.w3.org/XML/1998/namespace";
const XMLNS = "http://www.w3.org/2000/xmlns/";

/** Namespaces by prefix; the default one has the prefix "". */
type Namespaces = Readonly<Record<string, string>>;

/** Gives the nodes the properties of the DOM that the library reads and htmlparser2 does not set. */
function completeDom(document: MarkupDocument): void {
  let order = 0;
  const complete = <T extends object>(node: T, properties: object = {}): T => {
    const all = {
      ...properties,
      position: order++,
      ownerDocument: document,
      compareDocumentPosition,
    };
    // Some of them are getters of its class.
    for (const [name, value] of Object.entries(all)) Object.defineProperty(node, name, { value });
    return node;
  };
  const visit = (node: MarkupNode, outer: Namespaces): void => {
    if (!isElement(node)) {
      complete(node, { nodeName: `#${node.type}` });
      return;
    }
    const spaces = { ...outer, ...declaredIn(node) };
    const attributes = Object.entries(node.attribs).map(([name, value]) => {
      // Without a prefix, an attribute is in no namespace.
      const uri = /^xmlns(:|$)/.test(name) ? XMLNS : name.includes(":") && spaces[prefixOf(name)];
      const parts = { ...nameParts(name, uri || undefined), ownerElement: node };
      return { nodeType: ATTRIBUTE_NODE, name, value, nodeValue: value, ...parts };
    });
    complete(node, {
      ...nameParts(node.name, spaces[prefixOf(node.name)]),
      attributes: Object.assign(attributes, { item: (index: number) => attributes[index] }),
      getAttribute: (name: string) => node.attribs[name] ?? null,
      getAttributeNS: () => null,
    });
    for (const attribute of attributes) complete(attribute);
    for (const child of node.children) visit(child, spaces);
  };
  complete(document, { nodeName: "#document", documentElement: document.children.find(isElement) });
  for (const child of document.children) visit(child, { xml: XML });
}

/** Bits as in the DOM: 4 where the other one follows, 2 where it precedes. */
function compareDocumentPosition(
  this: { readonly position: number },
  other: { readonly position: number },
): number {
  return this.position < other.position ? 4 : 2;
}

function prefixOf(name: string): string {
  return name.includes(":") ? name.split(":")[0]! : "";
}

function nameParts(nodeName: string, namespaceURI: string | undefined) {
  const prefix = prefixOf(nodeName);
  const localName = prefix === "" ? nodeName : nodeName.slice(prefix.length + 1);
  return { nodeName, prefix: prefix || null, localName, namespaceURI: namespaceURI ?? null };
}

function declaredIn({ attribs }: MarkupElement): Namespaces {
  return Object.fromEntries(
    Object.entries(attribs).filter(([name]) => /^xmlns(:|$)/.test(name))
      .map(([name, uri]) => [name.slice("xmlns:".length), uri]),
  );
}
