import type { Document } from "../base/yaml/document.ts";
import { readYaml } from "../base/yaml/read_yaml.ts";
import { type Dict, isDict, mergeDicts, valueAt } from "../base/value/value.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import { decodeText } from "../base/text/decode_text.ts";
import { suggest } from "../base/text/suggest.ts";
import { LoadError, RunnerError } from "../base/errors.ts";
import type { Path, Source } from "../base/source.ts";

/** Reads the files of a comma-separated list of paths, in that order. */
export async function readFiles(argument: string, host: Host): Promise<readonly Source[]> {
  const paths = argument.split(",").map((path) => path.trim());
  if (paths.includes("")) {
    const message = paths.length === 1
      ? "cannot load a workflow: the path is empty"
      : `cannot load a workflow: "${argument}" has an empty path in it`;
    throw new LoadError(message, [], "write path,path with a path on each side of a comma");
  }
  const files: Source[] = [];
  for (const path of paths) files.push(await readTextFile(path, host));
  return files;
}

/**
 * Reads one file; `what` says what it should be. Throws LoadError if it is not text, or if the
 * permissions keep it from being read.
 */
export async function readTextFile(
  path: string,
  host: Host,
  what = "workflow file",
  permissions?: Permissions,
): Promise<Source> {
  const bytes = await readBytes(path, host, what, permissions);
  try {
    return { name: path, text: decodeText(bytes) };
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    throw new LoadError(`cannot read ${what} '${path}': ${error.message}`, [], error.hint);
  }
}

/** Reads the bytes of one file; `what` says what it should be. Throws LoadError. */
export async function readBytes(
  path: string,
  host: Host,
  what: string,
  permissions?: Permissions,
): Promise<Uint8Array> {
  if (permissions?.read) {
    const { pathDenial } = await import("../action/permissions/rules.ts");
    const refused = await pathDenial(permissions, "read", path, host);
    if (refused) {
      throw new LoadError(`cannot read ${what} '${path}': ${refused.message}`, [], refused.hint);
    }
  }
  try {
    return await host.files.read(path);
  } catch (error) {
    throw await readError(path, what, error, host);
  }
}

async function readError(path: string, what: string, error: unknown, host: Host): Promise<Error> {
  if (!(error instanceof Error)) return new Error(String(error));
  const { explainDenial } = await import("../host/explain_denial.ts");
  const denial = explainDenial(error);
  if (denial) {
    return new LoadError(`cannot read ${what} '${path}': ${denial.message}`, [], denial.hint);
  }
  switch (error.name) {
    case "NotFound":
    case "NotADirectory":
      return new LoadError(
        `${what} '${path}' not found`,
        [],
        /[*?]/.test(path)
          ? "runner itself and runner check accept patterns"
          : await explainLink(path, host) ??
            await suggestFile(path, host),
      );
    case "PermissionDenied":
      return new LoadError(`permission denied reading '${path}'`);
  }
  const names = await host.files.list(path).catch(() => undefined);
  if (!names) {
    const reason = error.message.replace(/ \(os error \d+\).*/s, "");
    return new LoadError(`cannot read ${what} '${path}': ${reason}`);
  }
  const hint = what === "env file" ? "name a file in it" : yamlFilesAmong(names);
  return new LoadError(`cannot read ${what} '${path}': it is a directory`, [], hint);
}

/** Says where a link leads that leads nowhere. */
async function explainLink(path: string, { files }: Host): Promise<string | undefined> {
  const [name = ""] = /[^/\\]*(?=[/\\]*$)/.exec(path) ?? [];
  const target = await files.realPath(path.replace(/\/+$/, "")).catch(() => name);
  return !target.endsWith(name) ? `it is a link to '${target}', which does not exist` : undefined;
}

/** A suggestion for a missing file: the one in its directory that was probably meant. */
async function suggestFile(path: string, { files }: Host): Promise<string | undefined> {
  const [directory = ""] = /^.*[\\/]/s.exec(path) ?? [];
  const [stem, kind] = partsOf(path.slice(directory.length));
  const names = await files.list(directory || ".").catch(() => undefined) ?? [];
  const alike = names.filter((name) => partsOf(name)[1] === kind);
  const byStem = new Map(alike.map((name) => [partsOf(name)[0], name]));
  const meant = byStem.get(suggest(stem, byStem.keys()) ?? "") ??
    names.find((name) => partsOf(name)[0] === stem);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

/** The name of a file without its extension, and the extension. */
function partsOf(name: string): readonly [stem: string, kind: string] {
  const [extension = ""] = /\.[^.]+$/.exec(name) ?? [];
  return [name.slice(0, name.length - extension.length), extension.replace(/^\.yaml$/, ".yml")];
}

function yamlFilesAmong(names: readonly string[]): string {
  const inside = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  if (inside.length === 0) return "it has no .yml or .yaml file";
  const some = inside.slice(0, 3).join(", ");
  return `name one of the files in it: ${some}${inside.length > 3 ? ", …" : ""}`;
}

/** Whether a path is absolute, on any system. */
export function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[a-z]:)/i.test(path);
}

/**
 * Parses files as one document with jobs, whose positions know where inherited parameters are
 * written; `what` says what the files should be. Throws LoadError.
 */
export async function parseDocument(files: readonly Source[], what?: string): Promise<Document> {
  return await readYaml(files, what, inheritedPath);
}

/**
 * Where a value under `with` of a step was written: there, or in the `defaults` of its job if
 * the step says nothing about it, or in those of the whole document. Any other path is given back
 * as it is.
 */
export function inheritedPath(root: unknown, path: Path): Path {
  // A job file is a job by itself.
  const job = path[0] === "jobs" ? path.slice(0, 2) : [];
  const [steps, step, field, ...rest] = path.slice(job.length);
  const isInStep = steps === "steps" || steps === "finally";
  if (!isInStep || field !== "with" || rest.length === 0) return path;
  const containingStep = valueAt(root, [...job, steps, step!]);
  const uses = valueAt(containingStep, ["uses"]);
  if (typeof uses !== "string" || isThere(containingStep, ["with", ...rest])) return path;
  const inherited = [[...job, "defaults", uses, ...rest], ["defaults", uses, ...rest]];
  return inherited.find((one) => isThere(root, one)) ?? path;
}

function isThere(root: unknown, path: Path): boolean {
  return valueAt(root, path) !== undefined;
}

/** The `defaults` of a file that is not a workflow, for the workflows that are read with it. */
export interface OuterDefaults {
  readonly values: Dict;
  readonly document: Document;
}

/** A document with the defaults of another file, which those of its jobs replace. */
export function withDefaults(document: Document, outer: OuterDefaults | undefined): Document {
  if (!outer || !isDict(document.value)) return document;
  const { values } = outer;
  const before = isDict(document.value.defaults) ? document.value.defaults : {};
  const value = { ...document.value, defaults: mergeDicts(before, values) };
  return {
    ...document,
    files: [...outer.document.files, ...document.files],
    value,
    defaults: [...document.defaults ?? [], values],
    joined: { own: document, outer: outer.document, values },
  };
}
