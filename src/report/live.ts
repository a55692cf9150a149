import { cutLine, cutToWidth, displayWidth } from "../base/text/display_width.ts";
import { oneLine } from "../base/text/printable.ts";
import { workflowState } from "../run/count_steps.ts";
import type { StepResult } from "../run/event.ts";
import type { LiveLoad } from "./live_load.ts";
import type { Change, JobRecord, RunningStep, RunRecord } from "./record.ts";
import type { Reporter, Style } from "./reporter.ts";
import { FRAME_TIME } from "./terminal.ts";
import type { LateTexts } from "./text/late_texts.ts";
import { BELOW_NAME, stepIcon, stepNumber, suiteTitle } from "./text/layout.ts";
import { countOf } from "../base/text/count_of.ts";

/** A report with a line below it for each job, or each workflow of a suite, that is under way. */
export function withLiveLines(
  text: Reporter,
  style: Style,
  isSuite: boolean,
  late: LateTexts,
): Reporter {
  const progress = isSuite ? new LiveSuite(late) : new LiveRun(late);
  return {
    report(change) {
      progress.update(change);
      return text.report(change);
    },
    live: (now, columns, rows) => renderLive(progress, now, { columns, rows }, style),
    frameTime: () => progress.running().some(({ load }) => load) ? LOAD_FRAME_TIME : FRAME_TIME,
  };
}

/** Where rounds start at a rate, drawing must not keep the processor from them. */
const LOAD_FRAME_TIME = 250;

/** What is under way, and how much is over. */
interface Progress {
  readonly done: number;
  readonly failed: number;
  readonly all: number;
  /** The jobs under way, in the order of the file. */
  running(): readonly LiveJob[];
}

/** A job that runs, as far as its line below the report needs it. */
interface LiveJob {
  readonly name: string;
  readonly started: number;
  readonly rounds?: number;
  readonly roundsDone: number;
  /** The step that started first of those under way, if any. */
  readonly step?: LiveStep;
  /** Its latest steps that are over, unless it has rounds; the report has them when it ends. */
  readonly ended?: readonly EndedStep[];
  /** Where it is under load. */
  readonly load?: LiveLoad;
}

/** A step that runs; in a suite, a job is the step of its workflow. */
type LiveStep = Pick<RunningStep, "name" | "started" | "attempt" | "waiting"> & {
  readonly inside?: LiveStep;
};

/** A step that is over, in a job that is not. */
interface EndedStep {
  /** From 0. */
  readonly index: number;
  readonly result: Pick<StepResult, "name" | "state" | "allowFailure" | "echo">;
}

/** Follows which jobs and steps of a run are under way. */
class LiveRun implements Progress {
  readonly #late: LateTexts;
  #run: RunRecord | undefined;
  readonly #loads = new Map<JobRecord, LiveLoad>();
  readonly #roundsDone = new Map<JobRecord, number>();

  constructor(late: LateTexts) {
    this.#late = late;
  }

  get all(): number {
    return this.#run?.jobs.length ?? 0;
  }

  get done(): number {
    return this.#run?.jobs.filter(({ state }) => state).length ?? 0;
  }

  get failed(): number {
    return this.#run?.jobs.filter(({ state }) => state === "failed").length ?? 0;
  }

  running(): LiveJob[] {
    const { jobs = [], running, end } = this.#run ?? {};
    if (end) return [];
    return jobs.flatMap((job): LiveJob[] => {
      const { id, name, started, rounds, state, steps } = job;
      if (started === undefined || state) return [];
      const step = running?.values().find(({ run }) => run.job === id && !run.within);
      const first = Math.max(0, steps.length - MAX_ENDED);
      const ended = steps.slice(first).map(({ result }, at) => ({ index: first + at, result }));
      const load = this.#loads.get(job);
      return [{
        name,
        started,
        rounds,
        roundsDone: this.#roundsDone.get(job) ?? 0,
        step,
        ended,
        load,
      }];
    });
  }

  /** Takes an event of the run into account. */
  update({ event, run, job }: Change): void {
    if (run) this.#run = run;
    if (!job) return;
    if (event.type === "job_started" && event.load) {
      this.#loads.set(job, new this.#late.all.LiveLoad(event.load, event));
    } else if (event.type === "load_second") this.#loads.get(job)?.add(event);
    else if (event.type === "round_finished") {
      this.#roundsDone.set(job, event.ended ?? (this.#roundsDone.get(job) ?? 0) + 1);
    }
  }
}

/** Follows which workflows of a suite are under way. */
class LiveSuite implements Progress {
  done = 0;
  failed = 0;
  all = 0;
  readonly #late: LateTexts;
  readonly #runs = new Map<RunRecord, LiveRun>();

  constructor(late: LateTexts) {
    this.#late = late;
  }

  update(change: Change): void {
    const { event, run } = change;
    if (event.type === "suite_started") this.all = event.workflows;
    if (!run) return;
    this.#runs.getOrInsertComputed(run, () => new LiveRun(this.#late)).update(change);
    if (event.type !== "run_finished") return;
    this.#runs.delete(run);
    // Setup and teardown are counted only where they fail, as in the last line of the report.
    if (run.suite?.role === undefined) this.done++;
    if (workflowState(event) === "failed") this.failed++;
  }

  /** Each workflow as a job, with the first of its jobs as a step. */
  running(): LiveJob[] {
    return Array.from(this.#runs, ([run, live]) => {
      const [job] = live.running();
      const step = job && { name: job.name, started: job.started, inside: job.step };
      return { name: suiteTitle(run), started: run.started, roundsDone: 0, step, load: job?.load };
    });
  }
}

/** More rows than a screen has are not shown. */
const MAX_ENDED = 50;

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const WAITS = { wait: "waits", initial_delay: "starts in", retry: "tries again in" };
/** Columns that the names keep, and half of the line: the rest shows the progress of the step. */
const NAME_COLUMNS = 8;
const NARROW = 30;
/** The width of the bar of a load job, and the space before it. */
const BAR_ROOM = 22;
/** The width of a time such as `  12.3s`. */
const TIME_COLUMNS = 7;
/** Shorter steps of a repeated job would only flicker. */
const MIN_TIME_IN_ROUNDS = 1000;

/**
 * One line for each job that is under way, then how many are over; no wider than the screen. Where
 * there are more jobs than rows the last line counts those that have none.
 */
function renderLive(
  progress: Progress,
  now: number,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  style: Style,
): string[] {
  if (rows < 1) return [];
  const jobs = progress.running();
  const { done, failed, all } = progress;
  const shown = jobs.length <= rows ? jobs : jobs.slice(0, rows - 1);
  const isWide = columns >= NARROW;
  const free = rows - (all > 1 ? 1 : 0) - shown.length;
  const loads = shown.filter(({ load }) => load).length;
  // A load job that runs alone has all rows, others two each, or none.
  const below = !isWide || loads === 0 || free < 2 * loads ? 0 : jobs.length === 1 ? free : 2;
  const lines = shown.flatMap((job) => [
    jobLine(job, now, columns, style, below > 0),
    ...below > 0 ? job.load?.lines({ columns, rows: below }, style) ?? [] : [],
  ]);
  // Below a job that runs alone; one row is for the number of jobs.
  const [alone, ...others] = jobs;
  if (alone?.ended && others.length === 0 && rows > 2 && isWide) {
    lines.push(...endedLines(alone.ended, columns, style).slice(2 - rows));
  }
  const note = (text: string) => lines.push(style.dim(cutLine(`  ${text}`, columns)));
  const left = jobs.length - shown.length;
  const counts = `${done} of ${all} done${failed > 0 ? `, ${failed} failed` : ""}`;
  if (left > 0) note(`… and ${countOf(left, "more job")}, ${counts}`);
  else if (lines.length > 0 && lines.length < rows && all > 1) note(counts);
  return lines;
}

/** A line for each step that is over, and its echo. */
function endedLines(ended: readonly EndedStep[], columns: number, style: Style): string[] {
  return ended.flatMap(({ index, result: { name, state, allowFailure, echo } }) => [
    `${stepNumber(index, style)}${allowFailure ? style.yellow("!") : stepIcon(state, style)} ` +
    cutLine(oneLine(name), columns - BELOW_NAME),
    ...(echo?.trim() || undefined)?.split("\n").map((line) =>
      " ".repeat(BELOW_NAME) + style.blue(cutLine(line.trimEnd(), columns - BELOW_NAME))
    ) ?? [],
  ]);
}

/** `isHead`: lines with the numbers of its load follow. */
function jobLine(
  job: LiveJob,
  now: number,
  columns: number,
  style: Style,
  isHead: boolean,
): string {
  const frame = FRAMES[Math.floor(now / FRAME_TIME) % FRAMES.length]!;
  const room = columns - 2;
  if (room < 1) return cutToWidth(frame, columns);
  const steps = shownSteps(job, now);
  const title = titleOf([job, ...steps].map(({ name }) => oneLine(name)), room);
  const kept = Math.min(displayWidth(title), Math.max(NAME_COLUMNS, Math.floor(room / 2)));
  const parts = job.load
    ? [...job.load.progress(now), ...isHead ? [] : job.load.summary()]
    : statesOf(job, steps.at(-1), now);
  const state = fitState(parts, room - kept);
  const name = cutLine(title, room - displayWidth(state));
  const bar = isHead && job.load ? job.load.bar(now, style) : "";
  const isRoom = bar !== "" && displayWidth(name + state) + BAR_ROOM <= room;
  return `${style.cyan(frame)} ${name}${style.dim(state)}${isRoom ? `  ${bar}` : ""}`;
}

/** `1.2s`, `↻ 2/5`, `tries again in 0.8s`, `3/10 rounds`. */
function statesOf(
  { started, rounds, roundsDone }: LiveJob,
  step: LiveStep | undefined,
  now: number,
): string[] {
  const parts = [tenths(Math.max(0, now - (step?.started ?? started)))];
  if (step?.attempt) {
    const { number, of } = step.attempt;
    parts.push(of === undefined ? `↻ ${number}` : `↻ ${number}/${of}`);
  }
  if (step?.waiting && step.waiting.until > now) {
    parts.push(`${WAITS[step.waiting.why]} ${tenths(step.waiting.until - now)}`);
  }
  if (rounds !== undefined) {
    parts.push(`${roundsDone}/${countOf(rounds, "round")}`);
    const seconds = (now - started) / 1000;
    if (roundsDone > 1 && seconds > 0) parts.push(`${(roundsDone / seconds).toFixed(1)}/s`);
  }
  return parts;
}

/** As many of these as there is room for. */
function fitState(parts: readonly string[], room: number): string {
  let state = "";
  for (const part of parts) {
    const longer = `${state}  ${part}`;
    if (displayWidth(longer) > room) break;
    state = longer;
  }
  return state;
}

/** `Build › fetch`, or the name of the step alone if there is no room for both. */
function titleOf(names: readonly string[], room: number): string {
  const title = names.join(" › ");
  return room < NARROW && displayWidth(title) + TIME_COLUMNS > room ? names.at(-1)! : title;
}

/** The step of a job with those inside it, if it lasts long enough to be read. */
function shownSteps({ rounds = 1, step }: LiveJob, now: number): LiveStep[] {
  const steps: LiveStep[] = [];
  for (let inner = step; inner; inner = inner.inside) steps.push(inner);
  if (!step || rounds < 2) return steps;
  const until = Math.max(now, steps.at(-1)?.waiting?.until ?? 0);
  return until - step.started < MIN_TIME_IN_ROUNDS ? [] : steps;
}

/** A time that runs keeps its width. */
function tenths(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)}s`;
}
