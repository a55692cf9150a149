import type { Files } from "../../host/host.ts";
import { RunnerError } from "../../source/errors.ts";

/** The filter for files in directories. */
interface WantedFiles {
  /** Whether a file in a directory is one of them, by its name. */
  readonly isWanted: (name: string) => boolean;
  /** In words: `event files`. */
  readonly what: string;
  readonly hint: string;
  /** Whether a directory may have none. */
  readonly mayBeNone?: true;
}

/**
 * The files that are named, and those that are wanted at any depth of the directories that are
 * named, in a stable order. Throws RunnerError for a directory that has none.
 */
export async function findFiles(
  paths: readonly string[],
  { isWanted, what, hint, mayBeNone }: WantedFiles,
  files: Files,
): Promise<readonly string[]> {
  const found = new Set<string>();
  const addFrom = async (directory: string): Promise<void> => {
    for (const { name, kind } of await files.entries(directory)) {
      const path = `${directory}/${name}`;
      if (kind === "directory") await addFrom(path);
      else if (kind === "file" && isWanted(name)) found.add(path);
    }
  };
  for (const path of paths) {
    if (await files.list(path).catch(() => undefined) === undefined) {
      found.add(path);
      continue;
    }
    const before = found.size;
    await addFrom(path.replace(/(?<=.)\/+$/, ""));
    if (found.size === before && !mayBeNone) throw new RunnerError(`no ${what} in '${path}'`, hint);
  }
  return [...found];
}

/** The files of `--report ndjson=FILE`. */
export const EVENT_FILES: WantedFiles = {
  isWanted: (name) => name.endsWith(".ndjson"),
  what: "event files",
  hint: "the files that --report ndjson=FILE writes end in .ndjson",
};
