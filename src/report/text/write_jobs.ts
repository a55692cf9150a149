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
  endedJob,
  INSIDE_STEP,
  openJob,
  renderEcho,
  skippedJob,
  stepIcon,
  stepLine,
  stepLineOf,
  stepTitle,
} from "./layout.ts";
import { asText, countOf, fitSentence, indentedRoom, indentLines, roomOf } from "./lines.ts";
import {
  type FailureEntry,
  isOnlyEmbedded,
  renderFailures,
  renderTrouble,
  type Shown,
  type Where,
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
  /** The results of a job that repeats, which are shown when it ends. */
  tally?: RoundsTallied;
  /** What a load job came to. */
  load?: LoadEnded;
  /** The number of steps that have a line. */
  lines: number;
  /** For the list at the end of the report. */
  readonly failures: FailureEntry[];
}

/** The line of a step and what belongs below it: first the steps of the job that it embeds. */
function renderStep(
  number: number,
  { result, inside }: StepTree,
  options: ReportOptions,
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
        ? renderTrouble(result, style, below, shown, [...around, `in ${name}`])
        : [],
    ], BELOW_NAME),
  ];
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
function endLines(
  { name, tally, rounds, load }: JobBlock,
  { failures, stats }: JobFinished,
  options: ReportOptions,
  shown: Shown,
): string[] {
  const { style } = options;
  const all = roomOf(options.columns?.());
  const room = indentedRoom(all, BELOW_JOB);
  if (load) {
    // The thresholds are shown already.
    const others = failures.filter(({ field }) => !field.startsWith("load.expect"));
    const lines = [...renderLoad(load, style, room), ...renderFailures(others, style, room)];
    return indentLines(lines, BELOW_JOB);
  }
  const lines = tally
    ? renderRounds(tally.steps, rounds, options, all, shown, [oneLine(name)])
    : [];
  if (stats && tally && stats.count > 1) {
    const { min, mean, p50, p90, p95, p99, max } = stats;
    const times = Object.entries({ min, mean, p50, p90, p95, p99, max })
      .map(([name, time]) => `${name} ${formatElapsed(time)}`);
    const sentence = fitSentence(`times of rounds: ${times.join(", ")}`, room);
    lines.push(...indentLines(sentence.map(style.dim), BELOW_JOB));
  }
  return [...lines, ...indentLines(renderFailures(failures, style, room), BELOW_JOB)];
}

/** The line with the outcome of a job. */
function outcomeLine(
  { tally, rounds, load }: JobBlock,
  { name, state, known, duration, reason }: JobFinished,
  { style }: ReportOptions,
): string {
  const remark = (known ? " (known failure)" : "") +
    (tally && !load ? roundsRemark(rounds, tally) : "") +
    (reason === undefined ? "" : ` (${oneLine(reason)})`);
  const mark = known ? "known" : state;
  return endedJob(mark, name, duration, remark, style);
}

/** Decides which lines of jobs are written, and when: each function returns those for now. */
export interface JobWriter {
  /** A job has started. */
  start?(block: JobBlock): void;
  /** A step is over whose job runs once. */
  endStep(block: JobBlock, step: StepTree): string[];
  /** A line about a job that is under way. */
  progress?(block: JobBlock, line: string): string[];
  /** A job is over. */
  end(block: JobBlock, event: JobFinished): string[];
}

/** Each job as one block when it ends, with its outcome in the first line. */
export function writeInBlocks(options: ReportOptions): JobWriter {
  const blocks = new JobBlocks(options);
  return {
    endStep(block, step) {
      blocks.add(block, step);
      return [];
    },
    end: (block, event) => [...blocks.end(block, event), ""],
  };
}

/** The lines of the jobs that run. */
class JobBlocks {
  readonly #options: ReportOptions;
  /** The steps so far: each is rendered when it is written, after what it refers to. */
  readonly #steps = new Map<JobBlock, (() => string[])[]>();
  readonly #shown: Shown = new Map();

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  /** Adds a step, and returns what renders it. */
  add(block: JobBlock, step: StepTree): () => string[] {
    const number = block.lines++;
    const around = [oneLine(block.name)];
    const render = () => renderStep(number, step, this.#options, this.#shown, around);
    this.#steps.getOrInsertComputed(block, () => []).push(render);
    return render;
  }

  /** The whole block of a job that is over. */
  end(block: JobBlock, event: JobFinished): string[] {
    const skipped = skippedLine(block, event, this.#options);
    const steps = this.#steps.get(block) ?? [];
    this.#steps.delete(block);
    if (skipped !== undefined) return [skipped];
    const outcome = outcomeLine(block, event, this.#options);
    const below = [
      ...steps.flatMap((render) => render()),
      ...endLines(block, event, this.#options, this.#shown),
    ];
    const { fold } = this.#options;
    if (!fold || event.state === "failed" || below.length === 0) return [outcome, ...below];
    return fold(outcome, asText(below)).trimEnd().split("\n");
  }

  /** The lines at the end of a job whose steps have been written. */
  close(block: JobBlock, event: JobFinished): string[] {
    this.#steps.delete(block);
    return [
      ...endLines(block, event, this.#options, this.#shown),
      outcomeLine(block, event, this.#options),
    ];
  }
}

/**
 * Each result at once: the steps of a job that runs alone below its name. Where several jobs run,
 * each step has one line with the name of its job, and a job is written as a whole when it ends.
 */
export function writeAtOnce(options: ReportOptions): JobWriter {
  const blocks = new JobBlocks(options);
  const running = new Set<JobBlock>();
  /** The job whose steps are written below its name. */
  let open: JobBlock | undefined;
  /** The jobs of which a step has one line. */
  const listed = new Set<JobBlock>();
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
  function isAlone(block: JobBlock): boolean {
    // Where parts of the log fold, the outcome of a job is known before its first line.
    return running.size < 2 && !listed.has(block) && !options.fold;
  }
  function enter(block: JobBlock): string[] {
    if (open === block) return [];
    open = block;
    return [...separate(), openJob(block.name, options.style)];
  }
  function listLine(block: JobBlock, line: string): string[] {
    const before = open ? ["", ...skipped.splice(0)] : [];
    // What was written below the name of a job is not all of it any more.
    if (open) listed.add(open);
    listed.add(block);
    open = undefined;
    isAfterLine = true;
    return [...before, line];
  }
  return {
    start: (block) => void running.add(block),
    endStep(block, step) {
      const render = blocks.add(block, step);
      return isAlone(block)
        ? [...enter(block), ...render()]
        : listLine(block, stepLineOf(oneLine(block.name), step.result, options));
    },
    progress(block, line) {
      return isAlone(block)
        ? [...enter(block), ...indentLines([line], BELOW_JOB)]
        : listLine(block, `${oneLine(block.name)}: ${line}`);
    },
    end(block, event) {
      running.delete(block);
      listed.delete(block);
      if (block === open) {
        open = undefined;
        return [...blocks.close(block, event), "", ...skipped.splice(0)];
      }
      const lines = [...blocks.end(block, event), ""];
      if (!open) return [...separate(), ...lines];
      if (event.state === "skipped") {
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
export function writeFailures({ style, columns }: ReportOptions, prefix = ""): JobWriter {
  const room = () => indentedRoom(roomOf(columns?.()), 2);
  const shown: Shown = new Map();
  const trouble = (result: StepResult, title: string) =>
    renderTrouble(result, style, room(), shown, [`in ${title}`]);
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
    return [...below, ...block(title, trouble(result, title))];
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
          block(`${title}: ${describeKind(kind)}`, trouble(kind.first.result, title))
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
