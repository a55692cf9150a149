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
