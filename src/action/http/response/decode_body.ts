import { BODY_LIMIT, BodyTooLarge, type Bytes, joinChunks } from "../transport/body_chunks.ts";

/** A body that is not in the encoding that its headers declare. */
export class BadEncoding extends Error {
  constructor(readonly encoding: string) {
    super(`not ${encoding}`);
  }
}

/** What some servers name although nothing was encoded. */
const NO_ENCODING: ReadonlySet<string> = new Set(["", "identity", "none"]);

/**
 * Undoes the content encodings of a body, the last first. Bytes in an encoding that is not known
 * stay as they came: many a server names a charset there.
 */
export async function decodeBody(bytes: Bytes, contentEncoding: string): Promise<Bytes> {
  const encodings = contentEncoding.toLowerCase().split(",").map((name) => name.trim())
    .filter((name) => !NO_ENCODING.has(name));
  let decoded = bytes;
  for (const encoding of encodings.reverse()) {
    if (decoded.length === 0) return decoded;
    const unpack = unpackerFor(encoding, decoded);
    if (unpack === undefined) return decoded;
    try {
      decoded = await unpack(decoded);
    } catch (error) {
      throw error instanceof BodyTooLarge ? error : new BadEncoding(encoding);
    }
  }
  return decoded;
}

/** Each of the two decoders accepts truncated data in the formats of the other. */
function unpackerFor(
  encoding: string,
  bytes: Bytes,
): ((bytes: Bytes) => Promise<Bytes>) | undefined {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return (packed) => unzip(packed, "gunzip");
    case "deflate":
      return (packed) => unzip(packed, hasZlibHeader(bytes) ? "inflate" : "inflateRaw");
    case "br":
      return unpackBrotli;
    default:
      return undefined;
  }
}

/** Some servers leave out the header that the encoding "deflate" has by its standard. */
function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

async function unzip(packed: Bytes, how: "gunzip" | "inflate" | "inflateRaw"): Promise<Bytes> {
  const zlib = await import("node:zlib");
  return await new Promise((resolve, reject) => {
    zlib[how](packed, { maxOutputLength: BODY_LIMIT }, (error, bytes) => {
      if (!error) resolve(bytes as Bytes);
      else {reject(
          "code" in error && error.code === "ERR_BUFFER_TOO_LARGE" ? new BodyTooLarge() : error,
        );}
    });
  });
}

async function unpackBrotli(packed: Bytes): Promise<Bytes> {
  // The types do not have this format.
  const format = new DecompressionStream("brotli" as CompressionFormat);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of new Blob([packed]).stream().pipeThrough(format)) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return joinChunks(chunks);
}
