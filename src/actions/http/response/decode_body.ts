import { BodyTooLarge, type Bytes } from "../transport/model.ts";

/** A body that is not in the encoding that its headers declare. */
export class BadEncoding extends Error {
  constructor(readonly encoding: string) {
    super(`not ${encoding}`);
  }
}

/** Names that some servers send although nothing was encoded. */
const NO_ENCODING: ReadonlySet<string> = new Set(["", "identity", "none"]);

/**
 * Undoes the content encodings of a body, the last first. Bytes in an encoding that is not known
 * stay as they came: many a server names a charset there.
 */
export async function decodeBody(
  bytes: Bytes,
  contentEncoding: string,
  limit: number,
): Promise<Bytes> {
  let decoded = bytes;
  for (const encoding of encodingsIn(contentEncoding).reverse()) {
    if (decoded.length === 0) return decoded;
    const unpack = unpackerFor(encoding, decoded, limit);
    if (unpack === undefined) return decoded;
    try {
      decoded = await unpack(decoded);
    } catch (error) {
      throw error instanceof BodyTooLarge ? error : new BadEncoding(encoding);
    }
  }
  return decoded;
}

/** The content encodings in a header, in the order in which they were applied. */
export function encodingsIn(contentEncoding: string): string[] {
  return contentEncoding.toLowerCase().split(",").map((name) => name.trim())
    .filter((name) => !NO_ENCODING.has(name));
}

/** Each of the two decoders accepts truncated data in the formats of the other. */
function unpackerFor(
  encoding: string,
  bytes: Bytes,
  limit: number,
): ((bytes: Bytes) => Promise<Bytes>) | undefined {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return (packed) => unzip(packed, "gunzip", limit);
    case "deflate":
      return (packed) => unzip(packed, hasZlibHeader(bytes) ? "inflate" : "inflateRaw", limit);
    case "br":
      return (packed) => unpackBrotli(packed, limit);
    default:
      return undefined;
  }
}

/** Some servers leave out the header that the encoding "deflate" has by its standard. */
export function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

async function unzip(
  packed: Bytes,
  how: "gunzip" | "inflate" | "inflateRaw",
  limit: number,
): Promise<Bytes> {
  const zlib = await import("node:zlib");
  return await new Promise((resolve, reject) => {
    zlib[how](packed, { maxOutputLength: limit }, (error, bytes) => {
      if (!error) resolve(bytes as Bytes);
      else {reject(
          "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
            ? new BodyTooLarge(limit)
            : error,
        );}
    });
  });
}

async function unpackBrotli(packed: Bytes, limit: number): Promise<Bytes> {
  // The types do not have this format.
  const format = new DecompressionStream("brotli" as CompressionFormat);
  const chunks: Bytes[] = [];
  let size = 0;
  for await (const chunk of new Blob([packed]).stream().pipeThrough(format)) {
    size += chunk.length;
    if (size > limit) throw new BodyTooLarge(limit);
    chunks.push(chunk as Bytes);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
