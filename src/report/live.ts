import type { JobStarted, RunEvent, StepRun } from "../run/event.ts";
import { runKey, suiteTitle } from "./model/steps.ts";
import { cutToWidth, displayWidth } from "../base/text/display_width.ts";
import { countOf, cutLine } from "./text/lines.ts";
import type { LiveLine, Reporter, ReportOptions, Style } from "./reporter.ts";
import { FRAME_TIME } from "./terminal.ts";
import { oneLine } from "../base/text/printable.ts";
import { printableEvent } from "./model/printable_event.ts";
import { textReport } from "./text/text_report.ts";
import { writeInBlocks } from "./text/write_jobs.ts";
import { workflowState } from "../run/count_steps.ts";
import { suiteReport } from "./text/suite_report.ts";

/** A job that runs, as far as its line below the report needs it. */
export interface LiveJob {
  readonly name: string;
  readonly started: number;
  readonly rounds?: number;
  readonly roundsDone: number;
  /** The step that has been under way for longest, where there is one. */
  readonly step?: LiveStep;
}

/** A step that runs. */
export interface LiveStep {
  readonly name: string;
  readonly started: number;
  /** The attempt under way, from the second one on. */
  attempt?: { readonly number: number; readonly of: number };
  waiting?: { readonly until: number; readonly why: "wait" | "initial_delay" | "retry" };
  /** The step under way of the job that it embeds. */
  inside?: LiveStep;
}

/** The progress of a run, in jobs. */
export interface Progress {
  readonly done: number;
  readonly failed: number;
  readonly all: number;
}

interface RunningJob extends JobStarted {
  readonly position: number;
  roundsDone: number;
  /** The oldest first; more than one where rounds run side by side. */
  readonly steps: Map<string, LiveStep>;
}

/** Follows which jobs and steps are under way. */
export class LiveJobs {
  /** Places of jobs in the file, by id. */
  readonly #positions = new Map<string, number>();
  readonly #running = new Map<string, RunningJob>();
  #done = 0;
  #failed = 0;

  /** Takes an event of the run into account. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        event.jobs.forEach(({ id }, position) => this.#positions.set(id, position));
        return;
      case "job_started": {
        const position = this.#positions.get(event.job) ?? Infinity;
        this.#running.set(event.job, { ...event, position, roundsDone: 0, steps: new Map() });
        return;
      }
      case "job_finished":
        this.#done++;
        if (event.state === "failed") this.#failed++;
        this.#running.delete(event.job);
        return;
      case "round_finished": {
        const job = this.#running.get(event.job);
        if (job) job.roundsDone++;
        return;
      }
      case "step_started": {
        const { name, time: started, run } = event;
        const step: LiveStep = { name, started };
        this.#running.get(run.job)?.steps.set(runKey(run), step);
        const around = run.within && this.#step(run.within);
        if (around) around.inside = step;
        return;
      }
      case "step_finished":
        this.#running.get(event.run.job)?.steps.delete(runKey(event.run));
        if (event.run.within) delete this.#step(event.run.within)?.inside;
        return;
      case "step_waiting": {
        const step = this.#step(event.run);
        if (step) step.waiting = { until: event.time + event.milliseconds, why: event.why };
        return;
      }
      case "step_retried": {
        const step = this.#step(event.run);
        if (step) step.attempt = { number: event.attempt.number + 1, of: event.of };
        return;
      }
      case "run_finished":
        this.#running.clear();
        return;
      case "note":
      case "suite_started":
      case "suite_finished":
        return;
    }
  }

  /** The number of finished jobs, including skipped ones, and the number of all jobs. */
  get progress(): Progress {
    return { done: this.#done, failed: this.#failed, all: this.#positions.size };
  }

  /** The jobs under way, in the order of the file. */
  inOrder(): LiveJob[] {
    const jobs = [...this.#running.values()].sort((a, b) => a.position - b.position);
    return jobs.map(({ name, time, rounds, roundsDone, steps }) => {
      const [step] = steps.values();
      return {
        name,
        started: time,
        roundsDone,
        ...(rounds === undefined ? {} : { rounds }),
        ...(step ? { step } : {}),
      };
    });
  }

  #step(run: StepRun): LiveStep | undefined {
    return this.#running.get(run.job)?.steps.get(runKey(run));
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const WAITS = { wait: "waits", initial_delay: "starts in", retry: "tries again in" };
/** Columns that the names keep, and half of the line: the rest shows the progress of the step. */
const NAME_COLUMNS = 8;
const NARROW = 30;
/** The width of a time such as `  12.3s`. */
const TIME_COLUMNS = 7;
/** Steps of a repeated job that are over sooner would only flicker. */
const LEAST_TIME_IN_ROUNDS = 1000;

/** The part of the terminal that is available for drawing. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/**
 * One line for each job that is under way, then how many are over; no wider than the screen. Where
 * there are more jobs than rows the last line counts those that have none.
 */
export function renderLive(
  jobs: readonly LiveJob[],
  { done, failed, all }: Progress,
  now: number,
  { columns, rows }: Screen,
  style: Style,
): string[] {
  if (rows < 1) return [];
  const shown = jobs.length <= rows ? jobs : jobs.slice(0, rows - 1);
  const lines = shown.map((job) => jobLine(job, now, columns, style));
  const note = (text: string) => lines.push(style.dim(cutLine(`  ${text}`, columns)));
  const left = jobs.length - shown.length;
  const progress = `${done} of ${all} done${failed > 0 ? `, ${failed} failed` : ""}`;
  if (left > 0) note(`… and ${countOf(left, "more job")}, ${progress}`);
  else if (lines.length > 0 && lines.length < rows && all > 1) note(progress);
  return lines;
}

function jobLine(job: LiveJob, now: number, columns: number, style: Style): string {
  const frame = FRAMES[Math.floor(now / FRAME_TIME) % FRAMES.length]!;
  const room = columns - 2;
  if (room < 1) return cutToWidth(frame, columns);
  const step = shownStep(job, now);
  const title = titleOf([job.name, ...namesOf(step)].map(oneLine), room);
  const kept = Math.min(displayWidth(title), Math.max(NAME_COLUMNS, Math.floor(room / 2)));
  const state = stateOf(job, innermost(step), now, room - kept);
  const name = cutLine(title, room - displayWidth(state));
  return `${style.cyan(frame)} ${name}${style.dim(state)}`;
}

/** `  1.2s  ↻ 2/5  tries again in 0.8s  3/10 rounds`, or as much of it as there is room for. */
function stateOf(
  { started, rounds, roundsDone }: LiveJob,
  step: LiveStep | undefined,
  now: number,
  room: number,
): string {
  const parts = [tenths(Math.max(0, now - (step?.started ?? started)))];
  if (step?.attempt) parts.push(`↻ ${step.attempt.number}/${step.attempt.of}`);
  if (step?.waiting && step.waiting.until > now) {
    parts.push(`${WAITS[step.waiting.why]} ${tenths(step.waiting.until - now)}`);
  }
  if (rounds !== undefined) {
    parts.push(`${roundsDone}/${countOf(rounds, "round")}`);
    const seconds = (now - started) / 1000;
    if (roundsDone > 1 && seconds > 0) parts.push(`${(roundsDone / seconds).toFixed(1)}/s`);
  }
  let state = "";
  for (const part of parts) {
    const longer = `${state}  ${part}`;
    if (displayWidth(longer) > room) break;
    state = longer;
  }
  return state;
}

/** `Build › fetch`; where there is hardly room for a name, that of the step alone. */
function titleOf(names: readonly string[], room: number): string {
  const title = names.join(" › ");
  return room < NARROW && displayWidth(title) + TIME_COLUMNS > room ? names.at(-1)! : title;
}

/** The step to show, if one lasts long enough to be read. */
function shownStep({ rounds = 1, step }: LiveJob, now: number): LiveStep | undefined {
  if (!step || rounds < 2) return step;
  const until = Math.max(now, innermost(step)?.waiting?.until ?? 0);
  return until - step.started < LEAST_TIME_IN_ROUNDS ? undefined : step;
}

function namesOf(step: LiveStep | undefined): readonly string[] {
  return step ? [step.name, ...namesOf(step.inside)] : [];
}

function innermost(step: LiveStep | undefined): LiveStep | undefined {
  return step?.inside ? innermost(step.inside) : step;
}

/** A time that runs keeps its width. */
function tenths(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)}s`;
}

/** The report that people read, with a line below it for each job that is under way. */
export function liveReport(options: ReportOptions): Reporter {
  const text = textReport(options, writeInBlocks(options));
  const live = new LiveJobs();
  return {
    ...text,
    report(event) {
      live.update(printableEvent(event));
      return text.report(event);
    },
    live: (now, columns, rows) =>
      renderLive(live.inOrder(), live.progress, now, { columns, rows }, options.style).map(
        measureLine,
      ),
  };
}

// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[\d;]*m/g;

/** A line with the columns that it takes. */
export function measureLine(text: string): LiveLine {
  return { text, width: displayWidth(text.replace(COLOUR, "")) };
}

interface LiveWorkflow {
  readonly name: string;
  readonly started: number;
  readonly jobs: LiveJobs;
  /** Setup and teardown are counted only where they fail, as in the last line. */
  readonly isCounted: boolean;
}

/** The report of several workflows, with a line below it for each that is under way. */
export function liveSuite(options: ReportOptions): Reporter {
  const text = suiteReport(options);
  const running = new Map<string, LiveWorkflow>();
  let [done, failed, all] = [0, 0, 0];
  const update = (event: RunEvent) => {
    if (event.type === "suite_started") all = event.workflows;
    if (event.type === "run_started") {
      const { time: started, runId, suite } = event;
      const isCounted = suite?.role === undefined;
      running.set(runId, { name: suiteTitle(event), started, jobs: new LiveJobs(), isCounted });
    }
    const workflow = running.get(event.runId);
    workflow?.jobs.update(event);
    if (event.type === "run_finished") {
      running.delete(event.runId);
      if (workflow?.isCounted) done++;
      if (workflowState(event) === "failed") failed++;
    }
  };
  return {
    ...text,
    report(event) {
      update(printableEvent(event));
      return text.report(event);
    },
    live(now, columns, rows) {
      const lines = [...running.values()].map(lineOf);
      return renderLive(lines, { done, failed, all }, now, { columns, rows }, options.style)
        .map(measureLine);
    },
  };
}

/** A workflow with the step of it that has been under way for longest. */
function lineOf({ name, started, jobs }: LiveWorkflow): LiveJob {
  const [job] = jobs.inOrder();
  const line = { name, started, roundsDone: 0 };
  if (!job) return line;
  const inside = job.step ? { inside: job.step } : {};
  return { ...line, step: { name: job.name, started: job.started, ...inside } };
}
