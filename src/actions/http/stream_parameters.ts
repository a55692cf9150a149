import type { Dict, Parameter } from "../../action/action.ts";
import { checkValue } from "../../action/parameters.ts";
import { timeout } from "../../action/params.ts";
import { NoValue, type Param, Rule } from "../../action/schema.ts";
import { AUTH, checkAuth } from "./auth/auth_parameter.ts";
import { checkConnection, CONNECTION_PARAMETERS } from "./connection/check_connection.ts";
import { hideHeaders } from "./hide_headers.ts";
import { checkHeaders, checkRedirects } from "./request/check_http.ts";
import { checkCookies } from "./session/cookie_use.ts";

/**
 * Parameters of actions that begin with a request of HTTP and then receive a stream. `StreamRequest`
 * reads them, except for `timeout`.
 */
export const STREAM_PARAMETERS = {
  ...rulesOf([
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
  ]),
  ...timeout("How long everything may take"),
};

/** Reports what is wrong with these parameters beyond their types. */
export function checkStream(raw: Dict, { problems }: Param): void {
  problems.push(
    ...checkConnection(raw),
    ...checkRedirects(raw),
    ...checkHeaders(raw),
    ...checkCookies(raw),
    ...checkAuth(raw),
  );
}

/** The fields of a response that reports show: no empty redirects and cookies. */
export function shownFields(res: Dict, hidden: readonly string[]): Dict {
  const isShown = (name: string) =>
    !hidden.includes(name) &&
    !(["redirects", "cookies"].includes(name) && [res[name]].flat().length === 0);
  return Object.fromEntries(Object.entries(res).filter(([name]) => isShown(name)));
}

/** Rules for parameters that the code of http reads by itself, so that their type has no names. */
function rulesOf(table: readonly Parameter[]): Readonly<Record<never, never>> {
  return Object.fromEntries(table.map((parameter) => {
    const { name, ...form } = parameter;
    const rule = new Rule(form, (value, param) => {
      const problems = checkValue(parameter, value, param.path);
      param.problems.push(...problems);
      if (problems.length > 0) throw new NoValue(`"${name}" does not fit its table`);
      return value;
    });
    return [name, rule];
  }));
}
