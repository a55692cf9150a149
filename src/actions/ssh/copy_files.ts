import { resolve } from "@std/path/resolve";
import { explainDenial } from "../../host/explain_denial.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { fileProblem, readablePath, stageStepFile } from "../../action/step_file.ts";
import { type Attributes, type ClientError, homePath, type Sftp } from "./credentials.ts";
import type { SshConnection } from "./ssh_connection.ts";

/** Bytes of one message, which every server takes. */
const BLOCK = 32 * 1024;

/** Messages on their way at once, so that a distant server is not waited for after each. */
const MAX_BLOCKS = 32;

type Direction = "upload" | "download";

/** A file that was copied, as `res.files` shows it. */
type CopiedFile = { readonly local: string; readonly remote: string; readonly size: number };

/** Copies files one after another. Throws `StepError` at the first that cannot be copied. */
export async function copyFiles(
  direction: Direction,
  paths: readonly (readonly [from: string, to: string])[],
  connection: SshConnection,
  attempt: ActionAttempt,
): Promise<readonly CopiedFile[]> {
  const { address, lost, slots } = connection;
  const sftp = await openSftp(direction, connection, attempt);
  try {
    const copied: CopiedFile[] = [];
    for (const [from, to] of paths) {
      const file = `"${from}" as "${to}" ${direction === "upload" ? "to" : "from"} ${address}`;
      const copying = direction === "upload"
        ? upload(sftp, from, to, attempt)
        : download(sftp, from, to, attempt);
      const loss = lost.then(() => Promise.reject(new Error("the connection was lost")));
      try {
        const first = Promise.race([copying, loss]);
        copied.push(await attempt.during(`${direction}ing ${file}`, first));
      } catch (error) {
        throw explain(error, `${direction} ${file}`, direction);
      }
    }
    return copied;
  } finally {
    sftp.end();
    slots.release();
  }
}

async function openSftp(
  direction: Direction,
  { client, address, slots }: SshConnection,
  attempt: ActionAttempt,
): Promise<Sftp> {
  const open = () => {
    const opened = call<Sftp>((done) => client.sftp(done));
    opened.then((sftp) => attempt.signal.aborted && sftp.end(), () => {});
    return attempt.during(`opening SFTP on ${address}`, opened);
  };
  try {
    return await slots.open(open, attempt);
  } catch (error) {
    throw explain(error, `copy files on ${address}`, direction);
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

async function upload(
  sftp: Sftp,
  local: string,
  remote: string,
  { context, signal }: ActionAttempt,
): Promise<CopiedFile> {
  const { Buffer } = await import("node:buffer");
  const { mode, bytes } = await openLocal(local, context);
  const target = await insideOf(
    remotePath(remote),
    local,
    async (path) => (await call<Attributes>((done) => sftp.stat(path, done))).isDirectory(),
  );
  const handle = await call<Uint8Array>((done) => sftp.open(target, "w", done));
  const messages = new Pending();
  let size = 0;
  for await (const { buffer, byteOffset, byteLength } of bytes) {
    const chunk = Buffer.from(buffer, byteOffset, byteLength);
    for (let start = 0; start < chunk.length && !signal.aborted; start += BLOCK) {
      const block = chunk.subarray(start, start + BLOCK);
      const offset = size;
      size += block.length;
      await messages.add(
        call<void>((done) => sftp.write(handle, block, 0, block.length, offset, done)),
      );
    }
    if (signal.aborted) break;
  }
  await messages.end();
  // A script stays executable.
  if (mode !== null) {
    await call<void>((done) => sftp.fchmod(handle, mode & 0o777, done)).catch((error) => {
      context.warn(`"${target}" does not get the permissions of "${local}": ${reasonOf(error)}`);
    });
  }
  await call<void>((done) => sftp.close(handle, done));
  return { local, remote: target, size };
}

async function openLocal(local: string, context: ActionContext) {
  const file = {
    what: "the file to upload",
    path: homePath(local, context.host),
    parameter: "upload",
  };
  const path = await readablePath(file, context);
  try {
    const { mode, isDirectory } = await Deno.stat(path);
    if (isDirectory) throw directoryError(local, "upload");
    return { mode, bytes: await context.host.files.stream(path) };
  } catch (error) {
    throw fileProblem(error, file, path);
  }
}

async function download(
  sftp: Sftp,
  remote: string,
  local: string,
  { context, signal }: ActionAttempt,
): Promise<CopiedFile> {
  const { host } = context;
  const path = await insideOf(
    resolve(host.files.workingDirectory(), homePath(local, host)),
    remote,
    async (path) => /[/\\]$/.test(local) || (await Deno.stat(path)).isDirectory,
  );
  const handle = await call<Uint8Array>((done) => sftp.open(remotePath(remote), "r", done));
  const attributes = await call<Attributes>((done) => sftp.fstat(handle, done));
  if (attributes.isDirectory()) throw directoryError(remote, "download");
  const { staged } = await stageStepFile("cannot write the file", path, "download", context);
  const { Buffer } = await import("node:buffer");
  // Files of the kernel, such as /proc/uptime, name no size.
  const size = attributes.size === 0 ? Number.POSITIVE_INFINITY : attributes.size;
  const messages = new Pending();
  let total = 0;
  let isOver = false;
  try {
    let written = Promise.resolve();
    for (let offset = 0; offset < size && !isOver && !signal.aborted; offset += BLOCK) {
      const block = Buffer.alloc(Math.min(BLOCK, size - offset));
      const reading = readBlock(sftp, handle, block, offset);
      // After the first that fails, the others are not waited for.
      reading.catch(() => {});
      written = written.then(async () => {
        const bytes = await reading;
        isOver ||= bytes.length < block.length;
        if (signal.aborted) return;
        staged.write(bytes);
        total += bytes.length;
      });
      await messages.add(written);
    }
    await messages.end();
    if (!signal.aborted) staged.commit();
  } finally {
    staged.discard();
  }
  await call<void>((done) => sftp.close(handle, done));
  return { local: path, remote, size: total };
}

/** Reads a block, for which a server may need several answers. */
async function readBlock(sftp: Sftp, handle: Uint8Array, block: Uint8Array, offset: number) {
  let length = 0;
  while (length < block.length) {
    const count = await call<number>((done) =>
      sftp.read(handle, block, length, block.length - length, offset + length, done)
    );
    if (count === 0) break;
    length += count;
  }
  return block.subarray(0, length);
}

/** Messages that are not answered yet. */
class Pending {
  readonly #messages = new Set<Promise<void>>();

  /** Adds one, and waits while there are too many. Throws what one of them throws. */
  async add(message: Promise<void>): Promise<void> {
    const answered = message.finally(() => this.#messages.delete(answered));
    answered.catch(() => {});
    this.#messages.add(answered);
    if (this.#messages.size >= MAX_BLOCKS) await Promise.race(this.#messages);
  }

  async end(): Promise<void> {
    await Promise.all(this.#messages);
  }
}

/** Paths of SFTP begin at the home directory. */
function remotePath(path: string): string {
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

function directoryError(path: string, direction: Direction): StepError {
  return new StepError(
    `cannot ${direction} "${path}": it is a directory`,
    "files are copied one by one; tar makes one of many",
    { parameter: direction },
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
  const { code } = error as ClientError;
  return (typeof code === "number" ? REASONS[code] : undefined) ?? error.message;
}

function explain(error: unknown, activity: string, direction: Direction): unknown {
  if (error instanceof StepError || !(error instanceof Error)) return error;
  const denial = explainDenial(error);
  const isMissing = /Unable to start subsystem/.test(error.message);
  const reason = isMissing ? "the server offers no SFTP" : denial?.message ?? reasonOf(error);
  const where = direction === "upload" ? "its directory has to exist; " : "";
  const hint = (error as ClientError).code === 2
    ? `${where}~/ is the home directory`
    : denial?.hint;
  return new StepError(`cannot ${activity}: ${reason}`, hint, { parameter: direction });
}
