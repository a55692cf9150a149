import type { Host } from "../../host/host.ts";
import { readTextFile } from "../../workflow/read_files.ts";

/** A file with its path; `what` says in words what it should be. Throws LoadError. */
export async function readNamed(
  file: string,
  host: Host,
  what: string,
): Promise<{ readonly file: string; readonly text: string }> {
  return { file, text: (await readTextFile(file, host, what)).text };
}
