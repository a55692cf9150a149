import type { JobFinished, StepFinished } from "../run/event.ts";
import { type FailureEntry, makeFailureEntry } from "./failure_list.ts";
import { BELOW_JOB, jobEnd, jobHeader, skippedJob } from "./layout.ts";
import { renderFailure } from "./render_failure.ts";
import { describeKind, renderRounds, stepsInOrder } from "./render_rounds.ts";
import { renderStep } from "./render_step.ts";
import type { ReportOptions } from "./reporter.ts";
import { indentedRoom, roomOf } from "./room.ts";
import { addToTally, makeRoundTally, type RoundTally } from "./round_tally.ts";
import { countOf, indentLines, oneLine } from "./text_lines.ts";

/** What a report keeps of a job: its lines go out as they come, what is here does not. */
export interface JobBlock {
  /** Its place in the file, from 0. */
  readonly position: number;
  readonly name: string;
  /** How often the job runs, and what came of it, where that is not just once. */
  readonly repeat?: { readonly rounds: number; readonly tally: RoundTally };
  /** Whether the name of the job stands in the report. */
  isOpen: boolean;
  /** Steps that have their line, which numbers the next. */
  lines: number;
  /** For the list at the end of the report. */
  readonly failures: FailureEntry[];
}

/** A job of which nothing has been told yet. */
export function makeJobBlock(position: number, name: string, rounds = 1): JobBlock {
  const block = { position, name, isOpen: false, lines: 0, failures: [] };
  return rounds === 1 ? block : { ...block, repeat: { rounds, tally: makeRoundTally() } };
}

/** The name above the steps of a job, where it does not stand there already. */
export function openLines(block: JobBlock, { style }: ReportOptions): string[] {
  if (block.isOpen) return [];
  block.isOpen = true;
  return [jobHeader(block.name, style)];
}

/** The lines that a step adds to its job: none where rounds are counted until the job ends. */
export function stepLines(block: JobBlock, event: StepFinished, options: ReportOptions): string[] {
  if (block.repeat) {
    addToTally(block.repeat.tally, event);
    return [];
  }
  const { result } = event;
  if (result.state === "failed") {
    block.failures.push(makeFailureEntry(`${block.name} › ${result.name}`, result.failures));
  }
  return [...openLines(block, options), ...renderStep(block.lines++, result, options)];
}

/** The last lines of a job; its only one where it was skipped. */
export function endLines(block: JobBlock, event: JobFinished, options: ReportOptions): string[] {
  const { style } = options;
  const { state, failures, duration, reason } = event;
  const room = indentedRoom(roomOf(options.columns?.()), BELOW_JOB);
  const hasBegun = block.isOpen || (block.repeat?.tally.steps.size ?? 0) > 0;
  if (state === "skipped" && !hasBegun) return [skippedJob(event.name, reason, style), ""];
  if (failures.length > 0) block.failures.push(makeFailureEntry(event.name, failures));
  return [
    ...openLines(block, options),
    ...roundLines(block, options),
    ...indentLines(failures.flatMap((failure) => renderFailure(failure, style, room)), BELOW_JOB),
    jobEnd(state, duration, roundsRemark(block) + reasonRemark(reason), style),
    "",
  ];
}

function roundLines({ name, repeat, failures }: JobBlock, options: ReportOptions): string[] {
  if (!repeat) return [];
  for (const step of stepsInOrder(repeat.tally)) {
    for (const kind of step.kinds.values()) {
      const title = `${name} › ${step.name}`;
      failures.push(makeFailureEntry(title, kind.first.failures, `${describeKind(kind)}: `));
    }
  }
  return renderRounds(repeat.tally, repeat.rounds, options);
}

function reasonRemark(reason: string | undefined): string {
  return reason === undefined ? "" : ` (${oneLine(reason)})`;
}

function roundsRemark({ repeat }: JobBlock): string {
  if (!repeat) return "";
  const { rounds, tally } = repeat;
  const { passed, failed } = tally.rounds;
  const parts = [countOf(rounds, "round")];
  if (failed > 0) parts.push(`${failed} failed`);
  if (passed + failed < rounds) parts.push(`${rounds - passed - failed} not run`);
  return ` (${parts.join(", ")})`;
}
