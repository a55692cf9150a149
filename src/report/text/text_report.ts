import type {
  JobFinished,
  JobStarted,
  RunEvent,
  RunFinished,
  RunStarted,
} from "../../run/event.ts";
import { endLines, type JobBlock, makeJobBlock, openLines, stepLines } from "./job_block.ts";
import { JobOrder } from "../model/job_order.ts";
import { renderFooter, runHeader } from "./layout.ts";
import { printableEvent } from "../model/printable_event.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { makeJobRounds } from "../model/job_rounds.ts";
import { renderFailureList } from "./failure_list.ts";
import { roomOf } from "./text_lines.ts";
import { StepTrees } from "../model/step_trees.ts";

/**
 * The report that people read, for `stream` and `spinner` alike.
 *
 * Each job is one block of lines whatever runs beside it, and the same block for any order in
 * which the events of different jobs come.
 */
export function textReport(options: ReportOptions): Reporter {
  const text = new TextReport(options);
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
  readonly #order = new JobOrder();
  readonly #trees = new StepTrees();
  /** By id, in the order of the file; so are the positions that `JobOrder` knows them by. */
  readonly #blocks = new Map<string, JobBlock>();

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  take(event: RunEvent): string {
    switch (event.type) {
      case "run_started":
        return this.#startRun(event);
      case "job_started":
        return this.#startJob(event);
      case "step_started": {
        const block = this.#block(event.run.job);
        return this.#write(block, openLines(block, this.#options));
      }
      case "step_finished": {
        const step = this.#trees.finish(event);
        if (!step) return "";
        const block = this.#block(event.run.job);
        return this.#write(block, stepLines(block, step, this.#options));
      }
      case "step_retried":
        this.#trees.retry(event.run);
        return "";
      case "round_finished": {
        this.#block(event.job).rounds?.endRound(event.state);
        return "";
      }
      case "job_finished":
        return this.#endJob(event);
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
    this.#order.start(this.#addBlock(job, name, rounds).position);
    return "";
  }

  #endJob(event: JobFinished): string {
    const block = this.#block(event.job);
    const lines = endLines(block, event, this.#options);
    return this.#order.end(block.position, asText(lines));
  }

  #endRun(event: RunFinished): string {
    const { style, columns } = this.#options;
    const failures = [...this.#blocks.values()].flatMap((block) => block.failures);
    const list = failures.length === 0
      ? []
      : renderFailureList(failures, style, roomOf(columns?.()));
    return asText([...list, renderFooter(event, style)]);
  }

  #write(block: JobBlock, lines: readonly string[]): string {
    return lines.length === 0 ? "" : this.#order.write(block.position, asText(lines));
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

function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
