import { LONGEST_SECRET } from "../../secrets/secrets.ts";
import type { SecretSink } from "../action.ts";

/** The output of a stream: its end as text, and the number of all bytes. */
export interface Captured {
  readonly text: string;
  readonly bytes: number;
  /** Whether the text is not all of it. */
  readonly cut: boolean;
}

/** What a command printed, as the fields of its result. */
export function outputFields(stdout: Captured, stderr: Captured) {
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
  const { ended, cancel } = empty(stream, end.add);
  let isOver = false;
  return {
    ended: ended.then(() => void (isOver = true)),
    get isOver() {
      return isOver;
    },
    take: () => end.take(isOver),
    cancel,
  };
}

/** The end of a stream of pieces; `take` says whether that was all, and stops keeping them. */
export interface LastOf {
  add(chunk: Uint8Array): void;
  take(isOver: boolean): Captured;
}

/** Keeps the last `limit` bytes of a stream of pieces, as `capture` does. */
export function lastOf(limit: number, secrets: SecretSink): LastOf {
  const capacity = limit + LONGEST_SECRET;
  // Up to twice as many bytes, of which only the last count.
  let buffer = new Uint8Array(0);
  let length = 0;
  let bytes = 0;
  let isTaken = false;
  const kept = () => buffer.subarray(Math.max(0, length - capacity), length);
  return {
    add(chunk) {
      bytes += chunk.length;
      if (isTaken) return;
      if (length + chunk.length > buffer.length) {
        const last = kept();
        buffer = new Uint8Array(2 * (last.length + Math.min(chunk.length, capacity)));
        buffer.set(last);
        length = last.length;
      }
      const rest = chunk.subarray(Math.max(0, chunk.length - capacity));
      buffer.set(rest, length);
      length += rest.length;
    },
    take(isOver) {
      const last = kept();
      buffer = new Uint8Array(0);
      length = 0;
      isTaken = true;
      const cut = bytes > limit;
      const before = last.length - limit - 1;
      const start = cut ? before + wholeFrom(last.subarray(before)) : 0;
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const dropped = decoder.decode(last.subarray(0, start));
      // A character whose other bytes may be under way is left out.
      const text = decoder.decode(last.subarray(start), { stream: !isOver });
      return { text: text.slice(halfSecret(dropped, text, secrets)), bytes, cut };
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
  for (const separator of [0x0a, 0x20]) {
    const index = bytes.indexOf(separator);
    if (index >= 0 && index <= bytes.length >> 1) return index + 1;
  }
  const end = Math.min(bytes.length, 4);
  let start = 1;
  while (start < end && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
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
    // A pipe that cannot be read any more has ended.
    ended: read().catch(() => {}),
    cancel: () => reader.cancel().catch(() => {}),
  };
}

const MOST_LINES = 10;
const MOST_CHARACTERS = 2000;

/**
 * The end of an output under its name, in whole lines; undefined if there was none.
 */
export function lastLines(name: string, text: string): string | undefined {
  const lines = text.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return undefined;
  const shown: string[] = [];
  let left = MOST_CHARACTERS;
  for (const line of lines.slice(-MOST_LINES).reverse()) {
    left -= line.length;
    if (left < 0) break;
    shown.unshift(`  ${line}`);
  }
  if (shown.length === 0) return `${name}: one line of ${lines.at(-1)!.length} characters`;
  const some = shown.length < lines.length ? ` (the last of ${lines.length} lines)` : "";
  return `${name}${some}:\n${shown.join("\n")}`;
}
