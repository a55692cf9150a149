import { isTemplate } from "../../../expr/template/template_data.ts";
import { isDict } from "../../../base/value/value.ts";
import type { Dict, ParameterProblem } from "../../../action/action.ts";
import { isGiven } from "../../../action/parameters.ts";
import { RESOLVE_HINT, resolveProblem } from "./address.ts";

/** Parameters that cannot be combined. */
const CONFLICTS = [
  ["insecure", "verify_ssl"],
  ["unix_socket", "proxy"],
  ["unix_socket", "resolve"],
  ["proxy", "resolve"],
] as const;

/** Problems of the parameters that say how to connect. */
export function checkConnection(params: Dict): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const isSet = (name: string) => isGiven(params, name) && params[name] !== "none";
  for (const [one, other] of CONFLICTS) {
    if (isSet(one) && isSet(other)) problems.push(conflict([one], other));
  }
  if (isDict(params.tls) && isGiven(params.tls, "verify")) {
    for (const name of ["insecure", "verify_ssl"]) {
      if (isSet(name)) problems.push(conflict([name], "tls.verify"));
    }
  }
  return [...problems, ...checkResolve(params)];
}

function conflict(path: [string], other: string): ParameterProblem {
  const message = `"${path[0]}" and "${other}" cannot be combined`;
  return { path, at: "key", message, hint: "keep one of them" };
}

function checkResolve({ resolve }: Dict): ParameterProblem[] {
  if (!isDict(resolve)) return [];
  return Object.entries(resolve).flatMap(([from, to]) => {
    if (to === null || isTemplate(to)) return [];
    const message = resolveProblem(from, to);
    return message === undefined ? [] : [{ path: ["resolve", from], message, hint: RESOLVE_HINT }];
  });
}
