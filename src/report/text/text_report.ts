import type { JobStarted, RunEvent, RunFinished, RunStarted } from "../../run/event.ts";
import { addStep, type JobBlock, makeJobBlock } from "./job_block.ts";
import { renderFooter, runHeader } from "./layout.ts";
import { printableEvent } from "../model/printable_event.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { makeJobRounds } from "./render_rounds.ts";
import { type FailureEntry, renderFailureList } from "./failure_list.ts";
import { asText, roomOf } from "./lines.ts";
import { type JobWriter, writeAtOnce } from "./write_jobs.ts";
import { hasFailed } from "../model/round_tally.ts";
import { StepTrees, UntestedSteps } from "../model/steps.ts";

/** The lines around those of the jobs. */
export interface RunFrame {
  start(event: RunStarted): string[];
  /**
   * `failures` are those of all jobs, in the order of the file; `untested` names the steps that
   * were unsuccessful and that nothing tests.
   */
  end(event: RunFinished, failures: readonly FailureEntry[], untested: string): string[];
}

/**
 * The report that people read; `jobs` decides when the lines of jobs are written, and `frame` what
 * is around them.
 */
export function textReport(
  options: ReportOptions,
  jobs = writeAtOnce(options),
  frame = frameOf(options),
): Reporter {
  const text = new TextReport(jobs, frame);
  return {
    report: (event) => text.take(printableEvent(withoutDetails(event))),
  };
}

/** An event without what this report never shows, which others may have asked for. */
function withoutDetails(event: RunEvent): RunEvent {
  if (event.type === "run_started") {
    return { ...event, jobs: event.jobs.map((job) => ({ ...job, steps: [] })) };
  }
  if (event.type !== "step_finished" || hasFailed(event.result)) return event;
  const { exchange, tests, outputs, ...result } = event.result;
  const attempts = result.attempts.length < 2
    ? result.attempts
    : result.attempts.map(({ detail: _, ...attempt }) => attempt);
  if (!exchange && !tests && !outputs) return event;
  return { ...event, result: { ...result, attempts } };
}

/** The name of the workflow above, and below all that failed and how it ended. */
function frameOf({ style, columns }: ReportOptions): RunFrame {
  return {
    start: ({ name, description }) => runHeader(name, description, style),
    end(event, failures, untested) {
      const list = failures.length === 0
        ? []
        : renderFailureList(failures, style, roomOf(columns?.()));
      return [...list, renderFooter(event, style, untested)];
    },
  };
}

class TextReport {
  readonly #jobs: JobWriter;
  readonly #frame: RunFrame;
  readonly #trees = new StepTrees();
  readonly #untested = new UntestedSteps();
  /** By id, in the order of the file; so are their positions. */
  readonly #blocks = new Map<string, JobBlock>();

  constructor(jobs: JobWriter, frame: RunFrame) {
    this.#jobs = jobs;
    this.#frame = frame;
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
        this.#untested.add(step);
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
      case "suite_started":
      case "suite_finished":
        return "";
    }
  }

  #startRun(event: RunStarted): string {
    for (const job of event.jobs) this.#addBlock(job.id, job.name);
    return asText(this.#frame.start(event));
  }

  #startJob({ job, name, rounds, expect }: JobStarted): string {
    this.#jobs.start(this.#addBlock(job, name, rounds, expect));
    return "";
  }

  #endRun(event: RunFinished): string {
    const failures = [...this.#blocks.values()].flatMap((block) => block.failures);
    return asText(this.#frame.end(event, failures, this.#untested.names));
  }

  #block(id: string): JobBlock {
    return this.#blocks.get(id) ?? this.#addBlock(id, id);
  }

  /** A job keeps its position when more is known about it. */
  #addBlock(id: string, name: string, rounds = 1, expect?: string): JobBlock {
    const position = this.#blocks.get(id)?.position ?? this.#blocks.size;
    const block = makeJobBlock(
      position,
      name,
      rounds === 1 ? undefined : makeJobRounds(rounds, expect),
    );
    this.#blocks.set(id, block);
    return block;
  }
}
