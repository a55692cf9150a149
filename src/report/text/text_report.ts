import type { JobStarted, RunEvent, RunFinished, RunStarted } from "../../run/event.ts";
import { addStep, type JobBlock, makeJobBlock } from "./job_block.ts";
import { renderFooter, runHeader } from "./layout.ts";
import { printableEvent } from "../model/printable_event.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { makeJobRounds } from "../model/job_rounds.ts";
import { renderFailureList } from "./failure_list.ts";
import { asText, roomOf } from "./text_lines.ts";
import { type JobWriter, writeAtOnce } from "./write_jobs.ts";
import { StepTrees } from "../model/step_trees.ts";

/** The report that people read; `jobs` decides when the lines of jobs are written. */
export function textReport(options: ReportOptions, jobs = writeAtOnce(options)): Reporter {
  const text = new TextReport(options, jobs);
  return {
    report: (event) => text.take(printableEvent(withoutDetails(event))),
  };
}

/** An event without what this report never shows, which others may have asked for. */
function withoutDetails(event: RunEvent): RunEvent {
  if (event.type === "run_started") {
    return { ...event, jobs: event.jobs.map((job) => ({ ...job, steps: [] })) };
  }
  if (event.type !== "step_finished" || event.result.state === "failed") return event;
  if (!event.result.exchange && !event.result.test && !event.result.outputs) return event;
  const { exchange: _, test: __, outputs: ___, ...result } = event.result;
  return { ...event, result };
}

class TextReport {
  readonly #options: ReportOptions;
  readonly #jobs: JobWriter;
  readonly #trees = new StepTrees();
  /** By id, in the order of the file; so are their positions. */
  readonly #blocks = new Map<string, JobBlock>();

  constructor(options: ReportOptions, jobs: JobWriter) {
    this.#options = options;
    this.#jobs = jobs;
  }

  take(event: RunEvent): string {
    switch (event.type) {
      case "run_started":
        return this.#startRun(event);
      case "job_started":
        return this.#startJob(event);
      case "step_started":
        return this.#jobs.begin(this.#block(event.run.job));
      case "step_finished": {
        const step = this.#trees.finish(event);
        if (!step) return "";
        const block = this.#block(event.run.job);
        addStep(block, step);
        return this.#jobs.step(block, step);
      }
      case "step_retried":
        this.#trees.retry(event.run);
        return "";
      case "round_finished": {
        this.#block(event.job).rounds?.endRound(event.state);
        return "";
      }
      case "job_finished":
        return this.#jobs.end(this.#block(event.job), event);
      case "run_finished":
        return this.#endRun(event);
      case "step_waiting":
      case "note":
        return "";
    }
  }

  #startRun({ name, description, jobs }: RunStarted): string {
    for (const job of jobs) this.#addBlock(job.id, job.name);
    return asText(runHeader(name, description, this.#options.style));
  }

  #startJob({ job, name, rounds }: JobStarted): string {
    this.#jobs.start(this.#addBlock(job, name, rounds));
    return "";
  }

  #endRun(event: RunFinished): string {
    const { style, columns } = this.#options;
    const failures = [...this.#blocks.values()].flatMap((block) => block.failures);
    const list = failures.length === 0
      ? []
      : renderFailureList(failures, style, roomOf(columns?.()));
    return asText([...list, renderFooter(event, style)]);
  }

  #block(id: string): JobBlock {
    return this.#blocks.get(id) ?? this.#addBlock(id, id);
  }

  /** A job keeps its position when more is known about it. */
  #addBlock(id: string, name: string, rounds = 1): JobBlock {
    const position = this.#blocks.get(id)?.position ?? this.#blocks.size;
    const block = makeJobBlock(
      position,
      name,
      rounds === 1 ? undefined : makeJobRounds(rounds),
    );
    this.#blocks.set(id, block);
    return block;
  }
}
