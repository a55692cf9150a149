import { RunnerError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { type Dict, isDict } from "../../base/value/value.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import type { Files } from "../../host/host.ts";
import type { StagedFile } from "../../host/staged_file.ts";

/**
 * Reads what an earlier run has kept, in JSON with a name of its form; undefined if the file is
 * something else. Throws as Deno does.
 */
export async function readKept(
  path: string,
  schema: string,
  files: Files,
): Promise<Dict | undefined> {
  const kept = tryParseJson(new TextDecoder().decode(await files.read(path)));
  return isDict(kept) && kept.schema === schema ? kept : undefined;
}

/** The text of a file that later runs read. */
export function renderKept(kept: object): string {
  return `${JSON.stringify(kept)}\n`;
}

/** A file whose errors say what could not be written. */
export function explained(file: StagedFile, path: string, what?: string): StagedFile {
  const explain = (operation: () => void) => {
    try {
      operation();
    } catch (error) {
      throw cannotWrite(path, error, what);
    }
  };
  return {
    write: (text) => explain(() => file.write(text)),
    commit: () => explain(() => file.commit()),
    discard: () => file.discard(),
  };
}

/** Says why something cannot be written, from what Deno throws. */
export function cannotWrite(path: string, error: unknown, what = "report"): RunnerError {
  const where = path === "-" ? "to standard output" : `'${path}'`;
  const denial = explainDenial(error);
  if (denial) {
    return new RunnerError(`cannot write the ${what} ${where}: ${denial.message}`, denial.hint);
  }
  const reason = error instanceof Error ? error.message.replace(/ \(os error \d+\).*/s, "") : error;
  return new RunnerError(`cannot write the ${what} ${where}: ${reason}`);
}
