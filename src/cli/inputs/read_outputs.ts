import type { NamedText } from "../../spread/read_json_file.ts";
import type { Host } from "../../host/host.ts";
import { filesIn } from "../../host/walk_directories.ts";
import { readNamed } from "./read_named.ts";

/** The outputs files that `--inputs` names: files, or all that are below directories. */
export async function readOutputsFiles(
  paths: readonly string[],
  host: Host,
): Promise<readonly NamedText[]> {
  const found = await filesIn(paths, host.files, (name) => name === "outputs.json");
  return await Promise.all(found.map((path) => readNamed(path, host, "outputs file")));
}
