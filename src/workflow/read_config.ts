import type { Host } from "../host/host.ts";
import { LoadError } from "../source/errors.ts";
import type { Source } from "../source/source.ts";
import { readTextFile } from "./read_files.ts";

/** Reads the file of RUNNER_CONFIG. Throws LoadError, which says so, where that is no text. */
export async function readConfig(path: string, host: Host): Promise<Source> {
  try {
    return await readTextFile(path, host, "RUNNER_CONFIG file");
  } catch (error) {
    if (!(error instanceof LoadError) || error.hint !== undefined) throw error;
    const hint = "RUNNER_CONFIG is the path of a file with defaults for every workflow";
    throw new LoadError(error.message, error.diagnostics, hint);
  }
}
