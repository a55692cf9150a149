import { isGranted } from "../../host/deno_permissions.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import { StepError } from "../../source/errors.ts";
import { describeRequest, type ShellRequest } from "./shell_request.ts";

/** Why a command could not be started, in words that lead to the mistake. */
export async function spawnProblem(error: unknown, request: ShellRequest): Promise<StepError> {
  if (error instanceof StepError) return error;
  const { interpreter: { program }, workdir } = request;
  const fail = (message: string, hint?: string) =>
    new StepError(`cannot run the command: ${message}`, hint, { req: describeRequest(request) });
  const denial = explainDenial(error);
  if (denial) return fail(denial.words, denial.hint);
  const directory = workdir === undefined ? undefined : await directoryProblem(workdir);
  if (directory !== undefined) return fail(`workdir "${workdir}" ${directory}`);
  if (error instanceof Deno.errors.NotFound) {
    const isPath = /[/\\]/.test(program);
    return fail(
      `shell "${program}" ${isPath ? "does not exist" : "is not on the PATH"}`,
      'leave "shell" out to use the one of the system',
    );
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return fail(
      `permission to execute shell "${program}" is denied` +
        (workdir === undefined ? "" : `, or to enter workdir "${workdir}"`),
    );
  }
  if (error instanceof Error && "code" in error && error.code === "E2BIG") {
    return fail("its environment is too large", 'give large texts with "stdin" instead of "env"');
  }
  if (error instanceof Error && /^Failed to spawn/.test(error.message)) {
    return fail(error.message.replace(/^Failed to spawn '.*?': /, `shell "${program}": `));
  }
  throw error;
}

async function directoryProblem(path: string): Promise<string | undefined> {
  if (!isGranted({ name: "read", path })) return undefined;
  try {
    return (await Deno.stat(path)).isDirectory ? undefined : "is a file, not a directory";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "does not exist";
    if (error instanceof Deno.errors.NotADirectory) return "leads through a file";
    return undefined; // Unknown, so the shell may be at fault.
  }
}
