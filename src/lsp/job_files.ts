import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import { fieldOf, pairsOf, spotAt } from "./loose_yaml.ts";
import {
  eachScalar,
  findMention,
  isSame,
  makeOutline,
  type Mention,
  mentionsOf,
  type Outline,
  readingsIn,
  type StepInText,
  textRange,
} from "./outline.ts";
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

/** Limits for the search for files that embed a job file. */
const MAX_FILES = 1000;
const MAX_BYTES = 1_000_000;

/** A file that is not open in the editor; undefined if it cannot be read. */
export async function readOutline(path: string, host: Host): Promise<Outline | undefined> {
  const bytes = await host.files.read(path).catch(() => undefined);
  return bytes && bytes.length <= MAX_BYTES
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
  for (const path of paths.slice(0, MAX_FILES)) {
    const outline = await readOutline(path, host);
    if (outline?.steps.some(({ uses }) => uses === "embedded")) files.push({ path, outline });
  }
  return { files, isComplete: paths.length <= MAX_FILES };
}

/** A name with the file that defines it. */
interface FoundName {
  readonly file: WorkspaceFile;
  readonly mention: Mention;
  /** Where it is in the file that was looked at. */
  readonly here: Mention;
}

/** Where a file defines or uses a name. */
export interface NameLocation {
  readonly file: WorkspaceFile;
  readonly mention: Mention;
}

/** Gives a file by its path; undefined if it cannot be read. */
export type LoadFile = (path: string) => Promise<WorkspaceFile | undefined>;

/** The name at an offset: one of the file itself, or one of a job file that a step there embeds. */
export async function nameAt(
  file: WorkspaceFile,
  offset: number,
  load: LoadFile,
): Promise<FoundName | undefined> {
  for (const step of file.outline.steps) {
    if (offset < step.node.start || step.node.end < offset) continue;
    const path = jobFileOf(step, file.path)?.path;
    const jobFile = path === undefined ? undefined : await load(path);
    const here = jobFile && namesOfJobFile(file, jobFile)
      .findLast(({ start, end }) => start <= offset && offset <= end);
    if (here) return { file: jobFile, mention: here, here };
  }
  const mention = findMention(file.outline, offset);
  return mention && { file, mention, here: mention };
}

/** Where a name is defined and used: in the file that defines it and, of a job file, in those that embed it. */
export function locationsOf(
  { file, mention }: FoundName,
  others: readonly WorkspaceFile[],
): readonly NameLocation[] {
  return [
    ...mentionsOf(file.outline, mention).map((one) => ({ file, mention: one })),
    ...others.flatMap((other) =>
      namesOfJobFile(other, file).filter((one) => isSame(file.outline, one, mention))
        .map((one) => ({ file: other, mention: one }))
    ),
  ];
}

/** Whether other files can use a name. */
export function isShared({ file: { outline }, mention }: FoundName): boolean {
  return outline.kind === "job file" && mention.kind !== "job";
}

/** Where a file reads the outputs of a job file, and gives it vars. */
function namesOfJobFile(file: WorkspaceFile, jobFile: WorkspaceFile): readonly Mention[] {
  const ids = new Set(jobFile.outline.steps.flatMap(({ id }) => id?.text ?? []));
  const found: Mention[] = [];
  for (const step of file.outline.steps) {
    if (jobFileOf(step, file.path)?.path !== jobFile.path) continue;
    for (const { key } of pairsOf(fieldOf(fieldOf(step.node, "with"), "vars"))) {
      found.push({ kind: "var", name: key.text, ...textRange(key), isDefinition: true });
    }
    eachScalar(step.node, (scalar, path) => {
      for (const { root, keys: [outputs, first, second] } of readingsIn(scalar, path)) {
        if (root !== "res" || outputs?.name !== "outputs" || !first) continue;
        const isDefinition = false;
        if (!ids.has(first.name)) found.push({ kind: "output", ...first, isDefinition });
        else {
          found.push({ kind: "step", ...first, isDefinition });
          if (second) found.push({ kind: "output", ...second, step: first.name, isDefinition });
        }
      }
    });
  }
  return found;
}
