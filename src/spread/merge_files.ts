import { loadFunctions } from "../expr/functions/registry.ts";
import { parseExpression } from "../expr/parse_expression.ts";
import { mergePieces } from "./merge_pieces.ts";
import { mergeShards, mergeSuitePieces } from "./merge_suite.ts";
import type { MergedPieces, PieceFile } from "./piece_events.ts";
import { isSuiteRunFile, type NamedText } from "./read_json_file.ts";
import { readRunFile } from "./run_file.ts";
import type { Opening } from "./seal.ts";
import type { RunEvent, RunStarted } from "../run/event.ts";
import { tallyRounds } from "../run/round_tally.ts";
import { wholeRun } from "./whole_run.ts";
import { readSuiteRunFile } from "./suite_run_file.ts";

/** What several processes did, as if one had done it. */
export interface Merged extends MergedPieces {
  readonly isSuite: boolean;
}

/**
 * Merges the pieces of the run of a run file or, without one, the shards of a suite; the events of
 * one run are that run. Without
 * `opening`, sealed vars are nil: only an expectation about rounds may read them.
 */
export async function mergeFiles(
  files: readonly PieceFile[],
  runFile?: NamedText,
  opening?: Opening,
): Promise<Merged> {
  const complete = (merged: MergedPieces): MergedPieces => {
    return { ...merged, events: withOrigin(tallyRounds(merged.events), files) };
  };
  const whole = !runFile && files.length === 1 ? wholeRun(files[0]!) : undefined;
  if (whole) return { isSuite: false, ...whole, events: tallyRounds(whole.events) };
  if (!runFile) return { isSuite: true, ...complete(mergeShards(files)) };
  if (isSuiteRunFile(runFile.text)) {
    const suite = await readSuiteRunFile(runFile);
    return { isSuite: true, ...complete(mergeSuitePieces(suite, files)) };
  }
  const run = await readRunFile(runFile, opening);
  const expressions = run.jobs.flatMap(({ expect = [], allowFailure }) =>
    [...expect, ...allowFailure === undefined ? [] : [allowFailure]].map(parseExpression)
  );
  await loadFunctions(expressions.map(({ node }) => node));
  return { isSuite: false, ...complete(mergePieces(run, files, opening?.secrets)) };
}

/** The events with what the first piece says that all have in common: commit, build and vars. */
function* withOrigin(
  events: Iterable<RunEvent>,
  [file]: readonly PieceFile[],
): Iterable<RunEvent> {
  const [first] = file?.events() ?? [];
  for (const event of events) {
    if (event.type === "suite_started" && first?.type === event.type) {
      yield { ...event, ...sharedOrigin(first) };
    } else if (event.type === "run_started" && first?.type === event.type) {
      yield { ...event, ...sharedOrigin(first), ...first.vars ? { vars: first.vars } : {} };
    } else yield event;
  }
}

function sharedOrigin(
  { origin: { commit, branch, ci } = {} }: Pick<RunStarted, "origin">,
): Pick<RunStarted, "origin"> {
  const origin = { ...commit && { commit }, ...branch && { branch }, ...ci && { ci } };
  return Object.keys(origin).length === 0 ? {} : { origin };
}
