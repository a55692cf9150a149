/**
 * The exports of a module that lies in the program as compressed text: base64 of brotli of the body
 * of a function that returns them. As a function, because importing a module from memory takes
 * Deno twice as long as all else here.
 */
export async function unpackModule(packed: string): Promise<Record<string, unknown>> {
  const { readable, writable } = new DecompressionStream("brotli");
  const writer = writable.getWriter();
  const written = writer.write(Uint8Array.fromBase64(packed)).then(() => writer.close());
  const decoder = new TextDecoder();
  let body = "";
  for await (const part of readable) body += decoder.decode(part, { stream: true });
  await written;
  return new Function(body)();
}
