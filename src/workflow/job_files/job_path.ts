import { positionsOf } from "../../base/yaml/positions.ts";
import { join } from "@std/path/join";
import type { Host } from "../../host/host.ts";
import type { Path } from "../../base/source.ts";
import type { StepDraft } from "../decode/decode_step.ts";
import type { Document } from "../model.ts";
import { isAbsolute } from "../read_files.ts";

/** The place of the path of the job file that a step embeds. */
export function jobPathOf(step: Pick<StepDraft, "path">): Path {
  return [...step.path, "with", "path"];
}

/** The path of a file that a document names: it is relative to the file that names it. */
export function besideDocument(
  document: Document,
  at: Path,
  path: string,
): string {
  if (isAbsolute(path)) return join(path);
  const file = document.files.length === 1
    ? document.name
    : positionsOf(document).locate(at).source.name;
  return join(file, "..", path);
}

/**
 * The path of a file that a document names: beside the file that names it, or from the current
 * directory if there is one only there, as some tools read paths that way.
 */
export async function findNamedFile(
  document: Document,
  at: Path,
  written: string,
  { files }: Pick<Host, "files">,
): Promise<string> {
  const path = besideDocument(document, at, written);
  if (isAbsolute(written) || join(written) === path) return path;
  const isThere = (path: string) => files.isFile(path).catch(() => false);
  return !await isThere(path) && await isThere(written) ? join(written) : path;
}

/** A hint for a file that is missing. */
export const IS_RELATIVE = "the path is relative to the file that names it";
