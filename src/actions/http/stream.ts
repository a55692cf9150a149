import { timeout } from "../../action/rule.ts";
import type { Dict } from "../../base/value/value.ts";
import {
  AUTH,
  CONNECTION_PARAMS,
  cookieParams,
  HEADERS_PARAM,
  hideCookies,
  hideHeaders,
  REDIRECT_PARAMS,
} from "./http_params.ts";

/** Parameters of actions that begin with a request of HTTP and then receive a stream. */
export const STREAM_PARAMS = {
  ...HEADERS_PARAM,
  auth: AUTH,
  ...cookieParams(", also with http"),
  ...CONNECTION_PARAMS,
  ...REDIRECT_PARAMS,
  ...timeout("How long everything may take"),
};

/** The fields of their `res` about the response that begins the stream. */
export const STREAM_RES = {
  code: { type: "int", summary: "the status code" },
  headers: { type: "map", summary: "the headers of the response", hide: hideHeaders },
  cookies: {
    type: "array",
    summary: "the cookies that the server set",
    hide: hideCookies,
    optional: true,
  },
  url: { type: "string", summary: "the last URL" },
  redirects: { type: "array", summary: "the redirects before it", optional: true },
  tls: { type: "map", summary: "as with `http`; nil if plain", optional: true },
} as const;

/** Fields of a response that reports show only with details. */
export const STREAM_MINOR = [["headers"], ["tls"], ["url"]] as const;

/** The fields of a response that reports show: no empty redirects and cookies. */
export function shownFields(res: Dict, hidden: readonly string[]): Dict {
  const isShown = (name: string) =>
    !hidden.includes(name) &&
    !(["redirects", "cookies"].includes(name) && [res[name]].flat().length === 0);
  return Object.fromEntries(Object.entries(res).filter(([name]) => isShown(name)));
}
