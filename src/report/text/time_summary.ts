import type { RunEvent, StepFinished } from "../../run/event.ts";
import { countOf, fitSentence, indentLines, type Room, roomOf } from "./lines.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import type { Reporter, ReportOptions, Style } from "../reporter.ts";
import { oneLine } from "../../base/text/printable.ts";
import { printableEvent } from "../model/printable_event.ts";

const MOST_STEPS = 5;
/** Longer paths are shown by what they begin and end with. */
const MOST_JOBS = 12;

/** Where the names of steps begin, after their times, and on a narrow terminal. */
const INDENT = 11;
const LEAST_INDENT = 2;
const NARROW = 40;

interface NamedJob extends JobTimes {
  readonly name: string;
  readonly isSkipped?: boolean;
}

interface SlowStep {
  readonly job: string;
  readonly name: string;
  readonly duration: number;
  readonly entry?: number;
  readonly round?: number;
  /** The number of its rounds; this is the slowest. */
  readonly rounds?: number;
}

/** Follows what took the time of a run. */
export class TimeSummary {
  readonly #jobs = new Map<string, NamedJob>();
  /** Of jobs that run once, the slowest first. */
  #slowest: SlowStep[] = [];
  /** Of jobs that repeat, the slowest round of each step. */
  readonly #repeated = new Map<string, SlowStep>();

  /** Takes an event of the run into account. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        for (const { id, name, needs } of event.jobs) {
          this.#jobs.set(id, { id, name, needs, duration: 0 });
        }
        return;
      case "job_started":
        return this.#change(event.job, { started: event.time });
      case "job_finished": {
        const { duration, state } = event;
        return this.#change(event.job, { duration, isSkipped: state === "skipped" });
      }
      case "step_finished":
        // Steps inside of a step are part of its time, and skipped steps took none.
        if (!event.run.within && event.result.state !== "skipped") this.#addStep(event);
        return;
      default:
        return;
    }
  }

  /** The slowest steps, and the jobs that nothing else would have made the run shorter than. */
  render(style: Style, room: Room): string[] {
    const steps = slowestOf([...this.#slowest, ...this.#repeated.values()]);
    const path = criticalPath([...this.#jobs.values()]).map((id) => this.#jobs.get(id)!)
      .filter(({ isSkipped }) => !isSkipped);
    if (steps.length === 0 || path.length === 0) return [];
    const time = path.reduce((sum, { duration }) => sum + duration, 0);
    const names = path.map(({ name }) => oneLine(name));
    return [
      style.bold("Slowest steps"),
      ...steps.flatMap((step) => stepLines(formatElapsed(step.duration), this.#title(step), room)),
      `${style.bold("Critical path")} ${style.dim(formatElapsed(time))}`,
      ...hanging(LEAST_INDENT, "", shortened(names).join(" → "), room),
      "",
    ];
  }

  #change(id: string, change: Partial<NamedJob>): void {
    const job = this.#jobs.get(id);
    if (job) this.#jobs.set(id, { ...job, ...change });
  }

  #addStep({ run: { job, step, entry, round }, result: { name, duration } }: StepFinished): void {
    const slow = { job, name, duration, ...entry === undefined ? {} : { entry } };
    if (round === undefined) {
      const last = this.#slowest.at(-1);
      if (this.#slowest.length === MOST_STEPS && last && duration <= last.duration) return;
      this.#slowest = slowestOf([...this.#slowest, slow]);
      return;
    }
    const key = `${job}\n${step}.${entry}`;
    const known = this.#repeated.get(key);
    const rounds = (known?.rounds ?? 0) + 1;
    const slowest = known && known.duration >= duration ? known : { ...slow, round };
    this.#repeated.set(key, { ...slowest, rounds });
  }

  #title({ job, name, entry, round, rounds = 1 }: SlowStep): string {
    const remarks = [
      ...rounds > 1 ? [`slowest of ${countOf(rounds, "round")}`] : [],
      ...round === undefined ? [] : [`repeat_index ${round}`],
      ...entry === undefined ? [] : [`entry ${entry + 1}`],
    ];
    const title = `${this.#jobs.get(job)?.name ?? job} › ${name}`;
    return oneLine(remarks.length === 0 ? title : `${title} (${remarks.join(", ")})`);
  }
}

function slowestOf(steps: readonly SlowStep[]): SlowStep[] {
  return [...steps].sort((a, b) => b.duration - a.duration).slice(0, MOST_STEPS);
}

function stepLines(time: string, title: string, room: Room): string[] {
  return room.columns < NARROW
    ? hanging(LEAST_INDENT, "", `${time} ${title}`, room)
    : hanging(INDENT, time.padStart(INDENT - 2), title, room);
}

/** A text beside a label, where it goes on in further lines if it must. */
function hanging(indent: number, label: string, text: string, { columns, wraps }: Room): string[] {
  const [first = "", ...more] = fitSentence(text, { wraps, columns: columns - indent });
  return [label.padEnd(indent) + first, ...indentLines(more, indent)];
}

function shortened(names: readonly string[]): readonly string[] {
  if (names.length <= MOST_JOBS) return names;
  const half = MOST_JOBS / 2;
  const left = countOf(names.length - MOST_JOBS, "more job");
  return [...names.slice(0, half), `… (${left})`, ...names.slice(-half)];
}

/** A report that says in the end what took the time. */
export function timedReport(
  inner: Reporter,
  { style, columns }: Pick<ReportOptions, "style" | "columns">,
): Reporter {
  const summary = new TimeSummary();
  return {
    ...inner,
    report(event) {
      summary.update(printableEvent(event));
      const lines = event.type === "run_finished" ? summary.render(style, roomOf(columns?.())) : [];
      return lines.map((line) => `${line}\n`).join("") + inner.report(event);
    },
  };
}

/** When a job ran, and what it waited for. */
export interface JobTimes {
  readonly id: string;
  readonly needs: readonly string[];
  /** Milliseconds since 1970; absent where it did not start. */
  readonly started?: number;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * The ids of the jobs that decided how long a run took, in the order in which they ran: the job
 * that ended last, before it the need that it waited for longest, and so on.
 */
export function criticalPath(jobs: readonly JobTimes[]): string[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const path: string[] = [];
  let job = lastOf(jobs);
  while (job) {
    path.unshift(job.id);
    job = lastOf(job.needs.flatMap((id) => byId.get(id) ?? []));
  }
  return path;
}

function lastOf(jobs: readonly JobTimes[]): JobTimes | undefined {
  let last: JobTimes | undefined;
  for (const job of jobs) {
    if (job.started !== undefined && (!last || endOf(job) > endOf(last))) last = job;
  }
  return last;
}

function endOf({ started = 0, duration }: JobTimes): number {
  return started + duration;
}
