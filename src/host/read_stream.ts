/** More than this is read of nothing: it would not fit into memory as text. */
const MAX_MEGABYTES = 256;

/**
 * The bytes of what may not end or not fit into memory: a pipe, a device, a large file. Throws
 * an error if there are too many.
 */
export async function readStream(path: string | URL): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.readable.values({ preventCancel: true })) {
    size += chunk.length;
    if (size > MAX_MEGABYTES * 1024 * 1024) {
      throw new Error(`it is larger than ${MAX_MEGABYTES} MB`);
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
