import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { sumOf } from "../../run/count_steps.ts";
import type { RunEvent, StepFinished, StepTally } from "../../run/event.ts";
import type { Style } from "../reporter.ts";
import { countOf, fitSentence, indentLines, type Room } from "./lines.ts";

const MAX_STEPS = 5;
/** Longer paths are shown by their beginning and end. */
const MAX_JOBS = 12;

/** Where the names of steps begin, after their times, and on a narrow terminal. */
const INDENT = 11;
const NARROW_INDENT = 2;
const NARROW = 40;

/** When a job ran, and what it waited for. */
interface JobTimes {
  readonly id: string;
  readonly needs: readonly string[];
  /** Milliseconds since 1970; absent where it did not start. */
  readonly started?: number;
  /** Milliseconds. */
  readonly duration: number;
}

interface NamedJob extends JobTimes {
  readonly name: string;
  readonly isSkipped?: boolean;
  /** It runs more than once, so that its steps are in a tally. */
  readonly isRepeated?: boolean;
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
  /** The slowest first; of jobs that repeat, the slowest round of each step. */
  #slowest: SlowStep[] = [];

  /** Takes an event of the run into account. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        for (const { id, name, needs } of event.jobs) {
          this.#jobs.set(id, { id, name, needs, duration: 0 });
        }
        return;
      case "job_started":
        return this.#change(event.job, {
          started: event.time,
          isRepeated: (event.rounds ?? 1) !== 1,
        });
      case "job_finished": {
        const { duration, state } = event;
        return this.#change(event.job, { duration, isSkipped: state === "skipped" });
      }
      case "step_finished":
        // Steps inside of a step are part of its time, and skipped steps took none.
        if (!event.run.within && event.result.state !== "skipped") this.#addStep(event);
        return;
      case "rounds_tallied":
        for (const step of event.steps) this.#addRounds(event.job, step);
        return;
    }
  }

  /** The slowest steps, and the jobs that nothing else would have made the run shorter than. */
  render(style: Style, room: Room): string[] {
    const steps = this.#slowest;
    const path = criticalPath([...this.#jobs.values()]).map((id) => this.#jobs.get(id)!)
      .filter(({ isSkipped }) => !isSkipped);
    if (steps.length === 0 || path.length === 0) return [];
    const time = path.reduce((sum, { duration }) => sum + duration, 0);
    const names = path.map(({ name }) => oneLine(name));
    if (names.length > MAX_JOBS) {
      const left = countOf(names.length - MAX_JOBS, "more job");
      names.splice(MAX_JOBS / 2, names.length - MAX_JOBS, `… (${left})`);
    }
    return [
      style.bold("Slowest steps"),
      ...steps.flatMap((step) => {
        const [elapsed, title] = [formatElapsed(step.duration), this.#title(step)];
        return room.columns < NARROW
          ? hanging(NARROW_INDENT, "", `${elapsed} ${title}`, room)
          : hanging(INDENT, elapsed.padStart(INDENT - 2), title, room);
      }),
      `${style.bold("Critical path")} ${style.dim(formatElapsed(time))}`,
      ...hanging(NARROW_INDENT, "", names.join(" → "), room),
      "",
    ];
  }

  #change(id: string, change: Partial<NamedJob>): void {
    const job = this.#jobs.get(id);
    if (job) this.#jobs.set(id, { ...job, ...change });
  }

  #addStep({ run: { job, entry, round }, result: { name, duration } }: StepFinished): void {
    if (this.#jobs.get(job)?.isRepeated) return;
    this.#slowest = slowestOf([...this.#slowest, { job, name, duration, entry, round }]);
  }

  #addRounds(job: string, { entry, slowest, states }: StepTally): void {
    if (!slowest) return;
    const rounds = sumOf(states) - states.skipped;
    this.#slowest = slowestOf([...this.#slowest, { job, ...slowest, entry, rounds }]);
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
  return [...steps].sort((a, b) => b.duration - a.duration).slice(0, MAX_STEPS);
}

/** A text beside a label; its further lines are indented as far. */
function hanging(indent: number, label: string, text: string, { columns, wraps }: Room): string[] {
  const [first = "", ...rest] = fitSentence(text, { wraps, columns: columns - indent });
  return [label.padEnd(indent) + first, ...indentLines(rest, indent)];
}

/**
 * The ids of the jobs that decided how long a run took, in the order in which they ran: the job
 * that ended last, before it the need that it waited for longest, and so on.
 */
export function criticalPath(jobs: readonly JobTimes[]): string[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const path: string[] = [];
  for (let job = lastOf(jobs); job;) {
    path.unshift(job.id);
    job = lastOf(job.needs.flatMap((id) => byId.get(id) ?? []));
  }
  return path;
}

function lastOf(jobs: readonly JobTimes[]): JobTimes | undefined {
  const endOf = ({ started = 0, duration }: JobTimes) => started + duration;
  return jobs.filter(({ started }) => started !== undefined)
    .reduce<JobTimes | undefined>(
      (last, job) => !last || endOf(job) > endOf(last) ? job : last,
      undefined,
    );
}
