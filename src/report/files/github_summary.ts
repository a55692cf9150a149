import { cutPieces, markdownPieces } from "./markdown.ts";
import type { RunRecord } from "./run_record.ts";

/** GitHub drops what steps of a build tell beyond 1 MiB each, and a step may run more than this. */
const MOST_BYTES = 250_000;

/** The summary for the page of a build on GitHub, cut where it would be too long. */
export function* renderGithubSummary(records: readonly RunRecord[]): Iterable<string> {
  yield* cutPieces(markdownPieces(records), MOST_BYTES);
  yield "\n";
}
