import { isDict } from "../../value/value.ts";
import type { Dict } from "../action.ts";

/** What curl sends by itself, or finds out. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "Host",
  "User-Agent",
  "Accept-Encoding",
  "Content-Length",
  "Connection",
]);
/** Nobody wants to paste more. */
const LONGEST_BODY = 8192;

/** The words of a command line that sends a request once more. */
export function curlWords({ method, url, headers, body }: Dict): string[][] {
  const words = [["curl", ...methodWords(String(method), body), String(url)]];
  for (const [name, value] of Object.entries(isDict(headers) ? headers : {})) {
    if (LEFT_OUT.has(name) || name === "Accept" && value === "*/*") continue;
    words.push(["-H", `${name}: ${value}`]);
  }
  if (typeof body !== "string" || body === "") return words;
  if (body.length > LONGEST_BODY) words.push(["--data-binary", "@body"]);
  else words.push(["--data-raw", body]);
  return words;
}

function methodWords(method: string, body: unknown): string[] {
  if (method === "HEAD") return ["-I"];
  const implied = typeof body === "string" && body !== "" ? "POST" : "GET";
  return method === implied ? [] : ["-X", method];
}
