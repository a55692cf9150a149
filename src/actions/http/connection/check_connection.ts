import { isTemplate } from "../../../expr/template/template_data.ts";
import { isDict } from "../../../base/value/value.ts";
import type { Dict, Parameter, ParameterProblem } from "../../../action/action.ts";
import { isGiven } from "../../../action/parameters.ts";
import { checkTls, TLS_PARAMETER } from "../../../action/tls/tls_parameter.ts";
import { RESOLVE_HINT, resolveProblem } from "./address.ts";

/** Parameters that say where and how to connect. */
export const CONNECTION_PARAMETERS: readonly Parameter[] = [
  TLS_PARAMETER,
  {
    name: "proxy",
    type: "string",
    summary: "The proxy to use, or none: http://user:password@host:port, https:// or socks5://",
    default: "the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name",
  },
  {
    name: "unix_socket",
    type: "string",
    summary: "The path of a Unix socket to connect to in place of the host",
  },
  {
    name: "resolve",
    type: "map",
    summary: 'Where to connect in place of a host: { "shop.example.com:443": "10.0.0.7:8443" }',
  },
  { name: "ip", type: "string", summary: "The version of IP to use: 4 or 6", values: ["4", "6"] },
  { name: "local_address", type: "string", summary: "The address of this machine to connect from" },
  {
    name: "version",
    type: "string",
    summary: 'The version of HTTP: "1.1", "2", or auto for 2 if the server offers it over TLS',
    default: '"1.1"',
    values: ["1.1", "2", "auto"],
  },
];

/** Parameters that cannot be combined. */
const CONFLICTS = [
  ["insecure", "verify_ssl"],
  ["unix_socket", "proxy"],
  ["unix_socket", "resolve"],
  ["proxy", "resolve"],
] as const;

/** Problems of the parameters that say how to connect. */
export function checkConnection(params: Dict): ParameterProblem[] {
  const problems = checkTls(params);
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
