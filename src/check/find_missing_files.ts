import { knownText } from "../expr/parse_expression.ts";
import type { Host } from "../host/host.ts";
import type { Path } from "../base/source.ts";
import { type Dict, isDict, listIn, type Value, valueAt } from "../base/value/value.ts";
import { besideDocument } from "../workflow/job_files/job_path.ts";
import type { Document } from "../workflow/model.ts";
import type { CheckedStep, MissingFile } from "./model.ts";

/** A file, and the text that gives its name. */
interface NamedFile extends MissingFile {
  readonly written: string;
}

/**
 * The files that steps send or read and that do not exist, where their names are known before a
 * run. One whose name another text of the document contains may be created by that step, and so
 * may one whose var another text reads.
 */
export async function findMissingFiles(
  document: Document,
  steps: readonly CheckedStep[],
  vars: Dict,
  { files }: Host,
): Promise<readonly MissingFile[]> {
  const named = [
    ...filesInDefaults(document.value),
    ...steps.flatMap(({ draft, raw, job }) => {
      const given = raw.vars === undefined && job.draft.load?.data === undefined ? vars : {};
      const rows = [["iteration", "file"]];
      return [
        ...namedAt(raw, rows, draft.path, given),
        ...filesOf(
          draft.action?.name,
          raw.with,
          [...draft.path, "with"],
          raw.iteration === undefined ? given : {},
        ),
      ];
    }),
    ...listIn(document.value, "jobs").flatMap((job, at) =>
      namedAt(job, [["load", "data"], ["load", "data", "file"]], ["jobs", at], vars)
    ),
  ];
  if (named.length === 0) return [];
  const texts = JSON.stringify(document.value);
  const ofSteps = JSON.stringify({ ...document.value as Dict, vars: undefined });
  const isElsewhere = (word: string, among: string) => {
    const whole = (text: string) =>
      text.split(word).filter((rest, at) => at > 0 && !/^\w/.test(rest));
    const isNamed = ({ written }: NamedFile) => whole(written).length > 0;
    return whole(among).length > named.filter(isNamed).length;
  };
  const missing: MissingFile[] = [];
  for (const { path, name, written } of named) {
    const base = name.split(/[\\/]/).at(-1)!;
    const read = written.match(/\bvars\.\w+/g) ?? [];
    const mayCome = isElsewhere(base, written.includes(base) ? texts : ofSteps) ||
      read.some((word) => isElsewhere(word, texts));
    if (name.startsWith("/dev/") || mayCome) continue;
    const paths = [besideDocument(document, path, name), name];
    const exists = (path: string) => files.isFile(path).catch(() => true);
    if (!(await Promise.all(paths.map(exists))).includes(true)) missing.push({ path, name });
  }
  return missing;
}

/** The same in the defaults of jobs, or of a job file. */
function filesInDefaults(root: unknown): NamedFile[] {
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

/** The names of files in the parameters of an action, as far as these vars give them. */
function filesOf(
  action: string | undefined,
  params: unknown,
  path: Path,
  vars: Dict = {},
): NamedFile[] {
  if (!isDict(params)) return [];
  const paths: Path[] = [];
  if (action === "http") {
    paths.push(["file"], ["graphql", "file"]);
    // One with a constant name is read and reported as a mistake of the workflow.
    for (const path of [["openapi"], ["openapi", "file"]]) {
      if (String(valueAt(params, path)).includes("{{")) paths.push(path);
    }
    for (const [name, part] of Object.entries(isDict(params.multipart) ? params.multipart : {})) {
      const parts = Array.isArray(part) ? part.map((_, at) => [at]) : [[]];
      for (const at of parts) paths.push(["multipart", name, ...at, "file"]);
    }
  } else if (action === "grpc") {
    const { proto } = params;
    paths.push(...Array.isArray(proto) ? proto.map((_, at) => ["proto", at]) : [["proto"]]);
    paths.push(["descriptor_set"]);
  }
  return namedAt(params, paths, path, vars);
}

/** The names of files at these paths of a value, as far as these vars give them. */
function namedAt(value: unknown, paths: readonly Path[], path: Path, vars: Dict): NamedFile[] {
  return paths.flatMap((inner) => {
    const written = valueAt(value, inner);
    if (typeof written !== "string") return [];
    const isKnown = (written.match(/\bvars\b(\.\w+)?/g) ?? [])
      .every((read) => Object.hasOwn(vars, read.slice("vars.".length)));
    const name = isKnown ? knownText(written, { vars: vars as Value }) : undefined;
    return name ? [{ path: [...path, ...inner], name, written }] : [];
  });
}
