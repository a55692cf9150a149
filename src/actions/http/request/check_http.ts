import { isTemplate } from "../../../expr/template/template_data.ts";
import { maxBodyProblem, parseSize } from "../../../base/value/byte_size.ts";
import { isDict } from "../../../base/value/value.ts";
import { checkConnection } from "../connection/check_connection.ts";
import type { Dict, ParameterProblem, Value } from "../../../action/action.ts";
import { checkOpenapi } from "../contract_parameter.ts";
import { checkAuth } from "../auth/auth_parameter.ts";
import { checkCookies } from "../session/cookie_use.ts";
import { checkBodies } from "./bodies/check_bodies.ts";
import { mediaType } from "../response/content_type.ts";
import { isToken, methodKeys, methodProblem, SHORTHANDS } from "./http_syntax.ts";
import { isFullUrl, joinUrl, readUrl } from "./request_url.ts";

/** Problems of the parameters of an http step beyond their types. */
export function checkHttp(params: Dict): ParameterProblem[] {
  return [
    ...checkMethod(params),
    ...checkUrl(params),
    ...checkConnection(params),
    ...checkRedirects(params),
    ...checkHeaders(params),
    ...checkCookies(params),
    ...checkBodies(params),
    ...checkAuth(params),
    ...checkDownload(params),
    ...checkOpenapi(params),
  ];
}

function checkMethod(params: Dict): ParameterProblem[] {
  const [key, ...others] = methodKeys(params);
  if (key === undefined) {
    const hint = 'give it one, like "get: /path" or "method: GET"';
    return [{ path: [], message: "http step has no method", hint }];
  }
  const problems: ParameterProblem[] = others.map((other) => ({
    path: [other],
    at: "key",
    message: `http step has two methods, "${key}" and "${other}"`,
    hint: "keep one of them",
  }));
  const { method } = params;
  if (typeof method === "string" && !isTemplate(method)) {
    const message = methodProblem(method);
    if (message !== undefined) problems.push({ path: ["method"], message });
  }
  return problems;
}

/** The beginning of a URL without a scheme: `localhost`, `api:8080`, `127.0.0.1`, `www.a.com`. */
const HOST =
  /^\s*(?:https?:|\/\/|www\.|(?:localhost|[\w.-]+:\d+|\d+(?:\.\d+){3}|(?:[\w-]+\.){2,}[a-z]{2,})(?:[/?]|$))/i;

/** Checks the URL as far as it is known before the run. */
function checkUrl(params: Dict): ParameterProblem[] {
  const [key, ...others] = methodKeys(params);
  const url = params.url ?? undefined;
  if (others.length > 0) return [];
  const target = SHORTHANDS.some((name) => name === key) ? params[key!] : undefined;
  if (isTemplate(url) || isTemplate(target)) return [];
  if (url === undefined) {
    if (key === "method") return [{ path: [], message: "http step has no url" }];
    if (typeof target !== "string" || isFullUrl(target)) return checkText(key!, target);
    const message = `"${key}" is the path "${target}", and there is no "url" to append it to`;
    const hint = target.includes("${")
      ? "a value is put in by {{vars.name}}"
      : HOST.test(target)
      ? 'begin it with "http://" or "https://"'
      : 'give a full URL, or "url" in the defaults';
    return [{ path: [key!], message, hint }];
  }
  if (typeof url !== "string" || typeof target !== "string") return checkText("url", url);
  const path = isFullUrl(target) ? key! : "url";
  return checkText(path, joinUrl(url, target));
}

function checkText(key: string, text: Value | undefined): ParameterProblem[] {
  if (typeof text !== "string") return [];
  const problem = readUrl(text);
  return problem instanceof URL ? [] : [{ path: [key], ...problem }];
}

/** The problem of the limit of redirects. */
export function checkRedirects({ max_redirects: max }: Dict): ParameterProblem[] {
  if (typeof max !== "number" || max >= 0) return [];
  return [{ path: ["max_redirects"], message: '"max_redirects" must not be negative' }];
}

function checkDownload({ save, max_body: maxBody = null }: Dict): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (save === "") problems.push({ path: ["save"], message: '"save" must not be empty' });
  if (maxBody === null || typeof maxBody === "object" || isTemplate(maxBody)) return problems;
  if (parseSize(String(maxBody)) === undefined) {
    problems.push({ path: ["max_body"], message: maxBodyProblem(String(maxBody)) });
  }
  return problems;
}

/** Problems of the headers of a step. */
export function checkHeaders(params: Dict): ParameterProblem[] {
  const headers = params.headers;
  if (!isDict(headers)) return [];
  const problems: ParameterProblem[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const path = ["headers", name];
    if (!isToken(name)) {
      problems.push({ path, at: "key", message: `invalid header name "${name}"` });
    } else if ([value].flat().some((item) => typeof item === "object" && item !== null)) {
      const what = isDict(value) ? "text, not a map" : "text or a list of texts";
      problems.push({ path, message: `the header "${name}" must be ${what}` });
    }
  }
  return problems;
}

/** Whether the body of the step is sent as a form, as far as it is known before the run. */
export function hasForm({ headers }: Dict): boolean {
  if (!isDict(headers)) return false;
  return Object.entries(headers).some(([name, value]) =>
    name.toLowerCase() === "content-type" && typeof value === "string" &&
    mediaType(value) === "application/x-www-form-urlencoded"
  );
}
