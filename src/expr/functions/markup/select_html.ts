import type { Value } from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { Fault } from "../../fault.ts";
import { LIMITS } from "../../expression_limits.ts";

type Parser = typeof import("htmlparser2");
type Matcher = typeof import("css-select");
type Element = ReturnType<Parser["DomUtils"]["getElementsByTagName"]>[number];
type Content = Element["children"][number];
type Document = InstanceType<Parser["DomHandler"]>["root"];

let library: { readonly parser: Parser; readonly matcher: Matcher } | undefined;

/** Loads what reads HTML, which few workflows need. */
export async function loadHtml(): Promise<void> {
  if (library) return;
  const [parser, matcher] = await Promise.all([import("htmlparser2"), import("css-select")]);
  library = { parser, matcher };
}

/** The problem of a selector; undefined if there is none, or before the library is loaded. */
export function selectorProblem(selector: string): string | undefined {
  if (!library) return undefined;
  if (selector.length > LIMITS.pattern) {
    return `the selector is longer than ${LIMITS.pattern} characters`;
  }
  try {
    library.matcher.compile(selector);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The rest is a part of the selector, which may hold a secret.
    const reason = error.message.replace(/^Unmatched selector.*/s, "unknown syntax")
      .replace(/(?:, (?:found|got) .*|\.)$/s, "");
    return `invalid selector: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
  }
}

/** The texts of the elements that a selector finds, or the values of one of their attributes. */
export function selectTexts(
  run: Evaluation,
  text: string,
  selector: string,
  attribute?: string,
): Value {
  const { matcher } = loaded();
  const problem = selectorProblem(selector);
  if (problem !== undefined) throw new Fault(problem);
  run.spend(SELECTOR_COST + (text.length >> 4));
  const isXml = /^\s*<\?xml\b/.test(text);
  const document = readMarkup(text, isXml, "css()");
  // The library compares a list of nodes with each other, and takes time by the square of them.
  const found = matcher.selectAll<Content, Element>(selector, document, {
    xmlMode: isXml,
    adapter: meteredAdapter(run),
  });
  if (attribute === undefined) return found.map((element) => textOf(run, element));
  const name = isXml ? attribute : attribute.toLowerCase();
  return found.flatMap(({ attribs }) => Object.hasOwn(attribs, name) ? [attribs[name]!] : []);
}

const SELECTOR_COST = 100;

/** Levels of elements; real pages have fewer, and each costs time in every step. */
const MOST_LEVELS = 500;

function loaded() {
  if (!library) throw new Error("htmlparser2 is not loaded");
  return library;
}

/** A node of a parsed text. */
export type MarkupNode = Content;

/** The document in XML or HTML, for a function that messages name. */
export function readMarkup(text: string, isXml: boolean, caller: string): Document {
  const { DomHandler, Parser } = loaded().parser;
  const open: string[] = [];
  class LimitedHandler extends DomHandler {
    override onopentag(name: string, attributes: Record<string, string>): void {
      if (open.push(name) > MOST_LEVELS) {
        throw new Fault(`${caller} reads at most ${MOST_LEVELS} elements inside each other`);
      }
      super.onopentag(name, attributes);
    }
    override onclosetag(): void {
      open.pop();
      super.onclosetag();
    }
  }
  /** The library itself takes any text for XML. */
  class XmlParser extends Parser {
    override onclosetag(start: number, end: number): void {
      const name = text.slice(start, end);
      if (!open.includes(name)) throw malformed(`</${name}> closes nothing`);
      if (open.at(-1) !== name) throw malformed(`<${open.at(-1)}> is not closed`);
      super.onclosetag(start, end);
    }
    override onend(): void {
      if (open.length > 0) throw malformed(`<${open.at(-1)}> is not closed`);
      super.onend();
    }
  }
  const handler = new LimitedHandler();
  new (isXml ? XmlParser : Parser)(handler, { xmlMode: isXml }).end(text);
  return handler.root;
}

function malformed(reason: string): Fault {
  const hint = "HTML begins with <!doctype html> or <html>; css() also reads parts of it";
  return new Fault(`this is not well-formed XML: ${reason}`, hint);
}

/** Every look at the document is paid for, since some selectors look at much of it many times. */
function meteredAdapter(run: Evaluation) {
  const utils = loaded().parser.DomUtils;
  const paid = <A extends unknown[], R>(look: (...args: A) => R) => (...args: A): R => {
    run.spend(1);
    return look(...args);
  };
  const paidList = <A extends unknown[], R extends readonly unknown[]>(
    look: (...args: A) => R,
  ) =>
  (...args: A): R => {
    const list = look(...args);
    run.spend(1 + (list.length >> 2));
    return list;
  };
  return {
    isTag: (node: Content): node is Element => "attribs" in node,
    getName: paid(utils.getName),
    getAttributeValue: paid(utils.getAttributeValue),
    hasAttrib: paid(utils.hasAttrib),
    getParent: paid(utils.getParent),
    getChildren: paidList(utils.getChildren),
    getSiblings: paidList(utils.getSiblings),
    prevElementSibling: paid(utils.prevElementSibling),
    getText: (node: Content) => rawText(run, node),
    removeSubsets: utils.removeSubsets,
  };
}

function textOf(run: Evaluation, element: Element): string {
  return rawText(run, element).trim();
}

/** The text in an element, without comments. */
function rawText(run: Evaluation, root: Content): string {
  const pieces: string[] = [];
  const visit = (node: Content): void => {
    run.spend(1);
    if ("children" in node) { for (const child of node.children) visit(child as Content); }
    else if (node.type === "text") {
      run.spend(node.data.length >> 4);
      pieces.push(node.data);
    }
  };
  visit(root);
  return pieces.join("");
}
