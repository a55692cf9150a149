import type { JobFinished, StepResult } from "../run/event.ts";
import { type FailureEntry, makeFailureEntry } from "./failure_list.ts";
import { BELOW_JOB, jobEnd, jobHeader, skippedJob } from "./layout.ts";
import { renderFailure } from "./render_failure.ts";
import { describeKind, renderRounds, stepsInOrder, titleOf } from "./render_rounds.ts";
import { renderStep } from "./render_step.ts";
import type { ReportOptions } from "./reporter.ts";
import { indentedRoom, roomOf } from "./room.ts";
import {
  addToTally,
  makeRoundTally,
  type RoundTally,
  type StepTallies,
  type StepTally,
} from "./round_tally.ts";
import type { StepTree } from "./step_trees.ts";
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
export function stepLines(block: JobBlock, step: StepTree, options: ReportOptions): string[] {
  if (block.repeat) {
    addToTally(block.repeat.tally, step);
    return [];
  }
  block.failures.push(...failureOf(step, block.name));
  return [...openLines(block, options), ...renderStep(block.lines++, step, options)];
}

/** The entry of a step that failed, with what failed inside of it. */
function failureOf({ result, inside }: StepTree, around: string): FailureEntry[] {
  if (result.state !== "failed") return [];
  const entry = makeFailureEntry(`${around} › ${result.name}`, result.failures);
  return [{ ...entry, inside: inside.flatMap((step) => failuresInside(step)) }];
}

/** What failed in an embedded job, by the names of the steps from there on. */
function failuresInside({ result, inside }: StepTree, around = ""): FailureEntry[] {
  if (result.state !== "failed") return [];
  const title = `${around}› ${result.name}`;
  const inner = inside.flatMap((step) => failuresInside(step, `${title} `));
  return isToldInside(result, inner) ? inner : [...inner, makeFailureEntry(title, result.failures)];
}

/** Whether a step failed by those inside of it and by nothing else. */
function isToldInside({ failures }: StepResult, inner: readonly FailureEntry[]): boolean {
  return inner.length > 0 && failures.every(({ kind }) => kind === "embedded");
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
  const { tally, rounds } = repeat;
  failures.push(...failuresOfRounds(tally, name));
  return renderRounds(tally, rounds, options);
}

function failuresOfRounds(tally: StepTallies, around: string): FailureEntry[] {
  return stepsInOrder(tally).flatMap((step) => {
    const entries = kindsOf(step, `${around} › ${titleOf(step)}`);
    const inside = roundsInside(step.inside);
    const [first, ...others] = entries;
    return first ? [{ ...first, inside }, ...others] : [];
  });
}

function roundsInside(tally: StepTallies, around = ""): FailureEntry[] {
  return stepsInOrder(tally).flatMap((step) => {
    const title = `${around}› ${titleOf(step)}`;
    const inner = roundsInside(step.inside, `${title} `);
    const own = kindsOf(step, title, (first) => !isToldInside(first, inner));
    return [...inner, ...own];
  });
}

/** An entry for each way in which a step failed. */
function kindsOf(
  { kinds }: StepTally,
  title: string,
  isTold: (first: StepResult) => boolean = () => true,
): FailureEntry[] {
  return [...kinds.values()].filter(({ first }) => isTold(first))
    .map((kind) => makeFailureEntry(title, kind.first.failures, `${describeKind(kind)}: `));
}

function reasonRemark(reason: string | undefined): string {
  return reason === undefined ? "" : ` (${oneLine(reason)})`;
}

function roundsRemark({ repeat }: JobBlock): string {
  if (!repeat) return "";
  const { rounds, tally } = repeat;
  const { passed, failed, skipped } = tally.rounds;
  const parts = [countOf(rounds, "round")];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} cut short`);
  const rest = rounds - passed - failed - skipped;
  if (rest > 0) parts.push(`${rest} not run`);
  return ` (${parts.join(", ")})`;
}
