import { StepError } from "../../../base/errors.ts";
import { cookieSecrets } from "../../../secrets/secrets.ts";
import type { ActionContext } from "../../../action/action.ts";
import { readStepText } from "../../../action/step_file.ts";
import type { Jar } from "./cookie_jar.ts";

/** Puts the cookies of a Netscape cookie file into a jar, once. */
export async function readCookieFile(
  path: string,
  jar: Jar,
  context: ActionContext,
): Promise<void> {
  if (jar.files.has(path)) return;
  const file = { path, what: "the cookie file", parameter: "cookie_file" };
  const text = await readStepText(file, context);
  jar.files.add(path);
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const cookie = parseLine(line);
    if (cookie === "none") continue;
    if (cookie === "malformed") {
      throw new StepError(
        `cannot read the cookie file "${path}": line ${index + 1} is not a cookie`,
        "each line has 7 fields, separated by tabs: " +
          "domain, subdomains, path, secure, expiry, name, value",
        { parameter: "cookie_file" },
      );
    }
    for (const secret of cookieSecrets(cookie.header)) context.secrets.add(secret);
    const rejected = jar.keep(cookie.header, cookie.url);
    if (rejected !== undefined) {
      context.warn(`line ${index + 1} of the cookie file "${path}" is not used: ${rejected}`);
    }
  }
}

/** The prefix of a cookie that scripts of a page cannot read. */
const HTTP_ONLY = "#HttpOnly_";

/** A line as the header `Set-Cookie` that a server would have sent, and its URL. */
function parseLine(line: string): { header: string; url: URL } | "none" | "malformed" {
  const isHttpOnly = line.startsWith(HTTP_ONLY);
  const content = isHttpOnly ? line.slice(HTTP_ONLY.length) : line;
  if (content.trim() === "" || content.startsWith("#")) return "none";
  const [domain = "", subdomains, path = "/", secure, expiry, name, value = ""] = content.split(
    "\t",
  );
  const host = domain.replace(/^\./, "");
  const isSecure = secure?.toUpperCase() === "TRUE";
  const url = URL.parse(`${isSecure ? "https" : "http"}://${host}${path}`);
  const expires = Number(expiry);
  if (name === undefined || !Number.isFinite(expires) || !url || host === "") return "malformed";
  const header = [
    `${name}=${value}`,
    `Path=${path}`,
    ...subdomains?.toUpperCase() === "TRUE" ? [`Domain=${host}`] : [],
    ...expires > 0 ? [`Expires=${new Date(expires * 1000).toUTCString()}`] : [],
    ...isSecure ? ["Secure"] : [],
    ...isHttpOnly ? ["HttpOnly"] : [],
  ].join("; ");
  return { header, url };
}
