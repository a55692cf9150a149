import { machineName } from "../host/machine_name.ts";
import { Draws } from "../expr/draws.ts";
import { type OpenedPiece, openPiece } from "../spread/open_piece.ts";
import { makeSeal } from "../spread/seal.ts";
import type { Plan } from "../plan/plan.ts";
import { UsageError } from "../base/errors.ts";
import type { Masker } from "../secrets/masker.ts";

/** What makes a process a part of a run on several machines. */
export interface Given {
  /** The text that `prepareRun` made. Its `vars` and jobs apply, not those of the plan. */
  readonly runFile: string;
  /** The jobs that run, by id, name or a pattern. What they need is not run. */
  readonly only?: readonly string[];
  /** Runs the `finally` of the workflow instead, once all else is over. */
  readonly finally?: boolean;
  /** One share of the rounds of a repeated job: `2/8`. */
  readonly rounds?: string;
  /** The texts of the outputs files of the jobs before. */
  readonly inputs?: readonly string[];
  /** The key that seals secrets: at least 32 bytes, the same for all processes of the run. */
  readonly key?: string;
  /** When it begins: milliseconds since 1970. */
  readonly startAt?: number;
  /** Takes the text of the outputs file, before `passed` resolves. */
  readonly onOutputs?: (text: string) => void;
}

/** Finds what a process has to run. Throws RunnerError and UsageError. */
export async function openGiven(
  { workflow }: Plan,
  { runFile, only = [], finally: isFinally = false, rounds, inputs = [], key, startAt }: Given,
  secrets: Masker,
): Promise<OpenedPiece> {
  if (only.length === 0 && !isFinally) {
    throw new UsageError("given.only names no job", "name the jobs that this process runs");
  }
  return await openPiece(workflow, {
    runFile: { file: "the run file", text: runFile },
    inputs: inputs.map((text, at) => ({ file: `input ${at + 1}`, text })),
    choice: { only, isFinally, rounds },
    draws: new Draws(undefined),
    created: Date.now(),
    host: machineName(),
    startAt,
    seal: key === undefined ? undefined : await makeSeal(key),
    secrets,
  });
}
