import { demand } from "./deno_permissions.ts";
import { isAbsolute, parentOf } from "./real_path.ts";

/**
 * A file that is being written. Its name is taken when it is complete and not before, so that
 * nobody reads half of it. Everything throws as Deno does.
 */
export interface StagedFile {
  /** Takes what comes next, which is in the file once it is committed, or soon where it grows. */
  write(text: string): void;
  /** Completes the file. */
  commit(): void;
  /** Leaves everything as it was before, unless the file is complete. */
  discard(): void;
}

/** Opens a file to be replaced; missing directories are made. */
export async function stageFile(path: string): Promise<StagedFile> {
  const target = resolveTarget(path);
  if (target.isSpecial) return await openSpecial(target.path);
  const beside = prepareBeside(target);
  let file: GatheringFile | undefined;
  return {
    write: (text) => (file ??= gather(beside.open())).add(text),
    commit() {
      file ??= gather(beside.open());
      file.flush();
      file.close();
      beside.take();
    },
    discard() {
      file?.close();
      beside.remove();
    },
  };
}

/** A file of bytes that is being written; like `StagedFile`. */
export interface StagedBytes {
  write(bytes: Uint8Array): void;
  commit(): void;
  discard(): void;
}

/** Opens a binary file for writing, truncated; missing parent directories are created. */
export async function stageBytes(path: string): Promise<StagedBytes> {
  const target = resolveTarget(path);
  if (target.isSpecial) demand({ name: "write", path: target.path });
  const beside = target.isSpecial ? undefined : prepareBeside(target);
  let file = beside ? undefined : await Deno.open(target.path, { append: true });
  const close = () => {
    file?.close();
    file = undefined;
  };
  return {
    write(bytes) {
      file ??= beside!.open();
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
    },
    commit() {
      file ??= beside!.open();
      close();
      beside?.take();
    },
    discard() {
      close();
      beside?.remove();
    },
  };
}

/** A file beside another one, whose name it takes when it is complete. */
interface Beside {
  open(): Deno.FsFile;
  take(): void;
  /** Removes it, unless it has taken the name. */
  remove(): void;
}

/** Checks that a file can be written; missing parent directories are created. */
function prepareBeside(target: Target): Beside {
  // Beside the file there will be another one for a while.
  demand({ name: "write", path: parentOf(target.path) });
  demand({ name: "read", path: parentOf(target.path) });
  // A file that may not be written may not be replaced either.
  if (target.mode !== undefined) Deno.openSync(target.path, { write: true }).close();
  const directory = parentOf(target.path);
  const made = makeDirectory(directory);
  removeLeftovers(directory);
  // A name of its own length: that of the file may be as long as names can be.
  const temporary = `${directory}/.runner-${crypto.randomUUID()}.tmp`;
  const open = () => {
    const file = Deno.openSync(temporary, { write: true, createNew: true });
    // Users who could not read the file before must not read it now.
    if (target.mode !== undefined) Deno.chmodSync(temporary, target.mode);
    return file;
  };
  // Whether it can be written is known at once; a run that is killed leaves nothing behind.
  open().close();
  Deno.removeSync(temporary);
  let state: "none" | "open" | "over" = "none";
  return {
    open() {
      const file = open();
      state = "open";
      return file;
    },
    take() {
      Deno.renameSync(temporary, target.path);
      state = "over";
    },
    remove() {
      if (state === "over") return;
      if (state === "open") Deno.removeSync(temporary);
      state = "over";
      for (const directory of made) removeIfEmpty(directory);
    },
  };
}

const LEFTOVER = /^\.runner-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;
/** No report takes that long to be written, in milliseconds. */
const LONGEST_WRITE = 3_600_000;

/** Removes files of programs that were killed while they wrote. */
function removeLeftovers(directory: string): void {
  try {
    for (const { name } of Deno.readDirSync(directory)) {
      if (!LEFTOVER.test(name)) continue;
      const { mtime } = Deno.statSync(`${directory}/${name}`);
      if (mtime && Date.now() - mtime.getTime() > LONGEST_WRITE) {
        Deno.removeSync(`${directory}/${name}`);
      }
    }
  } catch {
    // They belong to another user, or another process removes them too.
  }
}

/** Opens a file that grows as it is written; what it held before is gone at once or stays. */
export async function openGrowingFile(path: string, how: "anew" | "append"): Promise<StagedFile> {
  const target = resolveTarget(path);
  if (target.isSpecial) return await openSpecial(target.path);
  demand({ name: "write", path: target.path });
  makeDirectory(parentOf(target.path));
  if (how === "anew") removeOld(target.path);
  const mode = how === "append" ? { append: true } : { write: true, truncate: true };
  const file = gather(Deno.openSync(target.path, { ...mode, create: true }));
  if (target.mode !== undefined && how === "anew") Deno.chmodSync(target.path, target.mode);
  // The bytes at the end of a file to which others append may be theirs.
  return growing(how === "append" ? { ...file, dropHalfLine() {} } : file);
}

/** Another program may still write to the file that was there: it keeps that one, without a name. */
function removeOld(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // There is none, or it is emptied instead.
  }
}

/** Milliseconds until what was written can be read. */
const LATENCY = 50;

/** Writes what comes in a short time in one go. */
function growing({ add, flush: writeOut, close, dropHalfLine }: GatheringFile): StagedFile {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** An error that occurred while no call was waiting. */
  let problem: { readonly error: unknown } | undefined;
  const inWholeLines = (act: () => void) => {
    try {
      act();
    } catch (error) {
      dropHalfLine();
      throw error;
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    inWholeLines(writeOut);
  };
  const flushAlone = () => {
    try {
      flush();
    } catch (error) {
      problem = { error };
    }
  };
  return {
    write(text) {
      if (problem) throw problem.error;
      inWholeLines(() => add(text));
      timer ??= setTimeout(flushAlone, LATENCY);
    },
    commit() {
      if (problem) throw problem.error;
      flush();
      close();
    },
    discard() {
      flushAlone();
      close();
    },
  };
}

/**
 * A pipe, a device or what is open already: no other file can take its place, and what is in it
 * stays. A pipe opens when it has a reader.
 */
async function openSpecial(path: string): Promise<StagedFile> {
  demand({ name: "write", path });
  const { add, flush, close } = gather(await Deno.open(path, { append: true }));
  return {
    write(text) {
      add(text);
      flush();
    },
    commit: close,
    discard: close,
  };
}

interface GatheringFile {
  add(text: string): void;
  /** Writes what was gathered. */
  flush(): void;
  /** Takes back the beginning of a line that could not be written to its end. */
  dropHalfLine(): void;
  close(): void;
}

/** Bytes that are written in one go, since each write costs. */
const BUFFER_SIZE = 1 << 16;
/** Characters that become bytes in one go; of more, the first have left the fastest memory. */
const TEXT_SIZE = 1 << 12;

/** Bytes that a UTF-16 unit of a text becomes. */
const MOST_BYTES = 3;

const LINE_END = "\n".charCodeAt(0);

/** Gathers texts and writes many of them at once. */
function gather(file: Deno.FsFile): GatheringFile {
  const encoder = new TextEncoder();
  /** Used again and again: memory that is new each time takes longer than what is done with it. */
  const buffer = new Uint8Array(BUFFER_SIZE);
  let length = 0;
  let text = "";
  let isOpen = true;
  /** Bytes that were written, and how many of them are whole lines. */
  let written = 0;
  let whole = 0;
  const write = () => {
    let rest = buffer.subarray(0, length);
    length = 0;
    while (rest.length > 0) {
      const count = file.writeSync(rest);
      const end = rest.lastIndexOf(LINE_END, count - 1) + 1;
      if (end > 0) whole = written + end;
      written += count;
      rest = rest.subarray(count);
    }
  };
  const encode = () => {
    let rest = text;
    text = "";
    // A text is not cut where the buffer ends: who reads a file that grows finds whole lines.
    if (length + MOST_BYTES * rest.length > BUFFER_SIZE) write();
    let isLarger = false;
    while (rest !== "") {
      const { read, written } = encoder.encodeInto(rest, buffer.subarray(length));
      length += written;
      rest = rest.slice(read);
      isLarger ||= rest !== "";
      // Of what has begun to be in the file, the end does not wait either.
      if (isLarger) write();
    }
  };
  return {
    add(more) {
      text += more;
      if (text.length >= TEXT_SIZE) encode();
    },
    flush() {
      encode();
      write();
    },
    dropHalfLine() {
      if (isOpen && whole < written) file.truncateSync(whole);
      written = whole;
    },
    close() {
      if (isOpen) file.close();
      isOpen = false;
    },
  };
}

interface Target {
  readonly path: string;
  /** Whether there is something else than a file. */
  readonly isSpecial: boolean;
  /** The permissions of the existing file. */
  readonly mode?: number;
}

/** Names of files that are open already, like standard error. */
const OPEN_ALREADY = /^\/(?:dev\/std(?:out|err)|dev\/fd\/\d+|proc\/[^/]+\/fd\/\d+)$/;

/** Where a path leads. */
function resolveTarget(path: string): Target {
  if (/(^|\/)\.{0,2}$/.test(path)) throw new Deno.errors.IsADirectory("it is a directory");
  if (OPEN_ALREADY.test(path)) return { path, isSpecial: true };
  demand({ name: "read", path });
  try {
    const { isFile, isDirectory, mode } = Deno.statSync(path);
    if (isDirectory) throw new Deno.errors.IsADirectory("it is a directory");
    if (!isFile) return { path, isSpecial: true };
    const real = Deno.realPathSync(path);
    return { path: real, isSpecial: false, ...mode === null ? {} : { mode: mode & 0o777 } };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    const led = readLink(path);
    return led === undefined ? { path, isSpecial: false } : resolveTarget(led);
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
