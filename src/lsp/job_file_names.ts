import type { Completions } from "./complete.ts";
import { jobFileOf, type WorkspaceFile } from "./embedded_files.ts";
import { fieldOf, pairsOf } from "./loose_yaml.ts";
import { findMention, isSame, mentionsOf } from "./navigate.ts";
import { eachScalar, type Mention, outputNames, readingsIn, textRange } from "./outline.ts";

/** A name with the file that defines it. */
export interface FoundName {
  readonly file: WorkspaceFile;
  readonly mention: Mention;
  /** Where it is in the file that was looked at. */
  readonly here: Mention;
}

/** A place of a name. */
export interface NamePlace {
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

/** All places of a name, in the file that defines it and, of a job file, in those that embed it. */
export function placesOf(
  { file, mention }: FoundName,
  others: readonly WorkspaceFile[],
): readonly NamePlace[] {
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

/** The outputs of a job file that may be written at an offset: `res.outputs.`. */
export async function outputCompletionsAt(
  file: WorkspaceFile,
  offset: number,
  load: LoadFile,
): Promise<Completions | undefined> {
  const { text, steps } = file.outline;
  const [, id, word] = /\bres\??\.outputs\??\.(?:([A-Za-z_]\w*)\??\.)?(\w*)$/
    .exec(text.slice(Math.max(0, offset - 200), offset)) ?? [];
  if (word === undefined) return undefined;
  const step = steps.find(({ node }) => node.start <= offset && offset <= node.end);
  const path = step && jobFileOf(step, file.path)?.path;
  const jobFile = path === undefined ? undefined : await load(path);
  if (!jobFile) return undefined;
  const published = jobFile.outline.steps.filter(({ id, outputs }) => id && outputs.length > 0);
  const labels = id === undefined
    ? published.flatMap(({ id, outputs }) => [id!.text, ...outputs.map(({ key }) => key.text)])
    : published.filter((one) => one.id!.text === id).flatMap(outputNames);
  const items = [...new Set(labels)].filter((label) => /^[A-Za-z_]\w*$/.test(label))
    .map((label) => ({ label, kind: "output", insert: label } as const));
  return { items, start: offset - word.length, end: offset };
}
