import type { Files } from "../host/host.ts";
import { BUILT_FROM } from "./built_from.ts";

/** The version of the program; deno.json says the same. */
export const VERSION = "0.1.0";

/** `Runner Version 1.2.3 (commit: abc1234)`. */
export async function versionLine(files: Files): Promise<string> {
  const commit = BUILT_FROM ?? await checkedOutCommit(files) ?? "unknown";
  return `Runner Version ${VERSION} (commit: ${commit.slice(0, 7)})`;
}

/** The commit of the git checkout that contains this file; undefined if there is none. */
async function checkedOutCommit(files: Files): Promise<string | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  const checkout = new URL("../../", import.meta.url);
  const read = async (url: URL) => new TextDecoder().decode(await files.read(url)).trim();
  try {
    // In a linked work tree .git is a file that names a directory, where commondir names another.
    const link = await read(new URL(".git", checkout)).catch(() => "gitdir: .git");
    const directory = new URL(`${link.replace("gitdir: ", "")}/`, checkout);
    const head = await read(new URL("HEAD", directory));
    const ref = /^ref: (.*)$/.exec(head)?.[1];
    if (ref === undefined) return head;
    const common = await read(new URL("commondir", directory)).catch(() => ".");
    const shared = new URL(`${common}/`, directory);
    return await read(new URL(encodeURI(ref), shared)).catch(async () => {
      const packed = await read(new URL("packed-refs", shared));
      return packed.split("\n").find((line) => line.endsWith(` ${ref}`));
    });
  } catch {
    return undefined;
  }
}
