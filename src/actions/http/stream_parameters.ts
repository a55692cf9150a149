import type { Dict, Parameter, ParameterProblem } from "../../action/action.ts";
import { AUTH, checkAuth } from "./auth/auth_parameter.ts";
import { checkConnection, CONNECTION_PARAMETERS } from "./connection/check_connection.ts";
import { hideHeaders } from "./hide_headers.ts";
import { checkHeaders, checkRedirects } from "./request/check_http.ts";
import { checkCookies } from "./session/cookie_use.ts";

/** Parameters of actions that begin with a request of HTTP and then receive a stream. */
export const STREAM_PARAMETERS: readonly Parameter[] = [
  {
    name: "headers",
    type: "map",
    summary: "Request headers; null leaves one out, a list repeats it",
    hide: hideHeaders,
  },
  AUTH,
  {
    name: "cookies",
    type: ["boolean", "string"],
    summary: "Whether to send and keep cookies; a name shares them with all jobs that give it",
    default: "true: the steps of a job share their cookies, also with http",
  },
  {
    name: "cookie_file",
    type: "string",
    summary: "A Netscape cookie file whose cookies are added, relative to the workflow file",
  },
  ...CONNECTION_PARAMETERS.filter(({ name }) => name !== "version"),
  {
    name: "follow_redirects",
    type: "boolean",
    summary: "Whether to follow redirects",
    default: "true",
  },
  {
    name: "max_redirects",
    type: "integer",
    summary: "How many redirects to follow before giving up",
    default: "10",
  },
  {
    name: "timeout",
    type: "duration",
    summary: "How long everything may take",
    default: "the timeout of the step",
  },
];

/** Problems of these parameters beyond their types; `limitName` names a limit of at least 1. */
export function checkStream(params: Dict, limitName: string): ParameterProblem[] {
  const limit = params[limitName];
  return [
    ...typeof limit === "number" && limit < 1
      ? [{ path: [limitName], message: `"${limitName}" must be at least 1, not ${limit}` }]
      : [],
    ...checkConnection(params),
    ...checkRedirects(params),
    ...checkHeaders(params),
    ...checkCookies(params),
    ...checkAuth(params),
  ];
}
