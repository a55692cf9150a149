import type { Action } from "../../action/action.ts";
import { declare } from "../../action/make_action.ts";
import { hideCookies, hideHeaders } from "./hide_headers.ts";
import { AUTH } from "./auth/auth_parameter.ts";
import { expectsContract, OPENAPI } from "./contract_parameter.ts";
import {
  CONNECTION_PARAMS,
  cookieParams,
  REQUEST_PARAMS,
  VERIFY_PARAMS,
  VERSION_PARAM,
} from "./http_params.ts";
import { checkHttp, hasForm } from "./request/check_http.ts";
import { mergeHttpDefaults } from "./request/merge_http_defaults.ts";
import { SAME_MEANING } from "./request/http_syntax.ts";

/** Sends an HTTP request. */
export const http: Action = {
  ...declare({
    name: "http",
    summary: "Sends an HTTP request and reads the response",
    params: {
      ...REQUEST_PARAMS,
      ...VERIFY_PARAMS,
      ...CONNECTION_PARAMS,
      ...VERSION_PARAM,
      auth: AUTH,
      ...cookieParams(),
      openapi: OPENAPI,
    },
    check: (_params, param, raw) => param.problems.push(...checkHttp(raw)),
    expectsResult: expectsContract,
    omitsNilIn: (params) => [
      ...["headers", "query", "form", "multipart"],
      ...hasForm(params) ? ["body"] : [],
    ],
    merge: mergeHttpDefaults,
    res: {
      code: "int",
      status: { type: "string", hint: "it is the status line; the number is res.code" },
      headers: { type: "map", hide: hideHeaders },
      cookies: { type: "array", hide: hideCookies },
      trailers: { type: "map", hide: hideHeaders },
      url: "string",
      redirects: "array",
      tls: "map",
      version: "string",
      timing: "map",
      body: "any",
      rawbody: { type: "string", repeats: "body" },
      filepath: "string",
      data: "any",
      errors: "array",
      size: "int",
      sha256: "string",
      sha1: "string",
      md5: "string",
    },
    example: "res.code == 200",
  }),
  alternatives: SAME_MEANING,
  explainer: async () => (await import("./explain_http.ts")).httpExplainer,
  load: async () => (await import("./run_http.ts")).httpRunner,
};
