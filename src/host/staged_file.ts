import { demand } from "./deno_permissions.ts";
import { isAbsolute, parentOf } from "./real_path.ts";

/** A file that is being written. Every method throws as Deno does. */
export interface StagedFile {
  write(data: string | Uint8Array): void;
  /** Completes the file. */
  commit(): void;
  /** Leaves everything as it was before, unless the file is complete or grows. */
  discard(): void;
}

/**
 * Opens a file to be replaced, by way of a temporary file beside it: nobody reads half of it.
 * Missing parent directories are created.
 * By default, it has the permissions of the file that it replaces.
 */
export async function stageFile(path: string, mode?: number): Promise<StagedFile> {
  const target = resolveFile(path);
  if (target.isSpecial) return await openSpecial(target.path);
  const directory = parentOf(target.path);
  demand({ name: "write", path: directory });
  demand({ name: "read", path: directory });
  // A file that may not be written may not be replaced either.
  if (target.mode !== undefined) Deno.openSync(target.path, { write: true }).close();
  const made = makeDirectory(directory);
  // Short, because the name of the file may be as long as names can be.
  const temporary = `${directory}/.runner-${crypto.randomUUID()}.tmp`;
  const open = () => {
    const file = Deno.openSync(temporary, { write: true, createNew: true, mode });
    // Users who could not read the file before must not read it now.
    const permissions = mode ?? target.mode;
    if (permissions !== undefined) Deno.chmodSync(temporary, permissions);
    return bufferWrites(file);
  };
  // Fails now if it cannot be written. It is opened again for the first data, so that a program
  // that is killed in between leaves nothing behind.
  open().close();
  Deno.removeSync(temporary);
  let file: BufferedFile | undefined;
  let isCommitted = false;
  return {
    write: (data) => (file ??= open()).write(data),
    commit() {
      file ??= open();
      file.flush();
      file.close();
      Deno.renameSync(temporary, target.path);
      isCommitted = true;
    },
    discard() {
      if (isCommitted) return;
      file?.close();
      if (file) Deno.removeSync(temporary);
      for (const directory of made) removeIfEmpty(directory);
    },
  };
}

/** Opens a file that others read while it grows; an earlier one is replaced or kept. */
export async function openGrowingFile(path: string, how: "anew" | "append"): Promise<StagedFile> {
  const target = resolveFile(path);
  if (target.isSpecial) return await openSpecial(target.path);
  demand({ name: "write", path: target.path });
  makeDirectory(parentOf(target.path));
  if (how === "anew") removeOld(target.path);
  const mode = how === "append" ? { append: true } : { write: true, truncate: true };
  const opened = Deno.openSync(target.path, { ...mode, create: true });
  // The end of a file to which others append may be theirs.
  const file = bufferWrites(opened, how === "anew" ? "whole lines" : "any bytes");
  if (target.mode !== undefined && how === "anew") Deno.chmodSync(target.path, target.mode);
  return flushSoon(file);
}

/** Another program may still write to the file that was there: it keeps that one, without a name. */
function removeOld(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It does not exist, or it is truncated instead.
  }
}

/** Milliseconds until what was written can be read. */
const LATENCY = 50;

function flushSoon(file: BufferedFile): StagedFile {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** An error that occurred while no call was waiting. */
  let problem: { readonly error: unknown } | undefined;
  const flush = () => {
    timer = undefined;
    try {
      file.flush();
    } catch (error) {
      problem ??= { error };
    }
  };
  const end = () => {
    clearTimeout(timer);
    flush();
    file.close();
  };
  return {
    write(data) {
      if (problem) throw problem.error;
      file.write(data);
      timer ??= setTimeout(flush, LATENCY);
    },
    commit() {
      end();
      if (problem) throw problem.error;
    },
    discard: end,
  };
}

/** Opens a pipe, a device or an open file, which no other file can replace. */
async function openSpecial(path: string): Promise<StagedFile> {
  demand({ name: "write", path });
  const file = bufferWrites(await Deno.open(path, { append: true }));
  return {
    write(data) {
      file.write(data);
      file.flush();
    },
    commit: file.close,
    discard: file.close,
  };
}

interface BufferedFile {
  write(data: string | Uint8Array): void;
  flush(): void;
  close(): void;
}

/** Characters that are written in one go, since each write costs. */
const BUFFER_SIZE = 1 << 16;

const LINE_END = "\n".charCodeAt(0);

/**
 * Combines small texts into larger writes; no text is divided between two. `kept` is what stays of
 * data that does not fit on the disk.
 */
function bufferWrites(
  file: Deno.FsFile,
  kept: "whole lines" | "any bytes" = "any bytes",
): BufferedFile {
  const encoder = new TextEncoder();
  let text = "";
  let size = 0;
  let isOpen = true;
  const writeBytes = (bytes: Uint8Array) => {
    let done = 0;
    try {
      while (done < bytes.length) done += file.writeSync(bytes.subarray(done));
      size += done;
    } catch (error) {
      const lines = done === 0 ? 0 : bytes.lastIndexOf(LINE_END, done - 1) + 1;
      if (kept === "whole lines") file.truncateSync(size + lines);
      size += lines;
      throw error;
    }
  };
  const flush = () => {
    const bytes = encoder.encode(text);
    text = "";
    writeBytes(bytes);
  };
  return {
    write(data) {
      if (typeof data !== "string") return writeBytes(data);
      text += data;
      if (text.length >= BUFFER_SIZE) flush();
    },
    flush,
    close() {
      if (isOpen) file.close();
      isOpen = false;
    },
  };
}

/** Where a file is written, behind all links. */
interface ResolvedFile {
  readonly path: string;
  /** Whether there is something else than a file. */
  readonly isSpecial: boolean;
  /** The permissions of the existing file. */
  readonly mode?: number;
}

/** Names of files that are open already, like standard error. */
const OPEN_ALREADY = /^\/(?:dev\/std(?:out|err)|dev\/fd\/\d+|proc\/[^/]+\/fd\/\d+)$/;

function resolveFile(path: string): ResolvedFile {
  if (/(^|\/)\.{0,2}$/.test(path)) throw new Deno.errors.IsADirectory("it is a directory");
  if (OPEN_ALREADY.test(path)) return { path, isSpecial: true };
  demand({ name: "read", path });
  try {
    const { isFile, isDirectory, mode } = Deno.statSync(path);
    if (isDirectory) throw new Deno.errors.IsADirectory("it is a directory");
    if (!isFile) return { path, isSpecial: true };
    const real = Deno.realPathSync(path);
    return { path: real, isSpecial: false, mode: mode === null ? undefined : mode & 0o777 };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    const led = readLink(path);
    return led === undefined ? { path, isSpecial: false } : resolveFile(led);
  }
}

/** The target of a link, which may not exist yet; undefined if it is not a link. */
function readLink(path: string): string | undefined {
  try {
    const led = Deno.readLinkSync(path);
    return isAbsolute(led) ? led : `${parentOf(path)}/${led}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The directories that had to be made, the innermost first. */
function makeDirectory(path: string): string[] {
  const missing: string[] = [];
  for (let directory = path; !exists(directory); directory = parentOf(directory)) {
    missing.push(directory);
  }
  Deno.mkdirSync(path, { recursive: true });
  return missing;
}

function exists(path: string): boolean {
  demand({ name: "read", path });
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function removeIfEmpty(directory: string): void {
  try {
    Deno.removeSync(directory);
  } catch {
    // Somebody else has put something into it meanwhile.
  }
}

/** Removes a file; a missing file is not an error. */
export async function removeFile(path: string): Promise<void> {
  demand({ name: "write", path });
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
