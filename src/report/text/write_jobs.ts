import { oneLine } from "../../base/text/printable.ts";
import type {
  JobFinished,
  LoadEnded,
  RoundsTallied,
  StepResult,
  StepTally,
  StepTree,
} from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { ReportOptions } from "../reporter.ts";
import {
  BELOW_JOB,
  BELOW_NAME,
  INSIDE_STEP,
  jobEnd,
  jobHeader,
  renderEcho,
  skippedJob,
  stepIcon,
  stepLine,
  stepLineOf,
  stepTitle,
} from "./layout.ts";
import { countOf, fitSentence, indentedRoom, indentLines, roomOf } from "./lines.ts";
import {
  type FailureEntry,
  isOnlyEmbedded,
  renderFailures,
  renderTrouble,
  type ShownExchange,
} from "./render_failure.ts";
import { renderLoad } from "./render_load.ts";
import { describeKind, failedKinds, renderRounds, roundsRemark, titleOf } from "./render_rounds.ts";
import { formatElapsed } from "../../base/value/duration.ts";

/** What a report knows of a job. */
export interface JobBlock {
  /** Its position in the file, from 0. */
  readonly position: number;
  name: string;
  rounds: number;
  /** The condition on its rounds, if it has one. */
  expect?: string;
  /** The results of a job that repeats, which are shown when it ends. */
  tally?: RoundsTallied;
  /** What a load job came to. */
  load?: LoadEnded;
  /** The number of steps that have a line. */
  lines: number;
  readonly exchange: ShownExchange;
  /** For the list at the end of the report. */
  readonly failures: FailureEntry[];
}

/** The next line of a job, with what belongs below it. */
function stepLines(block: JobBlock, step: StepTree, options: ReportOptions): string[] {
  return renderStep(block.lines++, step, options, block.exchange);
}

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
function renderStep(
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
function hasDetails({ result, inside }: StepTree): boolean {
  return hasFailed(result) || (result.echo ?? "").trim() !== "" || inside.length > 0 ||
    isNewSnapshot(result);
}

function isNewSnapshot({ snapshot }: StepResult): boolean {
  return snapshot?.state === "written" || snapshot?.state === "updated";
}

/** The only line of a job that was skipped before any of its steps began; else nothing. */
function skippedLine(
  { lines, tally }: JobBlock,
  { name, state, reason }: JobFinished,
  { style }: ReportOptions,
): string | undefined {
  if (state !== "skipped" || lines > 0 || tally && tally.steps.length > 0) return undefined;
  return skippedJob(name, reason, style);
}

/** The lines below the steps of a job, or all lines of a job that repeats. */
function endLines(block: JobBlock, event: JobFinished, options: ReportOptions): string[] {
  const { style } = options;
  const room = indentedRoom(roomOf(options.columns?.()), BELOW_JOB);
  const { tally, rounds, expect, load } = block;
  const { state, known, failures, duration, reason, stats } = event;
  if (load) {
    // The thresholds are shown already.
    const others = failures.filter(({ field }) => !field.startsWith("load.expect"));
    const lines = [...renderLoad(load, style, room), ...renderFailures(others, style, room)];
    const remark = known ? " (known failure)" : reason === undefined ? "" : ` (${oneLine(reason)})`;
    return [...indentLines(lines, BELOW_JOB), jobEnd(state, duration, remark, style), ""];
  }
  const lines = tally ? renderRounds(tally.steps, rounds, options) : [];
  if (stats && tally && stats.count > 1) {
    const { min, mean, p50, p90, p95, p99, max } = stats;
    const times = Object.entries({ min, mean, p50, p90, p95, p99, max })
      .map(([name, time]) => `${name} ${formatElapsed(time)}`);
    const sentence = fitSentence(`rounds: ${times.join(", ")}`, room);
    lines.push(...indentLines(sentence.map(style.dim), BELOW_JOB));
  }
  lines.push(...indentLines(renderFailures(failures, style, room), BELOW_JOB));
  const remark = (known ? " (known failure)" : "") +
    (tally ? roundsRemark(rounds, tally, expect !== undefined) : "") +
    (reason === undefined ? "" : ` (${oneLine(reason)})`);
  return [...lines, jobEnd(state, duration, remark, style), ""];
}

/** Decides which lines of jobs are written, and when: each function returns those for now. */
export interface JobWriter {
  /** A job has started. */
  start?(block: JobBlock): void;
  /** A step has started. */
  startStep?(block: JobBlock): string[];
  /** A step is over whose job runs once. */
  endStep(block: JobBlock, step: StepTree): string[];
  /** A line about a job that is under way. */
  progress?(block: JobBlock, line: string): string[];
  /** A job is over. */
  end(block: JobBlock, event: JobFinished): string[];
}

/**
 * Each job as one block of lines. The first running job of the file writes at once; the others
 * keep their lines until it has ended.
 */
export function writeInBlocks(options: ReportOptions): JobWriter {
  const running = new Set<JobBlock>();
  /** Jobs that have ended while another one was writing. */
  const ended: JobBlock[] = [];
  const held = new Map<JobBlock, string[]>();
  const opened = new Set<JobBlock>();
  let current: JobBlock | undefined;

  function header(block: JobBlock): string[] {
    if (opened.has(block)) return [];
    opened.add(block);
    return [jobHeader(block.name, options.style)];
  }
  function write(block: JobBlock, lines: readonly string[]): readonly string[] {
    if (block === current) return lines;
    const waiting = held.get(block) ?? [];
    held.set(block, waiting);
    waiting.push(...lines);
    return [];
  }
  function release(block: JobBlock): readonly string[] {
    const lines = held.get(block) ?? [];
    held.delete(block);
    return lines;
  }
  return {
    start(block) {
      running.add(block);
      current ??= block;
    },
    startStep: (block) => [...write(block, header(block))],
    endStep: (block, step) => [
      ...write(block, [...header(block), ...stepLines(block, step, options)]),
    ],
    progress: (
      block,
      line,
    ) => [...write(block, [...header(block), ...indentLines([line], BELOW_JOB)])],
    end(block, event) {
      const skipped = opened.has(block) ? undefined : skippedLine(block, event, options);
      const written = write(
        block,
        skipped === undefined
          ? [...header(block), ...endLines(block, event, options)]
          : [skipped, ""],
      );
      running.delete(block);
      if (block === current) current = undefined;
      else ended.push(block);
      if (current) return [];
      [current] = [...running].sort(byPosition);
      const next = [...ended.splice(0).sort(byPosition), ...current ? [current] : []];
      return [...written, ...next.flatMap(release)];
    },
  };
}

function byPosition(a: JobBlock, b: JobBlock): number {
  return a.position - b.position;
}

/**
 * Each result at once: below the name of its job while that runs alone, else in one line with the
 * name of the job. What is left to say about such a step comes with the end of its job.
 */
export function writeAtOnce(options: ReportOptions): JobWriter {
  const running = new Set<JobBlock>();
  /** Steps that had one line and have details. */
  const held = new Map<JobBlock, [index: number, step: StepTree][]>();
  /** The job that the last lines belong to. */
  let current: JobBlock | undefined;
  let isAfterLine = false;
  /** Lines of jobs that were skipped while another one wrote. */
  const skipped: string[] = [];

  function leave(): string[] {
    if (!current) return [];
    current = undefined;
    return ["", ...skipped.splice(0)];
  }
  function enter(block: JobBlock): string[] {
    if (current === block) return [];
    const lines = [...leave(), ...isAfterLine ? [""] : [], jobHeader(block.name, options.style)];
    isAfterLine = false;
    current = block;
    return lines;
  }
  return {
    start: (block) => void running.add(block),
    endStep(block, step) {
      if (running.size < 2) return [...enter(block), ...stepLines(block, step, options)];
      const index = block.lines++;
      if (hasDetails(step)) {
        const waiting = held.get(block) ?? [];
        held.set(block, waiting);
        waiting.push([index, step]);
      }
      const lines = [...leave(), stepLineOf(oneLine(block.name), step.result, options)];
      isAfterLine = true;
      return lines;
    },
    progress(block, line) {
      if (running.size < 2) return [...enter(block), ...indentLines([line], BELOW_JOB)];
      const lines = [...leave(), `${oneLine(block.name)}: ${line}`];
      isAfterLine = true;
      return lines;
    },
    end(block, event) {
      running.delete(block);
      const line = skippedLine(block, event, options);
      if (line !== undefined && current) {
        skipped.push(line, "");
        return [];
      }
      const lines = line === undefined
        ? [
          ...enter(block),
          ...(held.get(block) ?? []).flatMap(([index, step]) =>
            renderStep(index, step, options, block.exchange)
          ),
          ...endLines(block, event, options),
          ...skipped.splice(0),
        ]
        : [...isAfterLine ? [""] : [], line, ""];
      held.delete(block);
      current = undefined;
      isAfterLine = false;
      return lines;
    },
  };
}

/**
 * Failures alone: those of steps at once, those of rounds when their job ends. `prefix` goes before
 * the names of jobs.
 */
export function writeFailures({ style, columns }: ReportOptions, prefix = ""): JobWriter {
  const room = () => indentedRoom(roomOf(columns?.()), 2);
  const block = (title: string, lines: readonly string[]) => [
    `${stepIcon("failed", style)} ${style.bold(title)}`,
    ...indentLines(lines, 2),
    "",
  ];

  /** A step that failed, below those inside of it that did. */
  function ofStep({ result, inside }: StepTree, title: string): string[] {
    if (result.state !== "failed") return [];
    const below = inside.flatMap((step) => ofStep(step, `${title} › ${oneLine(step.result.name)}`));
    if (below.length > 0 && isOnlyEmbedded(result)) return below;
    return [...below, ...block(title, renderTrouble(result, style, room()))];
  }
  function ofRounds(steps: readonly StepTally[], around: string): string[] {
    return steps.flatMap((step) => {
      const title = `${around} › ${titleOf(step)}`;
      const below = ofRounds(step.inside, title);
      const kinds = failedKinds(step)
        .filter(({ first }) => below.length === 0 || !isOnlyEmbedded(first.result));
      return [
        ...below,
        ...kinds.flatMap((kind) =>
          block(`${title}: ${describeKind(kind)}`, renderTrouble(kind.first.result, style, room()))
        ),
        ...step.otherFailures > 0 && step.states.failed > 0
          ? block(`${title}: ${countOf(step.otherFailures, "other failure")}`, [])
          : [],
      ];
    });
  }
  return {
    endStep: ({ name }, step) =>
      ofStep(step, stepTitle(prefix + oneLine(name), oneLine(step.result.name), step.run)),
    end: ({ name, tally }, { failures, known, name: job }) => [
      ...tally ? ofRounds(tally.steps, prefix + oneLine(name)) : [],
      ...failures.length > 0 && !known
        ? block(oneLine(job), renderFailures(failures, style, room()))
        : [],
    ],
  };
}
