import { BODY_LIMIT, BodyTooLarge } from "../transport/send.ts";

/** A body that is not in the encoding that its headers name. */
export class BadEncoding extends Error {
  constructor(readonly encoding: string) {
    super(`not ${encoding}`);
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Undoes the content encodings of a body, the last first. Undefined where one is unknown. */
export async function decodeBody(
  bytes: Bytes,
  contentEncoding: string,
): Promise<Bytes | undefined> {
  const encodings = contentEncoding.toLowerCase().split(",").map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  let decoded = bytes;
  for (const encoding of encodings.reverse()) {
    if (decoded.length === 0) return decoded;
    const unpack = unpackerFor(encoding, decoded);
    if (unpack === undefined) return undefined;
    try {
      decoded = await unpack(decoded);
    } catch (error) {
      throw error instanceof BodyTooLarge ? error : new BadEncoding(encoding);
    }
  }
  return decoded;
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

/** There are two ways because each lets data that was cut short pass in the other's formats. */
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
  // The types do not know of this format.
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
