import { demand } from "../host/deno_permissions.ts";
import { explainDenial } from "../host/explain_denial.ts";
import type { StagedFile } from "../host/staged_file.ts";
import { decodeText } from "../base/text/decode_text.ts";
import { RunnerError, StepError } from "../base/errors.ts";
import type { ActionContext } from "./action.ts";

export interface StepFile {
  /** The path in the step, relative to the file of the step. */
  readonly path: string;
  /** The description of the file for messages: `the CA certificate`. */
  readonly what: string;
  readonly parameter: string;
}

/**
 * The path of a file that may be read, from the current directory. Throws `StepError` if the
 * permissions of the run or Deno do not allow it; whether the file exists is not known yet.
 */
export async function readablePath(file: StepFile, context: ActionContext): Promise<string> {
  const { host, permissions } = context;
  const { parameter } = file;
  // An empty path would be that of the directory.
  if (file.path === "") {
    throw new StepError(`cannot read ${file.what}: its path is empty`, undefined, { parameter });
  }
  try {
    const path = await context.resolvePath(file.path);
    demand({ name: "read", path });
    if (!permissions?.read) return path;
    const { pathDenial } = await import("./permissions/rules.ts");
    const refusal = await pathDenial(permissions, "read", path, host);
    if (!refusal) return path;
    throw new StepError(
      `cannot read ${file.what} "${path}": ${refusal.message}`,
      refusal.hint,
      { parameter },
    );
  } catch (error) {
    throw fileProblem(error, file, file.path);
  }
}

/** Reads a file that a step names. Throws `StepError` with its path if that is not possible. */
export async function readStepFile(file: StepFile, context: ActionContext): Promise<Uint8Array> {
  const path = await readablePath(file, context);
  try {
    return await context.host.files.read(path);
  } catch (error) {
    throw fileProblem(error, file, path);
  }
}

/** The same for a text file. */
export async function readStepText(file: StepFile, context: ActionContext): Promise<string> {
  const bytes = await readStepFile(file, context);
  try {
    return decodeText(bytes);
  } catch (error) {
    throw fileProblem(error, file, file.path);
  }
}

/** The error of a file that cannot be read, as the user sees it. */
export function fileProblem(error: unknown, file: StepFile, path: string): unknown {
  if (error instanceof StepError || !(error instanceof Error)) return error;
  const denial = explainDenial(error) ??
    (error instanceof RunnerError ? { message: error.message, hint: error.hint } : undefined);
  const reason = denial?.message ?? reasonOf(error);
  if (reason === undefined) return error;
  const hint = denial?.hint ??
    (error instanceof Deno.errors.NotFound
      ? "the path is relative to the file that names it"
      : undefined);
  const message = `cannot read ${file.what} "${path}": ${reason}`;
  return new StepError(message, hint, { parameter: file.parameter });
}

function reasonOf(error: Error): string | undefined {
  if (error instanceof Deno.errors.NotFound) return "no such file (ENOENT)";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied (EACCES)";
  if (error instanceof Deno.errors.IsADirectory) return "it is a directory (EISDIR)";
  if (error instanceof Deno.errors.NotADirectory) {
    return "a part of the path is not a directory (ENOTDIR)";
  }
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? `${error.message} (${code})` : undefined;
}

/**
 * Writes a file that a step names, from the current directory; gives its path. Throws `StepError`
 * if the permissions of the run or the system do not allow it.
 */
export async function writeStepFile(
  { path, what, parameter }: StepFile,
  bytes: Uint8Array,
  context: ActionContext,
): Promise<string> {
  const failure = `cannot write ${what}`;
  const { absolute, staged } = await stageStepFile(failure, path, parameter, context);
  try {
    staged.write(bytes);
    staged.commit();
    return absolute;
  } catch (error) {
    throw writeProblem(failure, absolute, parameter, error);
  } finally {
    staged.discard();
  }
}

/** Opens a file to write, from the current directory. Throws `StepError` where that is denied. */
export async function stageStepFile(
  failure: string,
  path: string,
  parameter: string,
  { host, permissions }: ActionContext,
): Promise<{ readonly absolute: string; readonly staged: StagedFile }> {
  const { resolve } = await import("@std/path/resolve");
  const absolute = resolve(host.files.workingDirectory(), path);
  try {
    if (permissions?.write) {
      const { pathDenial } = await import("./permissions/rules.ts");
      const refusal = await pathDenial(permissions, "write", absolute, host);
      if (refusal) {
        const message = `${failure} to "${absolute}": ${refusal.message}`;
        throw new StepError(message, refusal.hint, { parameter });
      }
    }
    if (host.files.wasRead(absolute)) {
      const message = `${failure} to "${absolute}": the run has read this file`;
      throw new StepError(message, "name another file", { parameter });
    }
    const { stageFile } = await import("../host/staged_file.ts");
    const staged = await stageFile(absolute);
    const commit = () => {
      staged.commit();
      host.files.addWritten(absolute);
    };
    return { absolute, staged: { ...staged, commit } };
  } catch (error) {
    throw writeProblem(failure, absolute, parameter, error);
  }
}

/** The error of a file that cannot be written, as the user sees it. */
export function writeProblem(
  failure: string,
  path: string,
  parameter: string,
  error: unknown,
): unknown {
  if (error instanceof StepError || !(error instanceof Error)) return error;
  const denial = explainDenial(error);
  const message = denial?.message ?? reasonOf(error) ?? error.message;
  return new StepError(`${failure} to "${path}": ${message}`, denial?.hint, { parameter });
}
