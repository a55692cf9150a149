import { isTemplate } from "../../expr/template/template_data.ts";
import type { Host } from "../../host/host.ts";
import type { Path } from "../../base/source.ts";
import { isDict, valueAt } from "../../base/value/value.ts";
import { besideDocument } from "../../workflow/job_files/job_path.ts";
import type { Document } from "../../workflow/model.ts";
import type { Check, CheckedStep, MissingFile } from "../model.ts";

/** Files that a step sends or reads and that do not exist. */
export const missingFile: Check = {
  codes: [
    {
      code: "missing-file",
      severity: "warning",
      summary:
        "A step sends or reads a file that does not exist, and no other step mentions its name.",
    },
  ],
  *find({ missingFiles }) {
    for (const { path, name } of missingFiles) {
      yield {
        severity: "warning",
        code: "missing-file",
        path,
        message: `the file "${name}" does not exist`,
        hint: "the path is relative to the file that names it",
      };
    }
  },
};

/**
 * The files that steps send or read and that do not exist, where their names are constant. One
 * whose name another text of the document contains may be created by that step.
 */
export async function findMissingFiles(
  document: Document,
  steps: readonly CheckedStep[],
  { files }: Host,
): Promise<readonly MissingFile[]> {
  const named = [
    ...filesInDefaults(document.value),
    ...steps.flatMap(({ draft, raw }) =>
      filesOf(draft.action?.name, raw.with, [...draft.path, "with"])
    ),
  ];
  if (named.length === 0) return [];
  const texts = JSON.stringify(document.value);
  const missing: MissingFile[] = [];
  for (const { path, name } of named) {
    const base = name.split(/[\\/]/).at(-1)!;
    const sent = named.filter((other) => other.name.endsWith(base)).length;
    if (name.startsWith("/dev/") || texts.split(base).length - 1 > sent) continue;
    const paths = [besideDocument(document, path, name), name];
    const exists = (path: string) => files.isFile(path).catch(() => true);
    if (!(await Promise.all(paths.map(exists))).includes(true)) missing.push({ path, name });
  }
  return missing;
}

/** The same in the defaults of jobs, or of a job file. */
function filesInDefaults(root: unknown): MissingFile[] {
  const jobs = valueAt(root, ["jobs"]);
  const owners: Path[] = [[], ...(Array.isArray(jobs) ? jobs : []).map((_, at) => ["jobs", at])];
  return owners.flatMap((owner) => {
    const path = [...owner, "defaults"];
    const defaults = valueAt(root, path);
    return Object.entries(isDict(defaults) ? defaults : {}).flatMap(([action, params]) =>
      filesOf(action, params, [...path, action])
    );
  });
}

/** The constant names of files in the parameters of an action. */
function filesOf(action: string | undefined, params: unknown, path: Path): MissingFile[] {
  if (!isDict(params)) return [];
  const paths: Path[] = [];
  if (action === "http") {
    paths.push(["file"], ["graphql", "file"]);
    for (const [name, part] of Object.entries(isDict(params.multipart) ? params.multipart : {})) {
      const parts = Array.isArray(part) ? part.map((_, at) => [at]) : [[]];
      for (const at of parts) paths.push(["multipart", name, ...at, "file"]);
    }
  } else if (action === "grpc") {
    const { proto } = params;
    paths.push(...Array.isArray(proto) ? proto.map((_, at) => ["proto", at]) : [["proto"]]);
    paths.push(["descriptor_set"]);
  }
  return paths.flatMap((inner) => {
    const name = valueAt(params, inner);
    const isFile = typeof name === "string" && name !== "" && !isTemplate(name);
    return isFile ? [{ path: [...path, ...inner], name }] : [];
  });
}
