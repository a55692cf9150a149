import type { RunEvent, StepFinished } from "../run/event.ts";
import { criticalPath, type JobTimes } from "./critical_path.ts";
import { formatElapsed, formatSeconds } from "./format_time.ts";
import type { Style } from "./style.ts";
import { oneLine } from "./text_lines.ts";

const MOST_STEPS = 5;

interface NamedJob extends JobTimes {
  readonly name: string;
}

interface SlowStep {
  readonly title: string;
  readonly duration: number;
}

/** Follows what took the time of a run. */
export class TimeSummary {
  readonly #jobs = new Map<string, NamedJob>();
  /** The slowest first. */
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
        return this.#change(event.job, { started: event.time });
      case "job_finished":
        return this.#change(event.job, { duration: event.duration });
      case "step_finished":
        // What runs inside of a step is part of its time.
        if (!event.run.within) this.#addStep(event);
        return;
      default:
        return;
    }
  }

  /** The slowest steps, and the jobs that nothing else would have made the run shorter than. */
  render(style: Style): string[] {
    if (this.#slowest.length === 0) return [];
    const path = criticalPath([...this.#jobs.values()]).map((id) => this.#jobs.get(id)!);
    const time = path.reduce((sum, { duration }) => sum + duration, 0);
    return [
      style.bold("Slowest steps"),
      ...this.#slowest.map(({ title, duration }) =>
        `${formatElapsed(duration).padStart(9)}  ${oneLine(title)}`
      ),
      `${style.bold("Critical path")} ${path.map(({ name }) => oneLine(name)).join(" → ")} ${
        style.dim(`(${formatSeconds(time)})`)
      }`,
      "",
    ];
  }

  #change(id: string, change: Partial<NamedJob>): void {
    const job = this.#jobs.get(id);
    if (job) this.#jobs.set(id, { ...job, ...change });
  }

  #addStep({ run: { job, round }, result: { name, duration } }: StepFinished): void {
    const last = this.#slowest.at(-1);
    if (this.#slowest.length === MOST_STEPS && last && duration <= last.duration) return;
    const which = round === undefined ? "" : ` (repeat_index ${round})`;
    const title = `${this.#jobs.get(job)?.name ?? job} › ${name}${which}`;
    this.#slowest = [...this.#slowest, { title, duration }]
      .sort((a, b) => b.duration - a.duration).slice(0, MOST_STEPS);
  }
}
