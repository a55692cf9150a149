import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import type { JobFinished, StepResult } from "../../run/event.ts";
import { hasFailed, type RoundTally } from "../model/round_tally.ts";
import type { StepTree } from "../model/steps.ts";
import type { ReportOptions } from "../reporter.ts";
import type { FailureEntry } from "./failure_list.ts";
import {
  BELOW_JOB,
  BELOW_NAME,
  INSIDE_STEP,
  jobEnd,
  renderEcho,
  skippedJob,
  stepLine,
} from "./layout.ts";
import { fitSentence, indentedRoom, indentLines, roomOf } from "./lines.ts";
import { renderFailures, renderTrouble, type ShownExchange } from "./render_failure.ts";
import { renderRounds, roundsRemark } from "./render_rounds.ts";

/** What a report knows of a job. */
export interface JobBlock {
  /** Its position in the file, from 0. */
  readonly position: number;
  name: string;
  rounds: number;
  /** The condition on its rounds, if it has one. */
  expect?: string;
  /** The results of a job that repeats, which are shown when it ends. */
  tally?: RoundTally;
  /** The number of steps that have a line. */
  lines: number;
  readonly exchange: ShownExchange;
  /** For the list at the end of the report. */
  readonly failures: FailureEntry[];
}

/** The next line of a job, with what belongs below it. */
export function stepLines(block: JobBlock, step: StepTree, options: ReportOptions): string[] {
  return renderStep(block.lines++, step, options, block.exchange);
}

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
export function renderStep(
  number: number,
  { result, inside }: StepTree,
  options: ReportOptions,
  shown: ShownExchange,
  room = roomOf(options.columns?.()),
): string[] {
  const { style } = options;
  const { snapshot } = result;
  const below = indentedRoom(room, BELOW_NAME);
  const shownInside = {};
  return [
    stepLine(number, result, options),
    ...indentLines(
      inside.flatMap((step, index) =>
        renderStep(index, step, options, shownInside, indentedRoom(room, INSIDE_STEP))
      ),
      INSIDE_STEP,
    ),
    ...indentLines([
      ...snapshot && isNewSnapshot(result)
        ? [style.dim(`snapshot ${snapshot.state}: ${oneLine(snapshot.file)}`)]
        : [],
      ...renderEcho(result.echo, style),
      ...hasFailed(result)
        ? renderTrouble(result, style, below, shown, `in step ${number + 1}`)
        : [],
    ], BELOW_NAME),
  ];
}

/** Whether a step has more to show than its line. */
export function hasDetails({ result, inside }: StepTree): boolean {
  return hasFailed(result) || (result.echo ?? "").trim() !== "" || inside.length > 0 ||
    isNewSnapshot(result);
}

function isNewSnapshot({ snapshot }: StepResult): boolean {
  return snapshot?.state === "written" || snapshot?.state === "updated";
}

/** The only line of a job that was skipped before any of its steps began; else nothing. */
export function skippedLine(
  { lines, tally }: JobBlock,
  { name, state, reason }: JobFinished,
  { style }: ReportOptions,
): string | undefined {
  if (state !== "skipped" || lines > 0 || tally && tally.steps.size > 0) return undefined;
  return skippedJob(name, reason, style);
}

/** The lines below the steps of a job, or all lines of a job that repeats. */
export function endLines(
  { tally, rounds, expect }: JobBlock,
  { state, failures, duration, reason, stats }: JobFinished,
  options: ReportOptions,
): string[] {
  const { style } = options;
  const room = indentedRoom(roomOf(options.columns?.()), BELOW_JOB);
  const lines = tally ? renderRounds(tally, rounds, options) : [];
  if (stats && tally && stats.count > 1) {
    const { min, mean, p50, p90, p95, p99, max } = stats;
    const times = Object.entries({ min, mean, p50, p90, p95, p99, max })
      .map(([name, time]) => `${name} ${formatElapsed(time)}`);
    const sentence = fitSentence(`rounds: ${times.join(", ")}`, room);
    lines.push(...indentLines(sentence.map(style.dim), BELOW_JOB));
  }
  lines.push(...indentLines(renderFailures(failures, style, room), BELOW_JOB));
  const remark = (tally ? roundsRemark(rounds, tally, expect !== undefined) : "") +
    (reason === undefined ? "" : ` (${oneLine(reason)})`);
  return [...lines, jobEnd(state, duration, remark, style), ""];
}
