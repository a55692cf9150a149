import { contractsOf } from "../action/resource_scope.ts";
import type { LoadSecondFields } from "../run/event.ts";
import type { Worker } from "node:worker_threads";
import { fromFileUrl } from "@std/path/from-file-url";
import { type RunnerError, StepError } from "../base/errors.ts";
import { copyValue, type Dict } from "../base/value/value.ts";
import { isGranted } from "../host/deno_permissions.ts";
import { startWorker } from "../host/start_worker.ts";
import type { LoadRounds, RoundStart, SpreadLoad } from "../run/run_state.ts";
import { type LoadOrder, type LoadReport, type LoadTask, WORKER_MODULE } from "./load_worker.ts";
import { mergeSeconds } from "../run/load/load_stats.ts";

/** Merges the seconds of several processes, each as soon as all of them are past it. */
class SecondsMerger {
  readonly #parts: readonly { readonly seconds: LoadSecondFields[]; hasEnded: boolean }[];

  constructor(processes: number) {
    this.#parts = Array.from({ length: processes }, () => ({ seconds: [], hasEnded: false }));
  }

  /** Takes the next second of a process, from 0. Returns the seconds that are complete now. */
  add(process: number, second: LoadSecondFields): LoadSecondFields[] {
    this.#parts[process]!.seconds.push(second);
    return [...this.#complete()];
  }

  /** No second of this process comes any more. */
  end(process: number): LoadSecondFields[] {
    this.#parts[process]!.hasEnded = true;
    return [...this.#complete()];
  }

  *#complete(): Iterable<LoadSecondFields> {
    while (this.#parts.every(({ seconds, hasEnded }) => hasEnded || seconds.length > 0)) {
      const seconds = this.#parts.flatMap(({ seconds }) => seconds.splice(0, 1));
      if (seconds.length === 0) return;
      yield mergeSeconds(seconds);
    }
  }
}

/** Milliseconds between the order to begin and the beginning. */
const LEAD = 50;

/** Milliseconds that a process has to end once its cleanup must. */
const GRACE = 1000;

/** Runs the rounds of load jobs in that number of processes. */
export function spreadOver(processes: number): SpreadLoad {
  return { processes, roundsOf: (...job) => new LoadTeam(processes, ...job) };
}

/**
 * The rounds of a load job in several processes. They are workers of this one, since a worker has
 * a processor for itself all the same, gets the permissions of the program in all its forms, needs
 * none to be started, and is gone when the program is; what runs in them is a piece of the run, as
 * on several machines, but that its seconds come as messages and are merged at once.
 */
class LoadTeam implements LoadRounds {
  readonly #processes: number;
  readonly #start: RoundStart;
  readonly #onSecond: (second: LoadSecondFields) => string | undefined;
  readonly #merger: SecondsMerger;
  #workers: readonly Worker[] = [];
  /** Those that can begin, or have nothing to do. */
  readonly #ready = new Set<number>();
  readonly #ended = new Set<number>();
  readonly #over = Promise.withResolvers<void>();
  readonly #warnings = new Set<string>();
  stopped: string | undefined;
  /** Whether a process says that the job has failed. */
  hasFailed = false;
  problem: RunnerError | undefined;

  constructor(processes: number, ...[start, onSecond]: Parameters<SpreadLoad["roundsOf"]>) {
    this.#processes = processes;
    this.#start = start;
    this.#onSecond = onSecond;
    this.#merger = new SecondsMerger(processes);
  }

  async run(): Promise<void> {
    const { draining, cancellation, cleanup, host: { clock } } = this.#start.run;
    refuseDenial();
    const threads = await import("node:worker_threads");
    this.#workers = Array.from({ length: this.#processes }, (_, index) => {
      const worker = startWorker(threads, WORKER_MODULE, "serveLoad");
      worker.on("message", (report: LoadReport) => this.#take(index, report));
      worker.on("error", ({ message }: Error) => this.#lose(index, message));
      worker.on("exit", (code: number) => this.#lose(index, `it ended with exit code ${code}`));
      this.#tell(worker, { type: "run", task: taskOf(this.#start, index + 1, this.#processes) });
      return worker;
    });
    const links = [
      draining.add({ stop: ({ message }) => this.#stop(message, "drain") }),
      cancellation.add({ stop: ({ message }) => this.#stop(message, "cancel") }),
      cleanup.add({ stop: () => void clock.after(GRACE, () => this.#over.resolve()) }),
    ];
    if (draining.reason !== undefined) this.#stop(draining.reason, "drain");
    await this.#over.promise;
    for (const link of links) link.remove();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #take(index: number, report: LoadReport): void {
    const { run, job } = this.#start;
    switch (report.type) {
      case "ready":
        return this.#join(index);
      case "second":
        return this.#pass(this.#merger.add(index, report.second));
      case "round":
        return run.emit(report.round);
      case "warning":
        if (!this.#warnings.has(report.text)) run.note("warning", report.text);
        return void this.#warnings.add(report.text);
      case "done": {
        const { hasFailed, failures: [failure], coverage, hasDrawn } = report;
        if (hasDrawn) run.plan.draws.use();
        this.hasFailed ||= hasFailed;
        if (failure) this.#fail(new StepError(failure.message, failure.hint));
        const contracts = contractsOf(run.resources);
        for (const api of coverage) {
          contracts.set(`${contracts.size} ${job.id}`, Promise.resolve({ coverage: () => api }));
        }
        return this.#end(index);
      }
      case "broken":
        this.#fail(new StepError(report.message, report.hint));
        return this.#end(index);
    }
  }

  /** Has all begin once the last one is ready. */
  #join(index: number): void {
    if (this.#ready.has(index)) return;
    this.#ready.add(index);
    if (this.#ready.size < this.#processes) return;
    this.#tellAll({ type: "begin", at: this.#start.run.host.clock.now() + LEAD });
  }

  #pass(seconds: ReturnType<SecondsMerger["add"]>): void {
    for (const second of seconds) {
      const reason = this.#onSecond(second);
      if (reason !== undefined) this.#stop(reason, "drain");
    }
  }

  #end(index: number): void {
    this.#join(index);
    this.#ended.add(index);
    this.#pass(this.#merger.end(index));
    if (this.#ended.size === this.#processes) this.#over.resolve();
  }

  /** A process is over that had more to do. */
  #lose(index: number, why: string): void {
    if (this.#ended.has(index)) return;
    this.#fail(new StepError(`process ${index + 1} of ${this.#processes} was lost: ${why}`));
    this.#end(index);
  }

  #fail(problem: RunnerError): void {
    this.problem ??= problem;
    this.#stop(problem.message, "drain");
  }

  #stop(reason: string, type: "cancel" | "drain"): void {
    this.stopped ??= reason;
    this.#tellAll({ type, reason });
  }

  #tellAll(order: LoadOrder): void {
    for (const worker of this.#workers) this.#tell(worker, order);
  }

  #tell(worker: Worker, order: LoadOrder): void {
    worker.postMessage(order);
  }
}

function taskOf({ run, job, names }: RoundStart, index: number, of: number): LoadTask {
  const { plan, vars, outputs, options, detail, snapshots, secrets } = run;
  const { document: { name, files, defaults } } = plan.workflow;
  const { load: longest, strict, permissions, tls, openapi, cleanupTimeout, piece, memory, trace } =
    options;
  const before = [...piece?.outputs ?? [], ...Object.entries(outputs.ofSteps())];
  return {
    document: { name, files, ...defaults ? { defaults } : {} },
    job: job.id,
    part: { index, of },
    seed: plan.draws.seed,
    vars: copyValue(vars) as Dict,
    needs: copyValue(names.needs) as Dict,
    visible: Object.fromEntries(
      Object.entries(options.outputs ?? {}).map(([id, values]) => [id, copyValue(values) as Dict]),
    ),
    outputs: before.map(([id, values]) => [id, copyValue(values) as Dict]),
    previous: memory?.previous,
    secrets: secrets.secrets,
    options: {
      ...{ load: longest, strict, permissions, tls, openapi, cleanupTimeout, snapshots, trace },
      detail: { ...detail, debug: false },
    },
  };
}

/** Throws why a worker cannot load the program, which Deno takes for a file that has to be read. */
function refuseDenial(): void {
  if (!WORKER_MODULE.startsWith("file:")) return;
  const path = fromFileUrl(WORKER_MODULE);
  if (isGranted({ name: "read", path })) return;
  throw new StepError(
    `a load job cannot run in several processes: Deno does not let it read "${path}"`,
    `run it with deno run --allow-read=${path}`,
  );
}
