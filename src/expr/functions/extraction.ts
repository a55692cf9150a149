import { captureRegex, loadRegexEngine, regexProblem } from "../evaluate/regex.ts";
import { defineLoaded, defineNew } from "./function.ts";

/** Functions that take parts out of texts and data. */
export const EXTRACTION_FUNCTIONS = [
  defineNew(
    "capture(text: string, pattern: string)",
    "The first match of a regular expression and its groups, as a list; nil if there is none.",
    (run, text: string, pattern: string) => captureRegex(text, pattern, run) ?? null,
    loadRegexEngine,
    { position: 1, problem: regexProblem },
  ),
  defineLoaded(
    "css(text: string, selector: string, attribute?: string)",
    "The trimmed texts of the elements of HTML or XML that a CSS selector finds, or the values of an attribute where they have it.",
    async () => {
      const code = await import("./markup/select_html.ts");
      await code.loadHtml();
      return { call: code.selectTexts, problem: code.selectorProblem };
    },
    1,
  ),
  defineLoaded(
    "json_path(value: any, path: string)",
    "The list of all values that a JSONPath of RFC 9535 finds.",
    async () => {
      const code = await import("./json_path.ts");
      await code.loadJsonPath();
      return { call: code.selectByPath, problem: code.jsonPathProblem };
    },
    1,
  ),
  defineLoaded(
    "jmespath(value: any, expression: string)",
    "The value of a JMESPath expression about a value.",
    async () => {
      const code = await import("./jmespath.ts");
      await code.loadJmespath();
      return { call: code.searchJmespath, problem: code.jmespathProblem };
    },
    1,
  ),
  defineLoaded(
    "xpath(text: string, expression: string, namespaces?: map)",
    "The result of an XPath 1.0 expression on XML or HTML: a number, a boolean or a string, or the texts of the nodes that it finds, as a list. Namespaces are URIs by their prefixes.",
    async () => {
      const code = await import("./markup/xpath.ts");
      await code.loadXpath();
      return { call: code.evaluateXpath, problem: code.xpathProblem };
    },
    1,
  ),
] as const;
