import { mergePieces } from "./merge_pieces.ts";
import { mergeShards, mergeSuitePieces } from "./merge_suite.ts";
import type { MergedPieces, PieceFile } from "./piece_events.ts";
import { isSuiteRunFile, type NamedText } from "./read_json_file.ts";
import { readRunFile } from "./run_file.ts";
import type { Opening } from "./seal.ts";
import { tallyRounds } from "../run/round_tally.ts";
import { readSuiteRunFile } from "./suite_run_file.ts";

/** What several processes did, as if one had done it. */
export interface Merged extends MergedPieces {
  readonly isSuite: boolean;
}

/**
 * Merges the pieces of the run of a run file or, without one, the shards of a suite. Without
 * `opening`, sealed vars are nil: only an expectation about rounds may read them.
 */
export async function mergeFiles(
  files: readonly PieceFile[],
  runFile?: NamedText,
  opening?: Opening,
): Promise<Merged> {
  if (!runFile) return { isSuite: true, ...withTallies(mergeShards(files)) };
  if (isSuiteRunFile(runFile.text)) {
    const suite = await readSuiteRunFile(runFile);
    return { isSuite: true, ...withTallies(mergeSuitePieces(suite, files)) };
  }
  const run = await readRunFile(runFile, opening);
  return { isSuite: false, ...withTallies(mergePieces(run, files, opening?.secrets)) };
}

function withTallies(merged: MergedPieces): MergedPieces {
  return { ...merged, events: tallyRounds(merged.events) };
}
