import type { Transform } from "node:stream";
import { BadEncoding, encodingsIn, hasZlibHeader } from "./decode_body.ts";

/** Undoes the content encodings of a body as it comes; like `decodeBody`. */
export function decodeStream(
  chunks: AsyncIterable<Uint8Array>,
  contentEncoding: string,
): AsyncIterable<Uint8Array> {
  let decoded = chunks;
  for (const encoding of encodingsIn(contentEncoding).reverse()) {
    decoded = undo(encoding, decoded);
  }
  return decoded;
}

async function* undo(
  encoding: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done) return;
  const rest = restOf(first.value, source);
  const transform = await transformFor(encoding, first.value);
  if (!transform) return yield* rest;
  const { Readable, pipeline } = await import("node:stream");
  const input = Readable.from(rest);
  // Errors are thrown to the reader.
  pipeline(input, transform, () => {});
  try {
    yield* transform;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    // Not a connection that ended.
    throw /^Z_|BROTLI|ERR_/.test(String(code)) && !input.errored
      ? new BadEncoding(encoding)
      : error;
  }
}

async function* restOf(first: Uint8Array, source: AsyncIterator<Uint8Array>) {
  yield first;
  for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
}

async function transformFor(
  encoding: string,
  first: Uint8Array,
): Promise<(Transform & AsyncIterable<Uint8Array>) | undefined> {
  const zlib = await import("node:zlib");
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      return hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}
