import { explainDenial } from "../host/explain_denial.ts";
import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";

/** Throws LoadError if there is a file. */
export async function refuseExisting(
  path: string,
  { files }: Host,
  hint = "overwrite it with --force",
): Promise<void> {
  // A path that cannot be read cannot be written either; writing it reports the reason.
  if (!await files.isFile(path).catch(() => false)) return;
  throw new LoadError(`'${path}' already exists`, [], hint);
}

/** Throws LoadError for a file that the program reads, which would be lost if it were written. */
export function refuseInput(path: string, { files }: Host): void {
  if (!files.isInput(path)) return;
  throw new LoadError(`cannot write '${path}': this command reads it`, [], "write to another file");
}

/** Writes a file, whole or not at all. Throws LoadError, also for an input that may not change. */
export async function writeTextFile(
  path: string,
  text: string,
  host: Host,
  { mayBeInput = false } = {},
): Promise<void> {
  if (!mayBeInput) refuseInput(path, host);
  try {
    const file = await host.files.stage(path);
    try {
      file.write(text);
      file.commit();
    } finally {
      file.discard();
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const denial = explainDenial(error);
    throw new LoadError(
      `cannot write '${path}': ${denial?.message ?? error.message}`,
      [],
      denial?.hint,
    );
  }
}
