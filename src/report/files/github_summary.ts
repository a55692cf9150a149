import { renderMarkdown } from "./markdown.ts";
import type { RunRecord } from "./run_record.ts";

/** GitHub drops a summary of more than 1 MiB as a whole; other tools may write to it, too. */
const MOST_BYTES = 900_000;

/** The summary for the page of a build on GitHub, cut where it would be too long. */
export function* renderGithubSummary(record: RunRecord): Iterable<string> {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const piece of renderMarkdown(record)) {
    bytes += encoder.encode(piece).length;
    if (bytes > MOST_BYTES) {
      yield "\n… (the rest is in the log)\n";
      return;
    }
    yield piece;
  }
  yield "\n";
}
