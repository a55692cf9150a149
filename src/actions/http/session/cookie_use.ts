import { isTemplate } from "../../../expr/template/template_data.ts";
import type { Dict, ParameterProblem } from "../../../action/action.ts";

/** The cookies that a step sends and keeps. */
export interface CookieUse {
  /** The jar that all jobs with this name share; undefined for the jar of the job. */
  readonly jar: string | undefined;
  /** Whether it sends cookies of the jar: a step may give the header itself. */
  readonly isSent: boolean;
  /** A Netscape cookie file to put into the jar. */
  readonly file: string | undefined;
}

/** Reads which cookies a step uses; undefined if none. */
export function readCookieUse(
  cookies: boolean | string | undefined,
  file: string | undefined,
  headers: Dict,
): CookieUse | undefined {
  if (cookies === false) return undefined;
  return {
    jar: typeof cookies === "string" ? cookies : undefined,
    isSent: !Object.keys(headers).some((name) => name.toLowerCase() === "cookie"),
    file,
  };
}

/** Problems of the cookies of a step. */
export function checkCookies({ cookies, cookie_file: file }: Dict): ParameterProblem[] {
  if (typeof cookies === "string" && !isTemplate(cookies) && cookies.trim() === "") {
    const message = '"cookies" must be true, false or the name of a session, not an empty text';
    return [{ path: ["cookies"], message }];
  }
  if (cookies !== false && cookies !== "false" || file === undefined || file === null) return [];
  const message = '"cookie_file" needs cookies, and "cookies" switches them off';
  return [{ path: ["cookie_file"], at: "key", message, hint: "remove one of them" }];
}
