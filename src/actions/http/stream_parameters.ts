import type { Dict } from "../../action/action.ts";
import { timeout } from "../../action/params.ts";
import type { Param } from "../../action/schema.ts";
import { AUTH, checkAuth } from "./auth/auth_parameter.ts";
import { checkConnection } from "./connection/check_connection.ts";
import { CONNECTION_PARAMS, cookieParams, HEADERS_PARAM, REDIRECT_PARAMS } from "./http_params.ts";
import { checkHeaders, checkRedirects } from "./request/check_http.ts";
import { checkCookies } from "./session/cookie_use.ts";

/** Parameters of actions that begin with a request of HTTP and then receive a stream. */
export const STREAM_PARAMETERS = {
  ...HEADERS_PARAM,
  auth: AUTH,
  ...cookieParams(", also with http"),
  ...CONNECTION_PARAMS,
  ...REDIRECT_PARAMS,
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
