import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import { fieldOf, spotAt } from "./loose_yaml.ts";
import { makeOutline, type Outline, type StepInText, textRange } from "./outline.ts";
import { yamlFilesIn } from "../suite/find_workflows.ts";

/** A file of the workspace, which may have been changed in the editor. */
export interface WorkspaceFile {
  readonly path: string;
  readonly outline: Outline;
}

/** Whether a path is one from the root of a file system. */
export function isAbsolute(path: string | URL): boolean {
  return path instanceof URL || /^(?:[\\/]|[a-z]:)/i.test(path);
}

/** The job file that a step embeds, and where it is named. */
export function jobFileOf({ uses, node }: StepInText, from: string) {
  if (uses !== "embedded") return undefined;
  const named = fieldOf(fieldOf(node, "with"), "path");
  if (named?.kind !== "scalar" || named.text.includes("{{")) return undefined;
  const path = isAbsolute(named.text) ? join(named.text) : join(from, "..", named.text);
  return { path, range: textRange(named) };
}

/** The job files that the steps of a file embed, and where they are named. */
export function jobFilesIn(outline: Outline, from: string) {
  return outline.steps.flatMap((step) => jobFileOf(step, from) ?? []);
}

/** The job file that is named at an offset. */
export function jobFileAt(outline: Outline, offset: number, from: string): string | undefined {
  const scalar = spotAt(outline.root, offset)?.scalar;
  return scalar && jobFilesIn(outline, from)
    .find(({ range }) => range.start >= scalar.start && range.end <= scalar.end)?.path;
}

/** So many files, each of so many bytes, are read to find what embeds a job file. */
const MOST_FILES = 1000;
const MOST_BYTES = 1_000_000;

/** A file that is not open in the editor; undefined if it cannot be read. */
export async function readOutline(path: string, host: Host): Promise<Outline | undefined> {
  const bytes = await host.files.read(path).catch(() => undefined);
  return bytes && bytes.length <= MOST_BYTES
    ? makeOutline(new TextDecoder().decode(bytes))
    : undefined;
}

/** The files below directories that embed job files, but for those that are open. */
export async function embeddingFiles(
  directories: readonly string[],
  open: ReadonlySet<string>,
  host: Host,
): Promise<{ readonly files: readonly WorkspaceFile[]; readonly isComplete: boolean }> {
  const lists = await Promise.all(
    directories.map((one) => yamlFilesIn(one, host.files).catch(() => [])),
  );
  const paths = [...new Set(lists.flat().map((path) => join(path)))].filter((path) =>
    !open.has(path)
  );
  const files: WorkspaceFile[] = [];
  for (const path of paths.slice(0, MOST_FILES)) {
    const outline = await readOutline(path, host);
    if (outline?.steps.some(({ uses }) => uses === "embedded")) files.push({ path, outline });
  }
  return { files, isComplete: paths.length <= MOST_FILES };
}
