import type { Host } from "../../host/host.ts";
import type { NamedText } from "../../spread/read_json_file.ts";
import { KEY_VARIABLE, makeSeal, type Seal } from "../../spread/seal.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { Program } from "../command.ts";

/**
 * The key that all pieces of a run share, if the environment has one; it is removed there, so that
 * no command inherits it. Throws RunnerError if it is too short.
 */
export async function takeKey({ host, secrets }: Program): Promise<Seal | undefined> {
  const key = host.env.get(KEY_VARIABLE);
  if (key === undefined || key === "") return undefined;
  secrets.push({ [KEY_VARIABLE]: key });
  host.env.remove(KEY_VARIABLE);
  return await makeSeal(key);
}

/** A file with its path; `what` says what it should be. Throws LoadError. */
export async function readNamed(file: string, host: Host, what: string): Promise<NamedText> {
  return { file, text: (await readTextFile(file, host, what)).text };
}
