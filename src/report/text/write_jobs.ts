import { oneLine } from "../../base/text/printable.ts";
import type { StepResult, StepTree } from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { JobRecord, RunRecord } from "../record.ts";
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
      ...result.allowFailure
        ? options.late.all.renderAllowed(result, style, below)
        : hasFailed(result)
        ? options.late.all.renderTrouble(result, style, below, shown, [...around, `in ${name}`])
        : [],
    ], BELOW_NAME),
  ];
}

function isNewSnapshot({ snapshot }: StepResult): boolean {
  return snapshot?.state === "written" || snapshot?.state === "updated";
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

/** The lines of a job that is over: its name, its steps and its outcome. */
function jobLines(
  job: JobRecord,
  options: TextOptions,
  shown: Shown,
  workflow: Where = [],
): string[] {
  const { name, state, reason, steps } = job;
  const { style, fold } = options;
  if (state === "skipped" && steps.length === 0) return [skippedJob(name, reason, style)];
  const around = [...workflow, oneLine(name)];
  const below = [
    ...(job.tally ? [] : steps).flatMap((step, number) =>
      renderStep(number, step, options, shown, around)
    ),
    ...endLines(job, options, shown, around),
  ];
  const outcome = outcomeLine(job, options);
  if (below.length === 0) return [outcome];
  if (!fold || state === "failed") return [openJob(name, style), ...below, outcome];
  return fold(outcome, asText(below)).trimEnd().split("\n");
}

/** Decides which lines of jobs are written, and when: each function returns those for now. */
export interface JobWriter {
  /** A job has started. */
  start?(job: JobRecord, run: RunRecord): void;
  /** A step is over whose job runs once: the last one of those in its record. */
  endStep(job: JobRecord, step: StepTree): string[];
  /** A job is under way: what to write below its name, or beside the blocks of others. */
  progress?(job: JobRecord, below: string, beside: string): string[];
  /** A job is over. */
  end(job: JobRecord): string[];
}

/** A workflow among others. */
interface WorkflowOfSuite {
  /** What the others have shown, to which it refers. */
  readonly shown: Shown;
  readonly workflow: Where;
  /** Whether a job that passed is one line. */
  readonly isBrief: boolean;
}

/** Each job as one block when it ends. */
export function writeInBlocks(
  options: TextOptions,
  { shown, workflow, isBrief }: WorkflowOfSuite = {
    shown: new Map(),
    workflow: [],
    isBrief: false,
  },
): JobWriter {
  return {
    endStep: () => [],
    end: (job) =>
      isBrief && job.state === "passed"
        ? [outcomeLine(job, options), ""]
        : [...jobLines(job, options, shown, workflow), ""],
  };
}

/** The same blocks, of which that of a job that runs alone is written line by line. */
export function writeAtOnce(options: TextOptions): JobWriter {
  const shown: Shown = new Map();
  /** The job that runs alone. */
  let alone: JobRecord | undefined;
  /** Whether its name is written. */
  let isOpen = false;
  let isAfterLine = false;
  /** The blocks of jobs that were over, without a run, while it was open. */
  const held: string[] = [];

  /** An empty line, unless there is one. */
  function separate(): string[] {
    const lines = isAfterLine ? [""] : [];
    isAfterLine = false;
    return lines;
  }
  function enter({ name }: JobRecord): string[] {
    if (isOpen) return [];
    isOpen = true;
    return [...separate(), openJob(name, options.style)];
  }
  return {
    start(job, { jobs }) {
      // Where parts of the log fold, the outcome of a job is known before its first line.
      if (!isOpen && !options.fold) alone = runsAlone(job, jobs) ? job : undefined;
    },
    endStep(job) {
      if (job !== alone) return [];
      const number = job.steps.length - 1;
      const step = job.steps[number]!;
      return [...enter(job), ...renderStep(number, step, options, shown, [oneLine(job.name)])];
    },
    progress(job, below, beside) {
      if (job === alone) return [...enter(job), ...indentLines([below], BELOW_JOB)];
      isAfterLine = true;
      return [beside];
    },
    end(job) {
      if (!isOpen) return [...separate(), ...jobLines(job, options, shown), ""];
      if (job !== alone) {
        held.push(...jobLines(job, options, shown), "");
        return [];
      }
      isOpen = false;
      const end = [...endLines(job, options, shown), outcomeLine(job, options), ""];
      return [...end, ...held.splice(0)];
    },
  };
}

/** Whether all other jobs are over, or wait for this one. */
function runsAlone(job: JobRecord, jobs: readonly JobRecord[]): boolean {
  const others = jobs.filter((other) => other !== job && other.state === undefined);
  if (others.some(({ started }) => started !== undefined)) return false;
  const waiting = new Map<string, JobRecord[]>();
  for (const other of others) {
    for (const need of other.needs) waiting.getOrInsertComputed(need, () => []).push(other);
  }
  const later = new Set([job]);
  for (const { id } of later) waiting.get(id)?.forEach((other) => later.add(other));
  return later.size > others.length;
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
