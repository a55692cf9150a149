import { isTemplate } from "../../expr/template/template_data.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, Parameter, ParameterProblem } from "../../action/action.ts";

const CHECKS =
  "`true`: a violation fails the step; `warn`: it is a warning; `false`: nothing is checked";

/** `openapi`: the description that requests and responses are held against. */
export const OPENAPI_PARAMETER: Parameter = {
  name: "openapi",
  type: ["string", "map", "boolean"],
  summary:
    "The path of an OpenAPI description that the request and the response must match; `false` for none",
  namesFile: "any",
  fields: [
    {
      name: "file",
      type: "string",
      summary: "The path of the description",
      required: true,
      namesFile: "any",
    },
    {
      name: "request",
      type: ["boolean", "string"],
      summary: `Whether the request must match it: ${CHECKS}`,
      default: "true",
    },
    {
      name: "response",
      type: ["boolean", "string"],
      summary: "The same for the response",
      default: "true",
    },
    {
      name: "base_path",
      type: "string",
      summary: "What comes before the paths of the description",
      default: "the paths of its servers, or nothing",
    },
  ],
};

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
