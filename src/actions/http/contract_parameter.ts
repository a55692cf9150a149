import { isTemplate } from "../../expr/template/template_data.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, ParameterProblem } from "../../action/action.ts";
import { either, flag, map, text, value } from "../../action/schema.ts";

const CHECKS =
  "`true`: a violation fails the step; `warn`: it is a warning; `false`: nothing is checked";

const SUMMARY =
  "The path of an OpenAPI description that the request and the response must match; `false` for none";

const SETTINGS = map({
  file: text("The path of the description").required().with({ namesFile: "any" }),
  request: value(["boolean", "string"], `Whether the request must match it: ${CHECKS}`)
    .with({ default: "true" }),
  response: value(["boolean", "string"], "The same for the response").with({ default: "true" }),
  base_path: text("What comes before the paths of the description")
    .with({ default: "the paths of its servers, or nothing" }),
}, SUMMARY);

/** `openapi`: the description that requests and responses are held against. */
export const OPENAPI = either(text(SUMMARY).with({ namesFile: "any" }), either(SETTINGS, flag("")));

/** Problems of `openapi` beyond its types. */
export function checkOpenapi({ openapi }: Dict): ParameterProblem[] {
  if (openapi === true) {
    const message = '"openapi" must be the path of a description, a map, or false';
    return [{ path: ["openapi"], message }];
  }
  if (!isDict(openapi)) return [];
  return ["request", "response"].flatMap((name) => {
    const value = openapi[name];
    if (typeof value !== "string" || isTemplate(value) || /^(?:warn|true|false)$/.test(value)) {
      return [];
    }
    const message = `"openapi.${name}" must be true, false or warn, not "${value}"`;
    return [{ path: ["openapi", name], message }];
  });
}

/** Whether a description says what response to expect. */
export function expectsContract({ openapi = null }: Dict): boolean {
  if (!isDict(openapi)) return typeof openapi === "string" && openapi !== "false";
  return String(openapi.response ?? true) === "true";
}
