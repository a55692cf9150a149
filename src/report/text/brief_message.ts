import { type Dict, isDict, type Value } from "../../value/value.ts";

/** Headers that say nothing about why a request failed, in lower case. */
const DULL_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "user-agent",
  "accept-encoding",
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "server",
  "transfer-encoding",
  "vary",
]);

/** A request or response without what is nearly always the same; `-v` shows it all. */
export function briefMessage(message: Value): Value {
  if (!isDict(message)) return message;
  const isWhole = message.truncated === false;
  return filter(message, (name, value) => {
    if (name === "pid" || name === "background" && value === false) return false;
    return !(isWhole && /^(?:truncated|stdout_bytes|stderr_bytes)$/.test(name));
  }, briefHeaders);
}

function briefHeaders(name: string, value: Value): Value {
  if (name !== "headers" || !isDict(value)) return value;
  return filter(value, (header, text) => {
    const lower = header.toLowerCase();
    return !DULL_HEADERS.has(lower) && !(lower === "accept" && text === "*/*");
  });
}

function filter(
  map: Dict,
  isKept: (name: string, value: Value) => boolean,
  change = (_name: string, value: Value) => value,
): Dict {
  const kept = Object.entries(map).filter(([name, value]) => isKept(name, value));
  return Object.fromEntries(kept.map(([name, value]) => [name, change(name, value)]));
}
