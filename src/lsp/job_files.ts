import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import { fieldOf, spotAt } from "./loose_yaml.ts";
import {
  eachScalar,
  findMention,
  makeOutline,
  type Mention,
  mentionsOf,
  type Outline,
  readingsIn,
  type StepInText,
  textRange,
} from "./outline.ts";

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

/** The largest file that is read. */
const MAX_BYTES = 1_000_000;

/** A file that is not open in the editor; undefined if it cannot be read. */
export async function readOutline(path: string, host: Host): Promise<Outline | undefined> {
  const bytes = await host.files.read(path).catch(() => undefined);
  return bytes && bytes.length <= MAX_BYTES
    ? makeOutline(new TextDecoder().decode(bytes))
    : undefined;
}

/** Where a file defines a name. */
interface Definition {
  readonly file: WorkspaceFile;
  readonly mention: Mention;
}

/** Gives a file by its path; undefined if it cannot be read. */
export type LoadFile = (path: string) => Promise<WorkspaceFile | undefined>;

/**
 * The definition of the name at an offset: in the file itself, or in a job file that a step there
 * embeds.
 */
export async function definitionAt(
  file: WorkspaceFile,
  offset: number,
  load: LoadFile,
): Promise<Definition | undefined> {
  for (const step of file.outline.steps) {
    if (offset < step.node.start || step.node.end < offset) continue;
    const path = jobFileOf(step, file.path)?.path;
    const jobFile = path === undefined ? undefined : await load(path);
    const found = jobFile && namesOfJobFile(step, jobFile.outline)
      .findLast(({ start, end }) => start <= offset && offset <= end);
    if (found) return definitionOf(jobFile, found);
  }
  const mention = findMention(file.outline, offset);
  return mention && definitionOf(file, mention);
}

function definitionOf(file: WorkspaceFile, of: Mention): Definition | undefined {
  const mention = mentionsOf(file.outline, of).find(({ isDefinition }) => isDefinition);
  return mention && { file, mention };
}

/** Where a step reads the outputs of the job file that it embeds. */
function namesOfJobFile({ node }: StepInText, jobFile: Outline): readonly Mention[] {
  const ids = new Set(jobFile.steps.flatMap(({ id }) => id?.text ?? []));
  const found: Mention[] = [];
  eachScalar(node, (scalar, path) => {
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
  return found;
}
