/** A module that lies in the program as compressed text: the base64 of brotli. */
export async function unpackModule(packed: string): Promise<Record<string, unknown>> {
  const bytes = new Blob([Uint8Array.fromBase64(packed)]);
  const text = bytes.stream().pipeThrough(new DecompressionStream("brotli"));
  const code = new Blob([await new Response(text).arrayBuffer()], { type: "text/javascript" });
  const url = URL.createObjectURL(code);
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
