import { isStream, type RequestBody } from "../request_body.ts";
import type { Compression } from "./upload.ts";

/** The best that brotli can do takes longer than it saves. */
const BROTLI_QUALITY = 5;

/** A body that is compressed: in memory, or, where it is read from files, while it is sent. */
export async function compressBody(body: RequestBody, how: Compression): Promise<RequestBody> {
  const zlib = await import("node:zlib");
  const brotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
  const compressAll = (bytes: Uint8Array): Uint8Array =>
    how === "gzip"
      ? zlib.gzipSync(bytes)
      : how === "deflate"
      ? zlib.deflateSync(bytes)
      : zlib.brotliCompressSync(bytes, brotli);
  const { content } = body;
  if (!isStream(content)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    return { ...body, content: compressAll(bytes), contentEncoding: how };
  }
  const { Readable, pipeline } = await import("node:stream");
  const open = (): AsyncIterable<Uint8Array> => {
    const transform = how === "gzip"
      ? zlib.createGzip()
      : how === "deflate"
      ? zlib.createDeflate()
      : zlib.createBrotliCompress(brotli);
    // Errors are thrown to the reader.
    pipeline(Readable.from(content.open()), transform, () => {});
    return transform;
  };
  return { ...body, content: { length: undefined, open }, contentEncoding: how };
}
