/** What came out of a stream: its beginning as text, and how many bytes there were in all. */
export interface Captured {
  readonly text: string;
  readonly bytes: number;
  /** Whether the text is not all of it. */
  readonly cut: boolean;
}

/** A stream that is being emptied, of which only the beginning is kept. */
export interface Capture {
  /** Resolves when the stream has ended; never rejects. */
  readonly ended: Promise<void>;
  /** What came so far. From then on nothing more is kept, but the stream is emptied further. */
  take(): Captured;
  /** Stops reading, whoever may still be writing. */
  cancel(): Promise<void>;
}

/** How many bytes behind the cut are looked at for the rest of a secret. */
const LOOK_AHEAD = 64 * 1024;

/**
 * Reads a stream to its end and keeps its first `limit` bytes.
 *
 * Half a secret would be recognized by no report. So a little more than asked for is looked at,
 * and `cutText` leaves out the beginning of a secret that goes on behind the cut.
 */
export function capture(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  cutText: (text: string, limit: number) => string,
): Capture {
  const most = limit + LOOK_AHEAD;
  let kept = new Uint8Array(0);
  let length = 0;
  let bytes = 0;
  let over = false;
  let taken = false;
  const keep = (chunk: Uint8Array) => {
    bytes += chunk.length;
    const more = chunk.subarray(0, most - length);
    if (taken || more.length === 0) return;
    if (length + more.length > kept.length) {
      const larger = new Uint8Array(Math.min(most, 2 * (length + more.length)));
      larger.set(kept.subarray(0, length));
      kept = larger;
    }
    kept.set(more, length);
    length += more.length;
  };
  const emptied = empty(stream, keep);
  return {
    ended: emptied.ended.then(() => {
      over = true;
    }),
    take() {
      const cut = bytes > limit;
      // A character of several bytes that the cut went through is left out.
      const decode = (end: number) =>
        new TextDecoder("utf-8", { ignoreBOM: true })
          .decode(kept.subarray(0, end), { stream: cut || !over });
      const whole = decode(length);
      const text = cut ? cutText(whole, decode(limit).length) : whole;
      taken = true;
      kept = new Uint8Array(0);
      length = 0;
      return { text, bytes, cut };
    },
    cancel: emptied.cancel,
  };
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
    // A pipe that cannot be read any more has ended, for whatever reason.
    ended: read().catch(() => {}),
    cancel: () => reader.cancel().catch(() => {}),
  };
}
