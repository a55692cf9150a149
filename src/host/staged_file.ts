/**
 * A file that is being written. Its name is taken when it is complete and not before, so that
 * nobody reads half of it. Everything throws as Deno does.
 */
export interface StagedFile {
  write(text: string): void;
  /** Completes the file. */
  commit(): void;
  /** Leaves everything as it was before, unless the file is complete. */
  discard(): void;
}

/** Opens a file to be written anew; folders that are missing on the way to it are made. */
export function stageFile(path: string): StagedFile {
  const target = resolveTarget(path);
  // A pipe or a device has no other file to take its place.
  if (target.isSpecial) return direct(Deno.openSync(target.path, { write: true }));
  const made = makeFolder(parentOf(target.path));
  const temporary = `${target.path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  const file = Deno.openSync(temporary, { write: true, createNew: true });
  const { write, commit: close } = direct(file);
  let isComplete = false;
  return {
    write,
    commit() {
      close();
      Deno.renameSync(temporary, target.path);
      isComplete = true;
    },
    discard() {
      if (isComplete) return;
      close();
      Deno.removeSync(temporary);
      for (const folder of made) removeIfEmpty(folder);
    },
  };
}

/** Opens a file that grows as it is written; what it held before is gone at once or stays. */
export function openGrowingFile(path: string, how: "anew" | "append"): StagedFile {
  const target = resolveTarget(path);
  if (target.isSpecial) return direct(Deno.openSync(target.path, { write: true }));
  makeFolder(parentOf(target.path));
  const mode = how === "append" ? { append: true } : { write: true, truncate: true };
  return direct(Deno.openSync(target.path, { ...mode, create: true }));
}

function direct(file: Deno.FsFile): StagedFile {
  const encoder = new TextEncoder();
  let isOpen = true;
  const close = () => {
    if (isOpen) file.close();
    isOpen = false;
  };
  return {
    write(text) {
      for (let rest = encoder.encode(text); rest.length > 0;) {
        rest = rest.subarray(file.writeSync(rest));
      }
    },
    commit: close,
    discard: close,
  };
}

/** Where a path leads, and whether that is something else than a file. */
function resolveTarget(path: string): { readonly path: string; readonly isSpecial: boolean } {
  try {
    const { isFile, isDirectory } = Deno.statSync(path);
    if (isDirectory) throw new Deno.errors.IsADirectory(path);
    return isFile ? { path: Deno.realPathSync(path), isSpecial: false } : { path, isSpecial: true };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { path, isSpecial: false };
    throw error;
  }
}

function parentOf(path: string): string {
  const end = Math.max(
    path.lastIndexOf("/"),
    Deno.build.os === "windows" ? path.lastIndexOf("\\") : -1,
  );
  return end < 0 ? "." : path.slice(0, end) || "/";
}

/** The folders that had to be made, the innermost first. */
function makeFolder(path: string): string[] {
  const missing: string[] = [];
  for (let folder = path; !exists(folder); folder = parentOf(folder)) missing.push(folder);
  Deno.mkdirSync(path, { recursive: true });
  return missing;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    Deno.removeSync(folder);
  } catch {
    // Somebody else has put something into it meanwhile.
  }
}
