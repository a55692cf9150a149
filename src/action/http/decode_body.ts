import { BODY_LIMIT, BodyTooLarge } from "./send.ts";

/** A body that is not in the encoding that its headers name. */
export class BadEncoding extends Error {
  constructor(readonly encoding: string) {
    super(`not ${encoding}`);
  }
}

type Format = "gzip" | "deflate" | "deflate-raw" | "brotli";

/**
 * Undoes the content encodings of a body, the last first. Undefined where one is unknown.
 * `check` is called again and again and may throw to end it.
 */
export async function decodeBody(
  bytes: Uint8Array<ArrayBuffer>,
  contentEncoding: string,
  check: () => void,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const encodings = contentEncoding.toLowerCase().split(",").map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  let decoded = bytes;
  for (const encoding of encodings.reverse()) {
    if (decoded.length === 0) return decoded;
    const format = formatOf(encoding, decoded);
    if (format === undefined) return undefined;
    decoded = await decompress(decoded, format, encoding, check);
  }
  return decoded;
}

/** One array of bytes from many. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  if (chunks.length === 1) return chunks[0] as Uint8Array<ArrayBuffer>;
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

function formatOf(encoding: string, bytes: Uint8Array): Format | undefined {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "br":
      return "brotli";
    case "deflate":
      return hasZlibHeader(bytes) ? "deflate" : "deflate-raw";
    default:
      return undefined;
  }
}

/** Some servers leave out the header that the encoding "deflate" has by its standard. */
function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

async function decompress(
  bytes: Uint8Array<ArrayBuffer>,
  format: Format,
  encoding: string,
  check: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(
    // The types do not know Brotli yet.
    new DecompressionStream(format as CompressionFormat),
  );
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  while (true) {
    check();
    const { done, value } = await reader.read().catch(() => {
      throw new BadEncoding(encoding);
    });
    if (done) return joinChunks(chunks);
    size += value.length;
    if (size > BODY_LIMIT) {
      await reader.cancel();
      throw new BodyTooLarge();
    }
    chunks.push(value);
  }
}
