import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { sumOf } from "../../run/count_steps.ts";
import type { StepTally } from "../../run/event.ts";
import type { Change, JobRecord } from "../record.ts";
import type { Style } from "../reporter.ts";
import { fitSentence, indentLines, type Room } from "./lines.ts";
import { countOf } from "../../base/text/count_of.ts";

const MAX_STEPS = 5;
/** Longer paths are shown by their beginning and end. */
const MAX_JOBS = 12;

/** Where the names of steps begin, after their times, and on a narrow terminal. */
const INDENT = 11;
const NARROW_INDENT = 2;
const NARROW = 40;

/** When a job ran, and what it waited for. */
type JobTimes = Pick<JobRecord, "id" | "needs" | "started" | "duration">;

interface SlowStep {
  readonly job: JobRecord;
  readonly name: string;
  readonly duration: number;
  readonly entry?: number;
  readonly round?: number;
  /** The number of its rounds; this is the slowest. */
  readonly rounds?: number;
}

/** Follows what took the time of a run. */
export class TimeSummary {
  /** The slowest first; of jobs that repeat, the slowest round of each step. */
  #slowest: SlowStep[] = [];

  /** Takes an event of the run into account. */
  update({ event, job, step }: Change): void {
    // Skipped steps took no time.
    if (job && step && step.result.state !== "skipped") {
      const { run: { entry, round }, result: { name, duration } } = step;
      this.#add({ job, name, duration, entry, round });
    } else if (job && event.type === "rounds_tallied") {
      for (const step of event.steps) this.#addRounds(job, step);
    }
  }

  /** The slowest steps, and the jobs that nothing else would have made the run shorter than. */
  render(jobs: readonly JobRecord[], style: Style, room: Room): string[] {
    const steps = this.#slowest;
    const byId = new Map(jobs.map((job) => [job.id, job]));
    const path = criticalPath(jobs).map((id) => byId.get(id)!)
      .filter(({ state }) => state !== "skipped");
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

  #addRounds(job: JobRecord, { entry, slowest, states }: StepTally): void {
    if (!slowest) return;
    const rounds = sumOf(states) - states.skipped;
    this.#add({ job, ...slowest, entry, rounds });
  }

  #add(step: SlowStep): void {
    this.#slowest = [...this.#slowest, step].sort((a, b) => b.duration - a.duration)
      .slice(0, MAX_STEPS);
  }

  #title({ job, name, entry, round, rounds = 1 }: SlowStep): string {
    const remarks = [
      ...rounds > 1 ? [`slowest of ${countOf(rounds, "round")}`] : [],
      ...round === undefined ? [] : [`repeat_index ${round}`],
      ...entry === undefined ? [] : [`entry ${entry + 1}`],
    ];
    const title = `${job.name} › ${name}`;
    return oneLine(remarks.length === 0 ? title : `${title} (${remarks.join(", ")})`);
  }
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
