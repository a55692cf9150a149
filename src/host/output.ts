import type { Output } from "./host.ts";

type Stream = typeof Deno.stdout;

/** An output cannot be written although it is open: its disk is full. The message says why. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

/** More than this does not wait in memory for a reader. */
const MAX_WAITING = 256 * 1024 * 1024;

/** Pending writes to streams that are not terminals, in the order of the program. */
const queue: { readonly write: (bytes: Uint8Array) => Promise<void>; bytes: Uint8Array[] }[] = [];
let waiting = 0;
let writing: Promise<void> | undefined;

/**
 * Standard output or standard error. A terminal is written to at once. A pipe may have a reader
 * that does not read, which must not keep the program from anything else, so what goes there waits
 * in a queue; one queue for both streams, as both may be the same pipe.
 */
export function outputTo(stream: Stream): Output {
  const encoder = new TextEncoder();
  const isTerminal = stream.isTerminal();
  let isClosed = false;
  let problem: OutputError | undefined;
  const listeners: ((problem?: Error) => void)[] = [];
  const refused = (error: unknown) => {
    isClosed = true;
    if (!(error instanceof Deno.errors.BrokenPipe)) problem = outputError(error);
    for (const listener of listeners) listener(problem);
  };
  const write = async (bytes: Uint8Array) => {
    try {
      for (let rest = bytes; rest.length > 0 && !isClosed;) {
        rest = rest.subarray(await writeSome(stream, rest));
      }
    } catch (error) {
      refused(error);
    }
  };
  const writeNow = (bytes: Uint8Array) => {
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(writeSomeNow(stream, rest));
    } catch (error) {
      refused(error);
    }
  };
  return {
    isTerminal,
    columns: () => consoleSize().columns || 80,
    rows: () => consoleSize().rows || 24,
    write(text) {
      if (isClosed) return false;
      const bytes = encoder.encode(text);
      if (isTerminal) writeNow(bytes);
      else if (waiting + bytes.length <= MAX_WAITING) enqueue(write, bytes);
      else refused(new Error(`its reader does not read: ${MAX_WAITING >> 20} MB are waiting`));
      return !isClosed;
    },
    onClosed: (callback) => isClosed ? callback(problem) : void listeners.push(callback),
    async flush() {
      while (writing) await writing;
      if (problem) throw problem;
      return !isClosed;
    },
  };
}

function enqueue(write: (bytes: Uint8Array) => Promise<void>, bytes: Uint8Array): void {
  waiting += bytes.length;
  const last = queue.at(-1);
  if (last?.write === write) last.bytes.push(bytes);
  else queue.push({ write, bytes: [bytes] });
  writing ??= writeQueue();
}

async function writeQueue(): Promise<void> {
  // Texts that the program writes in one go are combined into one write.
  await undefined;
  for (let next = queue.shift(); next; next = queue.shift()) {
    const bytes = join(next.bytes);
    await next.write(bytes);
    waiting -= bytes.length;
  }
  writing = undefined;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Writes what a stream accepts at once; nothing if it is full and non-blocking. */
async function writeSome(stream: Stream, bytes: Uint8Array): Promise<number> {
  try {
    return await stream.write(bytes);
  } catch (error) {
    if (!(error instanceof Deno.errors.WouldBlock)) throw error;
    await new Promise((resolve) => setTimeout(resolve, 5));
    return 0;
  }
}

function writeSomeNow(stream: Stream, bytes: Uint8Array): number {
  try {
    return stream.writeSync(bytes);
  } catch (error) {
    if (!(error instanceof Deno.errors.WouldBlock)) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}

function outputError(error: unknown): OutputError {
  const message = error instanceof Error ? error.message : String(error);
  return new OutputError(message.replace(/ \(os error \d+\).*/s, ""), { cause: error });
}

function consoleSize(): { readonly columns: number; readonly rows: number } {
  try {
    return Deno.consoleSize();
  } catch {
    return { columns: 0, rows: 0 };
  }
}
