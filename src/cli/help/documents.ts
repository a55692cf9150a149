import { fromFileUrl } from "@std/path/from-file-url";
import { RunnerError } from "../../base/errors.ts";
import type { Files } from "../../host/host.ts";
import { filesBelow } from "../../host/walk_directories.ts";

/** Pages of the documents as Markdown, by their paths below docs/. */
export type Documents = Readonly<Record<string, string>>;

/**
 * The pages that `runner help` prints, from docs/ of the checkout. A build puts a file in the place
 * of this one, by which binaries contain the pages and the one file loads them when they are first
 * needed. Throws RunnerError.
 */
export async function loadDocuments(files: Files): Promise<Documents> {
  const { href } = new URL("../../../docs/", import.meta.url);
  if (!href.startsWith("file:")) throw missing(href);
  const root = fromFileUrl(href);
  const isPage = (name: string) => name.endsWith(".md");
  const paths = await filesBelow(root, files, isPage).catch(() => []);
  const read = async (path: string) =>
    [path.slice(root.length), new TextDecoder().decode(await files.read(path))] as const;
  const pages = await Promise.all(paths.map(read)).catch(() => []);
  if (pages.length === 0) throw missing(root);
  return Object.fromEntries(pages);
}

function missing(root: string): RunnerError {
  return new RunnerError(
    `the pages of the documents are not in ${root}`,
    "the binary of a release has them, and a checkout",
  );
}
