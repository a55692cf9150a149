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
  const read = async (path: string) =>
    new TextDecoder().decode(await files.read(new URL(`../../.git/${path}`, import.meta.url)));
  try {
    const head = (await read("HEAD")).trim();
    const ref = /^ref: (.*)$/.exec(head)?.[1];
    return ref === undefined ? head : (await read(encodeURI(ref))).trim();
  } catch {
    // Another program may have packed the references, or it is not a checkout.
    return undefined;
  }
}
