import type { Value } from "../../base/value/value.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";
import { define, type FunctionBodies, Library } from "./function.ts";

const parser = new Library(() => import("htmlparser2"));
const matcher = new Library(() => import("css-select"));

type Markup = typeof import("htmlparser2");
export type MarkupElement = ReturnType<Markup["DomUtils"]["getElementsByTagName"]>[number];
export type MarkupNode = MarkupElement["children"][number];
export type MarkupDocument = InstanceType<Markup["DomHandler"]>["root"];

export const BODIES: FunctionBodies = {
  css: define(
    "The trimmed texts of the elements of HTML or XML that a CSS selector finds, or the values of an attribute where they have it.",
    selectTexts,
    {
      load: async () => {
        await loadMarkup();
        await matcher.load();
      },
      constant: { position: 1, problem: selectorProblem },
    },
  ),
};

/** Loads the parser of `readMarkup`. */
export const loadMarkup = parser.load;

/** The problem of a selector; undefined if there is none, or before the library is loaded. */
function selectorProblem(selector: string): string | undefined {
  if (!matcher.isLoaded) return undefined;
  if (selector.length > LIMITS.pattern) {
    return `the selector is longer than ${LIMITS.pattern} characters`;
  }
  try {
    matcher.module.compile(selector);
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
function selectTexts(text: string, selector: string, attribute?: string): Value {
  const problem = selectorProblem(selector);
  if (problem !== undefined) throw new Fault(problem);
  const isXml = /^\s*<\?xml\b/.test(text);
  const document = readMarkup(text, isXml, "css()");
  const found = matcher.module.selectAll<MarkupNode, MarkupElement>(selector, document, {
    xmlMode: isXml,
  });
  if (attribute === undefined) return found.map((element) => textIn(element).trim());
  const name = isXml ? attribute : attribute.toLowerCase();
  return found.flatMap(({ attribs }) => Object.hasOwn(attribs, name) ? [attribs[name]!] : []);
}

/** The text in a node, without comments. */
export function textIn(node: MarkupNode | MarkupDocument): string {
  return parser.module.DomUtils.textContent(node);
}

/** Levels of elements; real pages have fewer, and each costs time in every step. */
const MAX_LEVELS = 500;

/** Elements that begin the head of a page that does not write it. */
const OF_HEAD: ReadonlySet<string> = new Set(["base", "link", "meta", "script", "style", "title"]);

/** The document in XML or HTML, for a function that messages name. */
export function readMarkup(text: string, isXml: boolean, caller: string): MarkupDocument {
  const { DomHandler, Parser } = parser.module;
  const open: string[] = [];
  class LimitedHandler extends DomHandler {
    readonly #seen = new Set<string>();
    #isHeadImplied = false;

    override onopentag(name: string, attributes: Record<string, string>): void {
      if (!isXml) this.#imply(name);
      this.#open(name, attributes);
    }
    override onclosetag(): void {
      open.pop();
      super.onclosetag();
    }
    override ontext(text: string): void {
      if (!isXml && open.length < 3 && text.trim() !== "") this.#imply("");
      super.ontext(text);
    }
    #open(name: string, attributes: Record<string, string>): void {
      if (open.push(name) > MAX_LEVELS) {
        throw new Fault(`${caller} reads at most ${MAX_LEVELS} elements inside each other`);
      }
      this.#seen.add(name);
      super.onopentag(name, attributes);
    }
    /** Opens the elements that HTML implies around an element, or around text. */
    #imply(name: string): void {
      const seen = this.#seen;
      if (open.length > 2 || name === "html") return;
      if (!seen.has("html")) this.#open("html", {});
      const isOfHead = OF_HEAD.has(name);
      if (!isOfHead && this.#isHeadImplied && open.at(-1) === "head") this.onclosetag();
      if (/^(?:head|body|frameset)$/.test(name) || open.length !== 1 || seen.has("body")) return;
      if (isOfHead && seen.has("head")) return;
      this.#isHeadImplied = isOfHead;
      this.#open(isOfHead ? "head" : "body", {});
    }
    /** The text of a CDATA section is text, and processing instructions say nothing here. */
    override oncdatastart(): void {}
    override oncdataend(): void {}
    override onprocessinginstruction(): void {}
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
