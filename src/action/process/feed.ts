/** Writes all of a text to a command, which need not read it. */
export async function feed(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // The command has ended, or has closed its input, before it read everything.
  }
}
