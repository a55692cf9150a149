import { isDict } from "../../base/value/value.ts";
import { positionsOf } from "../../base/yaml/positions.ts";
import { join } from "@std/path/join";
import type { DataTemplate, Template } from "../../expr/expression.ts";
import type { Host } from "../../host/host.ts";
import type { Path } from "../../base/source.ts";
import type { StepDraft } from "../decode/decode_step.ts";
import { WHOLE_SCOPE } from "../decode/expressions.ts";
import { referencesIn } from "../../expr/references.ts";
import type { Document } from "../model.ts";
import { varNames } from "../step_facts.ts";
import { addError, type Problem } from "../problem.ts";
import { isAbsolute } from "../read_files.ts";

/** The place of the path of the job file that a step embeds. */
export function jobPathOf(step: Pick<StepDraft, "path">): Path {
  return [...step.path, "with", "path"];
}

/** The path of the job file that a step embeds, as it is written. */
export function writtenJobPath({ with: params }: StepDraft): DataTemplate | undefined {
  if (params.kind === "map") return params.entries.find(([key]) => key === "path")?.[1];
  if (params.kind !== "constant" || !isDict(params.value)) return undefined;
  return { kind: "constant", value: params.value.path };
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

/**
 * Checks that a template gives the path of a job file before anything runs: it sees the vars of
 * the workflow alone. True where it does.
 */
export function checkJobPath(step: StepDraft, template: Template, problems: Problem[]): boolean {
  const vars = varNames(step);
  const before = problems.length;
  const nodes = template.parts.filter((part) => typeof part !== "string");
  for (const { base: { name, start, end }, keys: [key] } of nodes.flatMap(referencesIn)) {
    const isOfStep = name === "vars" && (key ? vars.has(key.name) : vars.size > 0);
    if (name === "vars" && !isOfStep) continue;
    const what = name === WHOLE_SCOPE
      ? "everything"
      : name !== "vars"
      ? `"${name}"`
      : key
      ? `"${key.name}", a var of the step`
      : "all vars of a step that has its own";
    const advice = isOfStep
      ? "write a step for each, or use a var of the workflow"
      : "write a path, or choose it by a var of the workflow";
    const message = `the path of a job file cannot depend on ${what}`;
    addError(problems, "job-path", jobPathOf(step), message, {
      range: { start, end },
      hint: `job files are loaded before the run: ${advice}`,
    });
  }
  return problems.length === before;
}
