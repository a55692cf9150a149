import { captureRegex, loadRegexEngine, regexProblem } from "../evaluate/regex.ts";
import { defineNew } from "./function.ts";
import { jmespathProblem, loadJmespath, searchJmespath } from "./jmespath.ts";
import { jsonPathProblem, loadJsonPath, selectByPath } from "./json_path.ts";
import { loadHtml, selectorProblem, selectTexts } from "./select_html.ts";

/** Functions that take parts out of texts and data. */
export const EXTRACTION_FUNCTIONS = [
  defineNew(
    "capture(text: string, pattern: string)",
    "The first match of a regular expression and its groups, as a list; nil if there is none.",
    (run, text: string, pattern: string) => captureRegex(text, pattern, run) ?? null,
    loadRegexEngine,
    { position: 1, problem: regexProblem },
  ),
  defineNew(
    "css(text: string, selector: string, attribute?: string)",
    "The trimmed texts of the elements of HTML or XML that a CSS selector finds, or the values of an attribute where they have it.",
    selectTexts,
    loadHtml,
    { position: 1, problem: selectorProblem },
  ),
  defineNew(
    "json_path(value: any, path: string)",
    "The list of all values that a JSONPath of RFC 9535 finds.",
    selectByPath,
    loadJsonPath,
    { position: 1, problem: jsonPathProblem },
  ),
  defineNew(
    "jmespath(value: any, expression: string)",
    "The value of a JMESPath expression about a value.",
    searchJmespath,
    loadJmespath,
    { position: 1, problem: jmespathProblem },
  ),
] as const;
