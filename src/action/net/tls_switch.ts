import type { Dict, Parameter, ParameterProblem } from "../action.ts";
import { TLS_PARAMETER } from "../tls/tls_parameter.ts";

/** `tls` of actions that speak plainly unless TLS is asked for. */
export const TLS_SWITCH: Parameter = {
  ...TLS_PARAMETER,
  type: ["boolean", "map"],
  summary: "Whether to use TLS, or how: a map says so too",
  default: "false",
};

/** A port that a step names must be one. */
export function checkPort({ port }: Dict): readonly ParameterProblem[] {
  if (typeof port !== "number" || Number.isInteger(port) && port >= 1 && port <= 65_535) return [];
  return [{ path: ["port"], message: `invalid port ${port}`, hint: "ports are 1 to 65535" }];
}
