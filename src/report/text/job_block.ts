import { oneLine } from "../../base/text/printable.ts";
import type { JobFinished, StepResult } from "../../run/event.ts";
import { type FailureEntry, makeFailureEntry, makeStepEntries } from "./failure_list.ts";
import type { JobRounds } from "./render_rounds.ts";
import {
  BELOW_JOB,
  BELOW_NAME,
  belowName,
  INSIDE_STEP,
  jobEnd,
  narrowed,
  renderEcho,
  skippedJob,
  stepLine,
} from "./layout.ts";
import type { ReportOptions, Style } from "../reporter.ts";
import { hasFailed } from "../model/round_tally.ts";
import type { StepTree } from "../model/steps.ts";
import { renderFailures, renderTrouble, type ShownExchange } from "./render_failure.ts";
import { fitSentence, indentedRoom, indentLines, roomOf } from "./lines.ts";
import { formatElapsed } from "../../base/value/duration.ts";

/** The data of a job that a report keeps: unlike its lines, these are not printed at once. */
export interface JobBlock {
  /** Its place in the file, from 0. */
  readonly position: number;
  readonly name: string;
  /** Where the job runs otherwise than just once. */
  readonly rounds?: JobRounds;
  /** Steps that have their line, which numbers the next. */
  lines: number;
  readonly exchange: ShownExchange;
  /** For the list at the end of the report. */
  readonly failures: FailureEntry[];
}

/** A job without results. */
export function makeJobBlock(position: number, name: string, rounds?: JobRounds): JobBlock {
  const block = { position, name, lines: 0, exchange: {}, failures: [] };
  return rounds ? { ...block, rounds } : block;
}

/** Takes a step into account. Where rounds are counted until the job ends it has no lines. */
export function addStep(block: JobBlock, step: StepTree): void {
  if (block.rounds) block.rounds.addStep(step);
  else if (step.result.state === "failed") {
    block.failures.push(...makeStepEntries(step, block.name));
  }
}

/** The lines that a step adds to its job. */
export function stepLines(block: JobBlock, step: StepTree, options: ReportOptions): string[] {
  return block.rounds ? [] : renderStep(block.lines++, step, options, block.exchange);
}

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
export function renderStep(
  number: number,
  { result, inside }: StepTree,
  options: ReportOptions,
  shown: ShownExchange,
): string[] {
  const { style } = options;
  const below = [...renderSnapshot(result, style), ...renderEcho(result.echo, style)];
  if (hasFailed(result)) {
    below.push(...renderTrouble(result, style, belowName(options), shown, `in step ${number + 1}`));
  }
  return [
    stepLine(number, result, options),
    ...inside.length === 0 ? [] : renderInside(inside, options),
    ...indentLines(below, BELOW_NAME),
  ];
}

/** A snapshot that was made or replaced. */
function renderSnapshot(result: StepResult, style: Style): string[] {
  const { snapshot } = result;
  if (!snapshot || !isNewSnapshot(result)) return [];
  return [style.dim(`snapshot ${snapshot.state}: ${oneLine(snapshot.file)}`)];
}

/** Whether a step has made or replaced its snapshot. */
export function isNewSnapshot({ snapshot }: StepResult): boolean {
  return snapshot?.state === "written" || snapshot?.state === "updated";
}

function renderInside(
  steps: readonly StepTree[],
  options: ReportOptions,
): string[] {
  const inner = narrowed(options, INSIDE_STEP);
  const shown = {};
  const lines = steps.flatMap((step, number) => renderStep(number, step, inner, shown));
  return indentLines(lines, INSIDE_STEP);
}

/** The only line of a job that was skipped before any of its steps began; else nothing. */
export function skippedLine(
  { lines, rounds }: JobBlock,
  { name, state, reason }: JobFinished,
  { style }: ReportOptions,
): string | undefined {
  if (state !== "skipped" || lines > 0 || rounds?.hasBegun) return undefined;
  return skippedJob(name, reason, style);
}

/** The lines below the steps of a job. */
export function endLines(block: JobBlock, event: JobFinished, options: ReportOptions): string[] {
  const { style } = options;
  const { name, state, failures, duration, reason } = event;
  const { rounds } = block;
  const isFailing = failures.length > 0;
  if (isFailing) block.failures.push(makeFailureEntry(name, failures));
  if (rounds) block.failures.push(...rounds.failures(block.name));
  const remark = (rounds?.remark() ?? "") + (reason === undefined ? "" : ` (${oneLine(reason)})`);
  return [
    ...rounds?.lines(options) ?? [],
    ...statsLines(event, rounds, options),
    ...isFailing ? failureLines(event, options) : [],
    jobEnd(state, duration, remark, style),
    "",
  ];
}

/** The time that the rounds took, which may be more than their steps show. */
function statsLines(
  { stats }: JobFinished,
  rounds: JobRounds | undefined,
  { style, columns }: ReportOptions,
): string[] {
  if (!stats || !rounds || stats.count < 2) return [];
  const room = indentedRoom(roomOf(columns?.()), BELOW_JOB);
  const { min, mean, p50, p90, p95, p99, max } = stats;
  const times = Object.entries({ min, mean, p50, p90, p95, p99, max });
  const text = times.map(([name, time]) => `${name} ${formatElapsed(time)}`).join(", ");
  return indentLines(fitSentence(`rounds: ${text}`, room).map(style.dim), BELOW_JOB);
}

function failureLines(
  { failures }: JobFinished,
  { style, columns }: ReportOptions,
): string[] {
  const room = indentedRoom(roomOf(columns?.()), BELOW_JOB);
  return indentLines(renderFailures(failures, style, room), BELOW_JOB);
}
