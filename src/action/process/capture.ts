import type { Dict, SecretSink } from "../action.ts";

/** The output of a stream: its end as text, and the number of all bytes. */
export interface Captured {
  readonly text: string;
  readonly bytes: number;
  /** Whether the text is not all of it. */
  readonly cut: boolean;
}

/** What a command printed, as the fields of its result. */
export function outputFields(stdout: Captured, stderr: Captured): Dict {
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    truncated: stdout.cut || stderr.cut,
  };
}

/** A stream that is being emptied, of which only the end is kept: it says why a command failed. */
export interface Capture {
  /** Resolves when the stream has ended; never rejects. */
  readonly ended: Promise<void>;
  /** Whether it has ended. */
  readonly isOver: boolean;
  /** The output so far. From then on nothing more is kept, but the stream is still read. */
  take(): Captured;
  /** Stops reading, whoever may still be writing. */
  cancel(): Promise<void>;
}

/**
 * Reads a stream to its end and keeps its last `limit` bytes, from the beginning of a line on, or
 * of a word, and no part of a secret: reports would not recognize half of one.
 */
export function capture(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  secrets: SecretSink,
): Capture {
  const end = lastOf(limit, secrets);
  let over = false;
  const emptied = empty(stream, (chunk) => end.add(chunk));
  return {
    ended: emptied.ended.then(() => {
      over = true;
    }),
    get isOver() {
      return over;
    },
    take: () => end.take(over),
    cancel: emptied.cancel,
  };
}

/** The end of what comes in pieces; `take` says whether that was all, and ends the keeping. */
export interface LastOf {
  add(chunk: Uint8Array): void;
  take(isOver: boolean): Captured;
}

/** So many bytes around the cut show whether it goes through a secret. */
const LONGEST_SECRET = 10_000;

/** Keeps the last `limit` bytes of what comes in pieces, as `capture` does. */
export function lastOf(limit: number, secrets: SecretSink): LastOf {
  const ring = new LastBytes(limit + LONGEST_SECRET);
  let bytes = 0;
  let taken = false;
  return {
    add(chunk) {
      bytes += chunk.length;
      if (!taken) ring.add(chunk);
    },
    take(isOver) {
      const last = ring.take();
      taken = true;
      const cut = bytes > limit;
      const most = last.length - limit - 1;
      const start = cut ? most + wholeFrom(last.subarray(most)) : 0;
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const before = decoder.decode(last.subarray(0, start));
      // A character whose other bytes may be under way is left out.
      const kept = decoder.decode(last.subarray(start), { stream: !isOver });
      return { text: kept.slice(halfSecret(before, kept, secrets)), bytes, cut };
    },
  };
}

/** How much of the beginning of a text belongs to a secret that began before it. */
function halfSecret(before: string, text: string, secrets: SecretSink): number {
  if (before === "") return 0;
  const cut = before.length;
  const found = secrets.find(before + text.slice(0, LONGEST_SECRET));
  return (found.find(({ start, end }) => start < cut && end > cut)?.end ?? cut) - cut;
}

/**
 * Behind the first byte, which is left out, where a line begins that is not too far, else a word,
 * else a character.
 */
function wholeFrom(bytes: Uint8Array): number {
  const most = bytes.length >> 1;
  const line = bytes.indexOf(0x0a);
  if (line >= 0 && line <= most) return line + 1;
  const word = bytes.indexOf(0x20);
  if (word >= 0 && word <= most) return word + 1;
  return characterAt(bytes, 1);
}

/** Where the first character begins that is not before an offset, which may be in one. */
function characterAt(bytes: Uint8Array, offset: number): number {
  const most = Math.min(bytes.length, offset + 3);
  let start = offset;
  while (start < most && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
}

/** The last bytes of many, in memory for about twice as many. */
class LastBytes {
  readonly #most: number;
  #bytes = new Uint8Array(0);
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Uint8Array): void {
    if (this.#length + chunk.length > this.#bytes.length) {
      const kept = this.#last();
      const larger = new Uint8Array(2 * (kept.length + Math.min(chunk.length, this.#most)));
      larger.set(kept);
      this.#bytes = larger;
      this.#length = kept.length;
    }
    const more = chunk.subarray(Math.max(0, chunk.length - this.#most));
    this.#bytes.set(more, this.#length);
    this.#length += more.length;
  }

  /** Gives all that is kept, and forgets it. */
  take(): Uint8Array {
    const last = this.#last();
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return last;
  }

  #last(): Uint8Array {
    return this.#bytes.subarray(Math.max(0, this.#length - this.#most), this.#length);
  }
}

/** Hands every chunk of a stream to `take`, which must be done with it when it returns. */
export function empty(
  stream: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => void,
): { readonly ended: Promise<void>; cancel(): Promise<void> } {
  // One buffer that travels back and forth: a command may print gigabytes.
  const reader = stream.getReader({ mode: "byob" });
  const read = async () => {
    let buffer = new Uint8Array(64 * 1024);
    for (;;) {
      const { value, done } = await reader.read(buffer);
      if (done) return;
      take(value);
      buffer = new Uint8Array(value.buffer);
    }
  };
  return {
    // A pipe that cannot be read any more has ended, whatever the reason.
    ended: read().catch(() => {}),
    cancel: () => reader.cancel().catch(() => {}),
  };
}
