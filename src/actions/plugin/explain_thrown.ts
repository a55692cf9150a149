import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";

/** An error of a plugin's code, in one line with its place, and without a stack. */
export function explainThrown(thrown: unknown, path: string): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // deno-lint-ignore no-control-regex
  const plain = thrown.message.replace(/\x1b\[[\d;]*m/g, "");
  const message = plain.split("\n")[0]!.replace(/file:\/\/[^\s"']+?(?=:\d+|["'\s]|$)/g, pathOf);
  const text = message === "" ? thrown.name : message;
  if (/:\d+:\d+/.test(text)) return text;
  const url = toFileUrl(path).href;
  const frame = thrown.stack?.split("\n").find((line) => line.includes(`${url}:`));
  const place = frame && /:(\d+:\d+)\)?$/.exec(frame.trim())?.[1];
  return place === undefined ? text : `${text} (${path}:${place})`;
}

function pathOf(url: string): string {
  try {
    return fromFileUrl(url);
  } catch {
    return url;
  }
}
