import type { Attributes, ClientError, Sftp } from "./ssh_library.ts";
import { resolve } from "@std/path/resolve";
import { explainDenial } from "../../host/explain_denial.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, Dict } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { onAbort } from "../../action/on_abort.ts";
import { fileProblem, readablePath, stageStepFile, type StepFile } from "../../action/step_file.ts";
import type { SshConnection } from "./connect_ssh.ts";
import { homePath } from "./home_path.ts";
import type { FilePair, Login } from "./read_ssh.ts";
import type { SshSlots } from "./ssh_slots.ts";

/** Bytes of one message, which every server takes. */
const BLOCK = 32 * 1024;

/** Messages on their way at once, so that a distant server is not waited for after each. */
const MOST_BLOCKS = 32;

interface Place {
  readonly connection: SshConnection;
  readonly slots: SshSlots;
}

/** Copies files to the server. Throws `StepError` at the first that cannot be copied. */
export async function uploadFiles(
  pairs: readonly FilePair[],
  place: Place,
  login: Login,
  context: ActionContext,
): Promise<Dict[]> {
  return await copyAll("upload", pairs, place, login, context, upload);
}

/** Copies files from the server; each takes its name when it is complete. */
export async function downloadFiles(
  pairs: readonly FilePair[],
  place: Place,
  login: Login,
  context: ActionContext,
): Promise<Dict[]> {
  return await copyAll("download", pairs, place, login, context, download);
}

type Copy = (sftp: Sftp, pair: FilePair, context: ActionContext) => Promise<Dict>;

async function copyAll(
  what: "upload" | "download",
  pairs: readonly FilePair[],
  { connection, slots }: Place,
  login: Login,
  context: ActionContext,
  copy: Copy,
): Promise<Dict[]> {
  if (pairs.length === 0) return [];
  let doing = `copy files on ${placeOf(login)}`;
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const forget = onAbort(context.signal, stopped.reject);
  const release = connection.onLost(() => stopped.reject(new Error("the connection was lost")));
  let sftp: Sftp | undefined;
  try {
    sftp = await slots.open(
      () => call<Sftp>((done) => connection.client.sftp(done)),
      context,
    );
    const copied: Dict[] = [];
    for (const pair of pairs) {
      const [from, to, way] = what === "upload"
        ? [pair.local, pair.remote, "to"]
        : [pair.remote, pair.local, "from"];
      doing = `${what} "${from}" as "${to}" ${way} ${placeOf(login)}`;
      const copying = copy(sftp, pair, context);
      copying.catch(() => {});
      copied.push(await Promise.race([copying, stopped.promise]));
    }
    return copied;
  } catch (error) {
    if (error === context.signal.reason) {
      const { message, hint } = error as StepError;
      throw new StepError(`${message}; cannot ${doing}`, hint);
    }
    throw explain(error, doing, what);
  } finally {
    forget();
    release();
    if (sftp) {
      sftp.end();
      slots.release();
    }
  }
}

/** Calls a function of the library that answers later. */
function call<T>(
  ask: (done: (error: ClientError | undefined | null, value: T) => void) => void,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  ask((error, value) => error ? reject(error) : resolve(value));
  return promise;
}

async function upload(sftp: Sftp, { local, remote }: FilePair, context: ActionContext) {
  const file: StepFile = {
    what: "the file to upload",
    path: homePath(local, context.host),
    parameter: "upload",
  };
  const path = await readablePath(file, context);
  let source: Deno.FsFile | undefined;
  try {
    const { isDirectory } = await Deno.stat(path);
    if (isDirectory) throw directory(local, "upload");
    source = await Deno.open(path);
    await (await context.host.files.stream(path)).cancel();
  } catch (error) {
    source?.close();
    throw fileProblem(error, file, path);
  }
  using opened = source;
  const { mode } = await opened.stat();
  const { Buffer } = await import("node:buffer");
  const target = await insideOf(remoteName(remote), local, async (name) => {
    return (await call<Attributes>((done) => sftp.stat(name, done))).isDirectory();
  });
  const handle = await call<Uint8Array>((done) => sftp.open(target, "w", done));
  let size = 0;
  await inParallel(async () => {
    const block = Buffer.alloc(BLOCK);
    let length = 0;
    while (length < BLOCK) {
      const count = await opened.read(block.subarray(length));
      if (count === null) break;
      length += count;
    }
    if (length === 0 || context.signal.aborted) return undefined;
    const at = size;
    size += length;
    return () => call<void>((done) => sftp.write(handle, block, 0, length, at, done));
  });
  // A script stays executable.
  if (mode !== null) {
    await call<void>((done) => sftp.fchmod(handle, mode & 0o777, done)).catch((error) => {
      context.warn(`"${target}" does not get the permissions of "${local}": ${reasonOf(error)}`);
    });
  }
  await call<void>((done) => sftp.close(handle, done));
  return { local, remote: target, size };
}

async function download(sftp: Sftp, { local, remote }: FilePair, context: ActionContext) {
  const { host, signal } = context;
  const name = remoteName(remote);
  const path = await insideOf(
    resolve(host.files.workingDirectory(), homePath(local, host)),
    remote,
    async (name) => /[/\\]$/.test(local) || (await Deno.stat(name)).isDirectory,
  );
  const handle = await call<Uint8Array>((done) => sftp.open(name, "r", done));
  const attributes = await call<Attributes>((done) => sftp.fstat(handle, done));
  if (attributes.isDirectory()) throw directory(remote, "download");
  const { staged } = await stageStepFile("cannot write the file", path, "download", context);
  const { Buffer } = await import("node:buffer");
  // Files of the kernel, such as /proc/uptime, name no size.
  const size = attributes.size === 0 ? Number.POSITIVE_INFINITY : attributes.size;
  let total = 0;
  let isOver = false;
  try {
    let asked = 0;
    let written = Promise.resolve();
    await inParallel(() => {
      if (isOver || asked >= size || signal.aborted) return Promise.resolve(undefined);
      const at = asked;
      const block = Buffer.alloc(Math.min(BLOCK, size - at));
      asked += block.length;
      return Promise.resolve(() => {
        const reading = readBlock(sftp, handle, block, at);
        // After the first that fails, the others are not waited for.
        reading.catch(() => {});
        return written = written.then(async () => {
          const bytes = await reading;
          isOver ||= bytes.length < block.length;
          if (signal.aborted) return;
          staged.write(bytes);
          total += bytes.length;
        });
      });
    });
    if (!signal.aborted) staged.commit();
  } finally {
    staged.discard();
  }
  await call<void>((done) => sftp.close(handle, done));
  return { local: path, remote, size: total };
}

/** Reads a block, for which a server may need several answers. */
async function readBlock(sftp: Sftp, handle: Uint8Array, block: Uint8Array, at: number) {
  let length = 0;
  while (length < block.length) {
    const count = await call<number>((done) =>
      sftp.read(handle, block, length, block.length - length, at + length, done)
    );
    if (count === 0) break;
    length += count;
  }
  return block.subarray(0, length);
}

/** Takes one piece of work after another, and does a few at once, until there is none. */
async function inParallel(
  take: () => Promise<(() => Promise<void>) | undefined>,
): Promise<void> {
  const working = new Set<Promise<void>>();
  for (let work = await take(); work; work = await take()) {
    const promise = work().finally(() => working.delete(promise));
    promise.catch(() => {});
    working.add(promise);
    if (working.size >= MOST_BLOCKS) await Promise.race(working);
  }
  await Promise.all(working);
}

/** A remote path; paths of SFTP begin at the home directory. */
function remoteName(path: string): string {
  return path.replace(/^~\/+/, "") || ".";
}

/** A path, or that of a file of the same name in it if it is a directory. */
async function insideOf(
  path: string,
  from: string,
  isDirectory: (path: string) => Promise<boolean>,
): Promise<string> {
  if (!path.endsWith("/") && !await isDirectory(path).catch(() => false)) return path;
  const [, name = from] = /([^/\\]+)[/\\]*$/.exec(from) ?? [];
  return path === "." ? name : `${path.replace(/\/*$/, "/")}${name}`;
}

function directory(path: string, parameter: string): StepError {
  return new StepError(
    `cannot ${parameter} "${path}": it is a directory`,
    "files are copied one by one; tar makes one of many",
    { parameter },
  );
}

/** The meanings of the status numbers of SFTP. */
const REASONS: Readonly<Record<number, string>> = {
  2: "no such file or directory (SSH_FX_NO_SUCH_FILE)",
  3: "permission denied (SSH_FX_PERMISSION_DENIED)",
  4: "the server failed (SSH_FX_FAILURE)",
  8: "the server does not support it (SSH_FX_OP_UNSUPPORTED)",
};

function reasonOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return (typeof code === "number" ? REASONS[code] : undefined) ?? error.message;
}

function explain(error: unknown, doing: string, parameter: string): unknown {
  if (error instanceof StepError) {
    return /^cannot /.test(error.message)
      ? error
      : new StepError(`cannot ${doing}: ${error.message}`, error.hint, error.details);
  }
  if (!(error instanceof Error)) return error;
  const { code } = error as { readonly code?: unknown };
  const denial = explainDenial(error);
  const isMissing = /Unable to start subsystem/.test(error.message);
  const words = isMissing ? "the server offers no SFTP" : denial?.words ?? reasonOf(error);
  const hint = denial?.hint ??
    (code === 2
      ? `${parameter === "upload" ? "its directory has to exist; " : ""}~/ is the home directory`
      : undefined);
  return new StepError(`cannot ${doing}: ${words}`, hint, { parameter });
}
