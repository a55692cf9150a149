import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import { spotAt } from "./loose_yaml.ts";
import { makeOutline, type Outline, textRange } from "./outline.ts";
import { type LineIndex, makeLineIndex } from "./positions.ts";

/** Whether a path is one from the root of a file system. */
export function isAbsolute(path: string | URL): boolean {
  return path instanceof URL || /^(?:[\\/]|[a-z]:)/i.test(path);
}

/** The job files that the steps of a file embed, and where they are named. */
export function jobFilesIn(outline: Outline, from: string) {
  return outline.steps.flatMap(({ uses, node }) => {
    if (uses !== "embedded" || node.kind !== "map") return [];
    const params = node.pairs.find(({ key }) => key.text === "with")?.value;
    const named = params?.kind === "map"
      ? params.pairs.find(({ key }) => key.text === "path")?.value
      : undefined;
    if (named?.kind !== "scalar" || named.text.includes("{{")) return [];
    const path = isAbsolute(named.text) ? join(named.text) : join(from, "..", named.text);
    return [{ path, range: textRange(named) }];
  });
}

/** The job file that is named at an offset. */
export function jobFileAt(outline: Outline, offset: number, from: string): string | undefined {
  const scalar = spotAt(outline.root, offset)?.scalar;
  return scalar && jobFilesIn(outline, from)
    .find(({ range }) => range.start >= scalar.start && range.end <= scalar.end)?.path;
}

/** So many files, each of so many bytes, are read to find what embeds a job file. */
const MOST_FILES = 200;
const MOST_BYTES = 1_000_000;

/** The places in the files of a directory that name a job file, but for those that are open. */
export async function referencesOnDisk(
  target: string,
  directory: string,
  open: ReadonlySet<string>,
  host: Host,
): Promise<readonly { readonly path: string; readonly range: ReturnType<LineIndex["rangeOf"]> }[]> {
  const paths = (await host.files.entries(directory))
    .filter(({ name, kind }) => kind === "file" && /\.ya?ml$/i.test(name))
    .map(({ name }) => join(directory, name)).filter((path) => !open.has(path));
  const found = [];
  for (const path of paths.slice(0, MOST_FILES)) {
    const bytes = await host.files.read(path).catch(() => undefined);
    if (!bytes || bytes.length > MOST_BYTES) continue;
    const text = new TextDecoder().decode(bytes);
    if (!text.includes("embedded")) continue;
    const lines = makeLineIndex(text);
    for (const one of jobFilesIn(makeOutline(text), path)) {
      if (one.path === target) found.push({ path, range: lines.rangeOf(one.range) });
    }
  }
  return found;
}
