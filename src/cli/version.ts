import type { Files } from "../host/host.ts";
import { BUILT_FROM } from "./built_from.ts";

/** The version of the program; deno.json says the same. */
export const VERSION = "0.1.0";

/** `Runner Version 1.2.3 (commit: abc1234)`. */
export async function versionLine(files: Files): Promise<string> {
  const commit = BUILT_FROM ?? await checkedOutCommit(files) ?? "unknown";
  return `Runner Version ${VERSION} (commit: ${commit.slice(0, 7)})`;
}

/** The commit of the git checkout that contains this file; undefined if none does. */
async function checkedOutCommit(files: Files): Promise<string | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  const read = async (path: URL) => {
    try {
      return new TextDecoder().decode(await files.read(path)).trim();
    } catch {
      return undefined;
    }
  };
  const root = new URL("../../", import.meta.url);
  // In a second work tree `.git` is a file that names the directory.
  const elsewhere = /^gitdir: (.*)$/.exec(await read(new URL(".git", root)) ?? "")?.[1];
  const git = new URL(`${encodeURI(elsewhere ?? ".git")}/`, root);
  const head = await read(new URL("HEAD", git));
  const ref = head === undefined ? undefined : /^ref: (.*)$/.exec(head)?.[1];
  if (ref === undefined) return head;
  const shared = new URL(`${encodeURI(await read(new URL("commondir", git)) ?? ".")}/`, git);
  const packed = async () =>
    (await read(new URL("packed-refs", shared)))?.split("\n")
      .find((line) => line.endsWith(` ${ref}`))?.split(" ")[0];
  return await read(new URL(encodeURI(ref), shared)) ?? await packed();
}
