import { oneLine } from "../../base/text/printable.ts";
import type { StepResult, StepTree } from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { JobRecord } from "../record.ts";
import {
  BELOW_JOB,
  BELOW_NAME,
  endedJob,
  INSIDE_STEP,
  openJob,
  renderEcho,
  skippedJob,
  stepIcon,
  stepLine,
  stepLineOf,
} from "./layout.ts";
import { asText, indentedRoom, indentLines, roomOf } from "./lines.ts";
import { countOf } from "../../base/text/count_of.ts";
import {
  failedByThemselves,
  type FailedPart,
  failedParts,
  failedRun,
  fullTitle,
} from "../failed_parts.ts";
import type { TextOptions } from "./late_texts.ts";
import type { Shown, Where } from "./render_failure.ts";

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
function renderStep(
  number: number,
  { result, inside }: StepTree,
  options: TextOptions,
  shown: Shown,
  around: Where,
  room = roomOf(options.columns?.()),
): string[] {
  const { style } = options;
  const { snapshot } = result;
  const below = indentedRoom(room, BELOW_NAME);
  const name = `step ${number + 1}`;
  return [
    stepLine(number, result, options),
    ...indentLines(
      inside.flatMap((step, index) =>
        renderStep(index, step, options, shown, [...around, name], indentedRoom(room, INSIDE_STEP))
      ),
      INSIDE_STEP,
    ),
    ...indentLines([
      ...snapshot && isNewSnapshot(result)
        ? [style.dim(`snapshot ${snapshot.state}: ${oneLine(snapshot.file)}`)]
        : [],
      ...renderEcho(result.echo, style),
      ...hasFailed(result)
        ? options.late.all.renderTrouble(result, style, below, shown, [...around, `in ${name}`])
        : [],
    ], BELOW_NAME),
  ];
}

function isNewSnapshot({ snapshot }: StepResult): boolean {
  return snapshot?.state === "written" || snapshot?.state === "updated";
}

/** The only line of a job that was skipped before any of its steps began; else nothing. */
function skippedLine(
  { name, state, reason, steps }: JobRecord,
  { style }: TextOptions,
): string | undefined {
  return state === "skipped" && steps.length === 0 ? skippedJob(name, reason, style) : undefined;
}

/** The line of the last step that is over, and what belongs below it. */
function lastStep(job: JobRecord, options: TextOptions, shown: Shown): string[] {
  const number = job.steps.length - 1;
  return renderStep(number, job.steps[number]!, options, shown, [oneLine(job.name)]);
}

/** The lines below the steps of a job, or all lines of a job that repeats. */
function endLines(
  job: JobRecord,
  options: TextOptions,
  shown: Shown,
  around: Where = [oneLine(job.name)],
): string[] {
  const { tally, rounds = 1, load, failures } = job;
  if (!tally && failures.length === 0) return [];
  const { style, late } = options;
  const { renderFailures, renderLoad, renderRounds, renderRoundTimes } = late.all;
  const all = roomOf(options.columns?.());
  const room = indentedRoom(all, BELOW_JOB);
  if (load?.end && tally) {
    // The thresholds are shown already.
    const others = failures.filter(({ field }) => !field.startsWith("load.expect"));
    const lines = renderLoad(load.end, tally, style, room, shown, around);
    return indentLines([...lines, ...renderFailures(others, style, room)], BELOW_JOB);
  }
  return [
    ...tally ? renderRounds(tally.steps, rounds, options, all, shown, around) : [],
    ...indentLines([
      ...tally ? renderRoundTimes(tally, room).map(style.dim) : [],
      ...renderFailures(failures, style, room),
    ], BELOW_JOB),
  ];
}

/** The line with the outcome of a job. */
function outcomeLine(job: JobRecord, { style, late }: TextOptions): string {
  const { name, state = "failed", allowFailure, duration, reason, tally, rounds = 1, load } = job;
  const remark = (allowFailure ? " (allowed failure)" : "") +
    (tally && !load ? late.all.roundsRemark(rounds, tally) : "") +
    (reason === undefined ? "" : ` (${oneLine(reason)})`);
  return endedJob(allowFailure ? "allowed" : state, name, duration, remark, style);
}

/** The whole block of a job that is over, with its outcome in the first line. */
function jobLines(
  job: JobRecord,
  options: TextOptions,
  shown: Shown,
  workflow: Where = [],
): string[] {
  const skipped = skippedLine(job, options);
  if (skipped !== undefined) return [skipped];
  const around = [...workflow, oneLine(job.name)];
  const steps = job.tally ? [] : job.steps;
  const below = [
    ...steps.flatMap((step, number) => renderStep(number, step, options, shown, around)),
    ...endLines(job, options, shown, around),
  ];
  const outcome = outcomeLine(job, options);
  const { fold } = options;
  if (!fold || job.state === "failed" || below.length === 0) return [outcome, ...below];
  return fold(outcome, asText(below)).trimEnd().split("\n");
}

/** Decides which lines of jobs are written, and when: each function returns those for now. */
export interface JobWriter {
  /** A job has started. */
  start?(job: JobRecord): void;
  /** A step is over whose job runs once: the last one of those in its record. */
  endStep(job: JobRecord, step: StepTree): string[];
  /** A line about a job that is under way. */
  progress?(job: JobRecord, line: string): string[];
  /** A job is over. */
  end(job: JobRecord): string[];
}

/** Each job as one block when it ends. Workflows of a suite refer to what others have `shown`. */
export function writeInBlocks(
  options: TextOptions,
  shown: Shown = new Map(),
  workflow: Where = [],
): JobWriter {
  return {
    endStep: () => [],
    end: (job) => [...jobLines(job, options, shown, workflow), ""],
  };
}

/**
 * Each result at once: the steps of a job that runs alone below its name. Where several jobs run,
 * each step has one line with the name of its job, and a job is written as a whole when it ends.
 */
export function writeAtOnce(options: TextOptions): JobWriter {
  const shown: Shown = new Map();
  const running = new Set<JobRecord>();
  /** The job whose steps are written below its name. */
  let open: JobRecord | undefined;
  /** The jobs of which a step has one line. */
  const listed = new Set<JobRecord>();
  let isAfterLine = false;
  /** Lines of jobs that were skipped while another one was open. */
  const skipped: string[] = [];

  /** An empty line, unless there is one. */
  function separate(): string[] {
    const lines = isAfterLine ? [""] : [];
    isAfterLine = false;
    return lines;
  }
  /** Whether the lines of a job go below its name. */
  function isAlone(job: JobRecord): boolean {
    // Where parts of the log fold, the outcome of a job is known before its first line.
    return running.size < 2 && !listed.has(job) && !options.fold;
  }
  function enter(job: JobRecord): string[] {
    if (open === job) return [];
    open = job;
    return [...separate(), openJob(job.name, options.style)];
  }
  function listLine(job: JobRecord, line: string): string[] {
    const before = open ? ["", ...skipped.splice(0)] : [];
    // What was written below the name of a job is not all of it any more.
    if (open) listed.add(open);
    listed.add(job);
    open = undefined;
    isAfterLine = true;
    return [...before, line];
  }
  return {
    start: (job) => void running.add(job),
    endStep(job, step) {
      return isAlone(job)
        ? [...enter(job), ...lastStep(job, options, shown)]
        : listLine(job, stepLineOf(oneLine(job.name), step.result, options));
    },
    progress(job, line) {
      return isAlone(job)
        ? [...enter(job), ...indentLines([line], BELOW_JOB)]
        : listLine(job, `${oneLine(job.name)}: ${line}`);
    },
    end(job) {
      running.delete(job);
      listed.delete(job);
      if (job === open) {
        open = undefined;
        const end = [...endLines(job, options, shown), outcomeLine(job, options), ""];
        return [...end, ...skipped.splice(0)];
      }
      const lines = [...jobLines(job, options, shown), ""];
      if (!open) return [...separate(), ...lines];
      if (job.state === "skipped") {
        skipped.push(...lines);
        return [];
      }
      listed.add(open);
      open = undefined;
      return ["", ...skipped.splice(0), ...lines];
    },
  };
}

/**
 * Failures alone: those of steps at once, those of rounds when their job ends. `prefix` goes before
 * the names of jobs.
 */
export function writeFailures(
  { style, columns, late }: TextOptions,
  shown: Shown = new Map(),
  prefix = "",
): JobWriter {
  const room = () => indentedRoom(roomOf(columns?.()), 2);
  const trouble = (result: StepResult, title: string) =>
    late.all.renderTrouble(result, style, room(), shown, [`in ${title}`]);
  const block = (title: string, lines: readonly string[]) => [
    `${stepIcon("failed", style)} ${style.bold(title)}`,
    ...indentLines(lines, 2),
    "",
  ];

  const blocksOf = (parts: readonly FailedPart[]) =>
    failedByThemselves(parts.filter(({ allowFailure }) => !allowFailure)).flatMap((part) => {
      const { title, failures, step, others = 0 } = part;
      const lines = step
        ? trouble(step.result, prefix + oneLine(title))
        : late.all.renderFailures(failures, style, room());
      return [
        ...block(prefix + fullTitle(part), lines),
        ...others > 0
          ? block(`${prefix}${oneLine(title)}: ${countOf(others, "other failure")}`, [])
          : [],
      ];
    });
  return {
    endStep: ({ name }, step) => blocksOf(failedRun(step, name)),
    // Its steps have been written, unless it has several rounds.
    end: (job) => blocksOf(failedParts(job).filter(({ step, kind }) => !step || kind)),
  };
}
