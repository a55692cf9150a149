import type { Path, Source } from "../base/source.ts";
import { valueAt } from "../base/value/value.ts";
import type { Document } from "../base/yaml/document.ts";
import { readYaml } from "../base/yaml/read_yaml.ts";

/**
 * Parses files as one document with jobs, whose positions know where inherited parameters are
 * written; `what` says what the files should be. Throws LoadError.
 */
export function parseDocument(files: readonly Source[], what?: string): Document {
  return readYaml(files, what, inheritedPath);
}

/**
 * Where a value under `with` of a step was written: there, or in the `defaults` of its job if
 * the step says nothing about it. Any other path is given back as it is.
 */
export function inheritedPath(root: unknown, path: Path): Path {
  // A job file is a job by itself.
  const job = path[0] === "jobs" ? path.slice(0, 2) : [];
  const [steps, step, field, ...rest] = path.slice(job.length);
  const isInStep = steps === "steps" || steps === "finally";
  if (!isInStep || field !== "with" || rest.length === 0) return path;
  const ownStep = valueAt(root, [...job, steps, step!]);
  const uses = valueAt(ownStep, ["uses"]);
  if (typeof uses !== "string" || isThere(ownStep, ["with", ...rest])) return path;
  const inherited = [...job, "defaults", uses, ...rest];
  return isThere(root, inherited) ? inherited : path;
}

function isThere(root: unknown, path: Path): boolean {
  return valueAt(root, path) !== undefined;
}
