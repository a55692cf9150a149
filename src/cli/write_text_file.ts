import { explainDenial } from "../host/explain_denial.ts";
import type { Host } from "../host/host.ts";
import { LoadError } from "../source/errors.ts";

/** Throws LoadError if there is a file. */
export async function refuseExisting(path: string, { files }: Host): Promise<void> {
  // A path that cannot be read cannot be written either; writing it reports the reason.
  if (!await files.isFile(path).catch(() => false)) return;
  throw new LoadError(`'${path}' already exists`, [], "overwrite it with --force");
}

/** Writes a file, whole or not at all. Throws LoadError. */
export async function writeTextFile(path: string, text: string, { files }: Host): Promise<void> {
  try {
    const file = await files.stage(path);
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
      `cannot write '${path}': ${denial?.words ?? error.message}`,
      [],
      denial?.hint,
    );
  }
}
