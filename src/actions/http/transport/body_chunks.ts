/** Bytes of memory that is not shared. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The most of a body that is kept in memory, encoded and decoded, unless a step says otherwise. */
export const BODY_LIMIT = 64 * 1024 * 1024;

/** A body that is larger than what is kept in memory. */
export class BodyTooLarge extends Error {
  /** `limit` is in bytes. */
  constructor(readonly limit: number) {
    super("body too large");
  }
}

/** Chunks from this length on are kept as they come. */
const LARGE_CHUNK = 65_536;

/** Appends a chunk; small ones are joined, since each costs some hundred bytes besides its own. */
export function addChunk(chunks: Uint8Array[], chunk: Uint8Array): void {
  chunks.push(chunk);
  while (chunks.length > 1) {
    const [before, last] = chunks.slice(-2) as [Uint8Array, Uint8Array];
    if (last.length >= LARGE_CHUNK || before.length > last.length) return;
    chunks.splice(-2, 2, joinChunks([before, last]));
  }
}

/**
 * Passes on the chunks of a body that is not kept, and counts their bytes. Their memory is not part
 * of the heap by whose growth the collector decides when to run: an array that is dropped with each
 * of them is, so that few chunks wait for it.
 */
export async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  count: (length: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
    new Array(chunk.length >> 4).fill(0);
  }
}

/** One array of bytes from many. */
export function joinChunks(chunks: readonly Uint8Array[]): Bytes {
  if (chunks.length === 1) return chunks[0] as Bytes;
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
