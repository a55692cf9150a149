import { isTemplate } from "../../expr/template/template_data.ts";
import type { Host } from "../../host/host.ts";
import type { Path } from "../../base/source.ts";
import { isRawMap } from "../../workflow/decode/decode_value.ts";
import { besideDocument } from "../../workflow/job_files/job_path.ts";
import type { Document } from "../../workflow/model.ts";
import type { CheckedStep, MissingFile } from "./check_model.ts";

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
    const places = [await besideDocument(document, path, name), name];
    const isThere = (place: string) => files.isFile(place).catch(() => true);
    if (!(await Promise.all(places.map(isThere))).includes(true)) missing.push({ path, name });
  }
  return missing;
}

/** The same in the defaults of jobs, or of a job file. */
function filesInDefaults(root: unknown): MissingFile[] {
  const { jobs } = isRawMap(root) ? root : {} as { readonly jobs?: unknown };
  const owners: readonly (readonly [Path, unknown])[] = [
    [[], root],
    ...(Array.isArray(jobs) ? jobs : []).map((job, index) => [["jobs", index], job] as const),
  ];
  return owners.flatMap(([path, owner]) => {
    const defaults = isRawMap(owner) && isRawMap(owner.defaults) ? owner.defaults : {};
    return Object.entries(defaults).flatMap(([action, params]) =>
      filesOf(action, params, [...path, "defaults", action])
    );
  });
}

/** The constant names of files in the parameters of an action. */
function filesOf(action: string | undefined, params: unknown, path: Path): MissingFile[] {
  if (!isRawMap(params)) return [];
  if (action === "http") return sentFiles(params, path);
  if (action !== "grpc") return [];
  const protos = [params.proto].flat();
  return [
    ...protos.flatMap((proto, index) =>
      named(proto, Array.isArray(params.proto) ? [...path, "proto", index] : [...path, "proto"])
    ),
    ...named(params.descriptor_set, [...path, "descriptor_set"]),
  ];
}

function sentFiles(params: Readonly<Record<string, unknown>>, path: Path): MissingFile[] {
  const { file, graphql, multipart } = params;
  const parts = isRawMap(multipart) ? Object.entries(multipart) : [];
  return [
    ...named(file, [...path, "file"]),
    ...isRawMap(graphql) ? named(graphql.file, [...path, "graphql", "file"]) : [],
    ...parts.flatMap(([name, part]) => {
      const place = [...path, "multipart", name];
      return Array.isArray(part)
        ? part.flatMap((one, index) =>
          isRawMap(one) ? named(one.file, [...place, index, "file"]) : []
        )
        : isRawMap(part)
        ? named(part.file, [...place, "file"])
        : [];
    }),
  ];
}

function named(name: unknown, path: Path): MissingFile[] {
  return typeof name !== "string" || name === "" || isTemplate(name) ? [] : [{ path, name }];
}
