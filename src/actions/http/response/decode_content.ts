import type { Transform } from "node:stream";
import { BODY_LIMIT } from "../../../base/value/byte_size.ts";
import { BodyTooLarge, type Bytes } from "../transport/model.ts";

/** A body that is not in the encoding that its headers declare. */
export class BadEncoding extends Error {
  constructor(readonly encoding: string) {
    super(`not ${encoding}`);
  }
}

/** Names that some servers send although nothing was encoded. */
const NO_ENCODING: ReadonlySet<string> = new Set(["", "identity", "none"]);

const KNOWN: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br", "zstd"]);

/**
 * The encodings of a body that can be undone, the last first. Bytes in one that is not known stay as
 * they came: many a server names a charset there.
 */
function encodingsOf(contentEncoding: string): string[] {
  const all = contentEncoding.toLowerCase().split(",").map((name) => name.trim())
    .filter((name) => !NO_ENCODING.has(name)).reverse();
  const unknown = all.findIndex((name) => !KNOWN.has(name));
  return unknown < 0 ? all : all.slice(0, unknown);
}

/** Undoes the content encodings of a body that may have `limit` bytes. */
export async function decodeBody(
  bytes: Bytes,
  contentEncoding: string,
  limit: number,
): Promise<Bytes> {
  let decoded = bytes;
  for (const encoding of encodingsOf(contentEncoding)) {
    decoded = /gzip|deflate/.test(encoding)
      ? await unzip(decoded, encoding, limit)
      : await collect(undo(encoding, [decoded], limit), limit);
  }
  return decoded;
}

/** Undoes the content encodings of a body as it comes; `zstd` when it is complete. */
export function decodeStream(
  chunks: AsyncIterable<Bytes>,
  contentEncoding: string,
): AsyncIterable<Bytes> {
  let decoded = chunks;
  for (const encoding of encodingsOf(contentEncoding)) {
    decoded = undo(encoding, decoded, BODY_LIMIT);
  }
  return decoded;
}

async function* undo(
  encoding: string,
  chunks: Iterable<Bytes> | AsyncIterable<Bytes>,
  limit: number,
): AsyncGenerator<Bytes> {
  let fault: unknown;
  async function* read() {
    try {
      for await (const chunk of chunks) if (chunk.length > 0) yield chunk;
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  const source = read();
  const first = await source.next();
  if (first.done) return;
  async function* all() {
    yield first.value as Bytes;
    yield* source;
  }
  try {
    yield* unpack(encoding, first.value, all(), limit);
  } catch (error) {
    throw fault ?? (error instanceof BodyTooLarge ? error : new BadEncoding(encoding));
  }
}

async function* unpack(
  encoding: string,
  first: Bytes,
  chunks: AsyncIterable<Bytes>,
  limit: number,
): AsyncIterable<Bytes> {
  const zlib = await import("node:zlib");
  switch (encoding) {
    case "br":
      return yield* unpackBrotli(chunks, zlib.createBrotliDecompress());
    case "zstd":
      return yield* unpackZstd(await collect(chunks, limit), limit);
    case "deflate":
      if (!hasZlibHeader(first)) return yield* pipe(chunks, zlib.createInflateRaw());
      return yield* pipe(chunks, zlib.createInflate());
    default:
      return yield* pipe(chunks, zlib.createGunzip());
  }
}

async function* pipe(chunks: AsyncIterable<Bytes>, transform: Transform): AsyncIterable<Bytes> {
  const { Readable, pipeline } = await import("node:stream");
  // Errors are thrown to the reader.
  pipeline(Readable.from(chunks), transform, () => {});
  yield* transform;
}

/** The decoder takes a stream that is cut for a whole one: only of a whole one, it leaves the rest. */
async function* unpackBrotli(
  chunks: AsyncIterable<Bytes>,
  transform: Transform & { readonly bytesWritten: number },
): AsyncIterable<Bytes> {
  let size = 0;
  async function* withRest() {
    for await (const chunk of chunks) {
      size += chunk.length;
      yield chunk;
    }
    yield new Uint8Array(1);
  }
  yield* pipe(withRest(), transform);
  if (transform.bytesWritten !== size) throw new Error("cut off, or too long");
}

/**
 * Undoes zstd (RFC 8878), a frame at a time and at once: the decoder stops after the first one, takes
 * one that is cut for a whole one, and ends the program where a stream is invalid.
 */
async function* unpackZstd(bytes: Bytes, limit: number): AsyncIterable<Bytes> {
  const { zstdDecompressSync } = await import("node:zlib");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length;) {
    const from = at;
    const isSkipped = (view.getUint32(at, true) & ~15) === 0x184d2a50;
    at = isSkipped ? at + 8 + view.getUint32(at + 4, true) : zstdFrameEnd(view, at);
    if (at > bytes.length) throw new Error("cut off");
    if (isSkipped) continue;
    try {
      yield zstdDecompressSync(bytes.subarray(from, at), { maxOutputLength: limit }) as Bytes;
    } catch (error) {
      throw isTooLarge(error) ? new BodyTooLarge(limit) : error;
    }
  }
}

/** The end of a frame. Throws if the bytes do not contain it. */
function zstdFrameEnd(view: DataView, from: number): number {
  const descriptor = view.getUint8(from + 4);
  const isSingle = (descriptor & 32) > 0;
  const sizes = [[0, 1, 2, 4][descriptor & 3]!, [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!];
  let at = from + 5 + (isSingle ? 0 : 1) + sizes[0]! + sizes[1]!;
  for (let isLast = false; !isLast;) {
    const block = view.getUint16(at, true) | view.getUint8(at + 2) << 16;
    isLast = (block & 1) === 1;
    // One byte that is repeated, or as many as the size says.
    at += 3 + ((block & 6) === 2 ? 1 : block >> 3);
  }
  return at + (descriptor & 4);
}

/** Some servers leave out the header that the encoding "deflate" has by its standard. */
function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/** The same as `undo` for bytes in memory, which costs less. */
async function unzip(packed: Bytes, encoding: string, limit: number): Promise<Bytes> {
  if (packed.length === 0) return packed;
  const zlib = await import("node:zlib");
  const how = encoding !== "deflate"
    ? zlib.gunzip
    : hasZlibHeader(packed)
    ? zlib.inflate
    : zlib.inflateRaw;
  return await new Promise((resolve, reject) => {
    how(packed, { maxOutputLength: limit }, (error, bytes) => {
      if (!error) resolve(bytes as Bytes);
      else reject(isTooLarge(error) ? new BodyTooLarge(limit) : new BadEncoding(encoding));
    });
  });
}

function isTooLarge(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
}

async function collect(chunks: AsyncIterable<Bytes>, limit: number): Promise<Bytes> {
  const parts: Bytes[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw new BodyTooLarge(limit);
    parts.push(chunk);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
