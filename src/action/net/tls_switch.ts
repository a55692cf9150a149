import { isTemplate } from "../../expr/template/template_data.ts";
import { StepError } from "../../base/errors.ts";
import { withoutPassword } from "../../secrets/secrets.ts";
import { required } from "../read_parameters.ts";
import type { Dict, Parameter, ParameterProblem } from "../action.ts";
import { TLS_PARAMETER } from "../tls/tls_parameter.ts";

/** `tls` of actions that speak plainly unless TLS is asked for. */
export const TLS_SWITCH: Parameter = {
  ...TLS_PARAMETER,
  type: ["boolean", "map"],
  summary: "Whether to use TLS; a map of options also turns it on",
  default: "false",
};

/** A host that a step names must not be a URL, and has no port. */
export function checkHost({ host }: Dict): readonly ParameterProblem[] {
  if (typeof host !== "string" || isTemplate(host)) return [];
  const problem = hostProblem(host);
  return problem ? [{ path: ["host"], ...problem }] : [];
}

/** The host of a step. Throws `StepError` if it cannot be one. */
export function readHost(action: string, host: string | undefined): string {
  const text = required(action, "host", host);
  const problem = hostProblem(text);
  if (!problem) return text;
  const { message, hint } = problem;
  throw new StepError(`cannot run ${action}: ${message}`, hint, { parameter: "host" });
}

function hostProblem(host: string) {
  // An address of IPv6 has two colons at least.
  if (host !== "" && !/[\s/@[\]]|^[^:]*:[^:]*$/.test(host)) return undefined;
  return {
    message: `invalid host "${withoutPassword(host)}"`,
    hint: "write a name or an address; the port has its own key",
  };
}

/** A port that a step names must be one. */
export function checkPort({ port }: Dict): readonly ParameterProblem[] {
  if (typeof port !== "number" || Number.isInteger(port) && port >= 1 && port <= 65_535) return [];
  return [{ path: ["port"], message: `invalid port ${port}`, hint: "ports are 1 to 65535" }];
}
