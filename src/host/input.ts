/** Asks for a line on the terminal, with the keys to edit it; see `Input`. */
export async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  const [{ default: process }, { createInterface }] = await Promise.all([
    import("node:process"),
    import("node:readline/promises"),
  ]);
  const lines = createInterface({ input: process.stdin, output: process.stderr, history: HISTORY });
  const closed = new AbortController();
  const end = () => closed.abort();
  lines.on("SIGINT", end).on("close", end).on("history", (history) => {
    HISTORY.splice(0, Infinity, ...history);
  });
  try {
    return await lines.question(question, { signal: AbortSignal.any([signal, closed.signal]) });
  } catch {
    return undefined;
  } finally {
    lines.close();
  }
}

/** What was entered before, the last first. */
const HISTORY: string[] = [];

/** Reads the keys of the terminal one by one, which it does not show; see `Input`. */
export function readKeys(onKey: (key: string) => void): () => void {
  // Ctrl-C stays a signal, except on Windows. However the program ends, Deno undoes this.
  Deno.stdin.setRaw(true, { cbreak: Deno.build.os !== "windows" });
  const keys = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => {
    for (let { value, done } = await keys.read(); !done; { value, done } = await keys.read()) {
      // An arrow or a function key is one key, of several characters.
      for (const key of value!.startsWith("\x1b") ? [value!] : value!) onKey(key);
    }
  };
  // A terminal that goes away sends SIGHUP.
  read().catch(() => {});
  return () => Deno.stdin.setRaw(false);
}
