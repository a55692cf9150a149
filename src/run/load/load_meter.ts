import { Histogram } from "../../base/value/histogram.ts";
import type { Traffic } from "../../action/action.ts";
import type {
  BareEvent,
  Failure,
  JobState,
  LoadFailures,
  LoadSecondFields,
  LoadStepCounts,
  StepResult,
  StepRun,
  StepState,
  StepTree,
} from "../event.ts";
import { hasFailed, StepTrees } from "../step_trees.ts";
import { MAX_CAUSES, OTHER_CAUSES } from "./load_stats.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

type StepFinished = Extract<BareEvent, { readonly type: "step_finished" }>;

/** Counts what the rounds of a load job do in a second. */
export class LoadMeter {
  readonly #keys: readonly string[];
  readonly #maskText: (text: string) => string;
  readonly #trees = new StepTrees();
  #steps: StepMeter[] = [];
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #times = new Histogram(true);
  #failures = new Map<string, Mutable<LoadFailures>>();
  /** The causes that had their example. */
  readonly #known = new Set<string>();
  /** Of the steps that had theirs, its state. */
  readonly #firsts: (StepState | undefined)[] = [];

  /** `maskText` takes secrets out of a text. */
  constructor(keys: readonly string[], maskText: (text: string) => string) {
    this.#keys = keys;
    this.#maskText = maskText;
  }

  /** Whether nothing was counted since it was taken. */
  get isEmpty(): boolean {
    return this.#steps.length === 0 && this.#passed + this.#failed + this.#skipped === 0;
  }

  /** Counts a round that took so many milliseconds. */
  addRound(state: JobState, milliseconds: number): void {
    if (state === "skipped") return void this.#skipped++;
    if (state === "passed") this.#passed++;
    else this.#failed++;
    this.#times.add(milliseconds);
  }

  addStep({ run, result, time }: StepFinished): void {
    const first = this.#firsts[run.step];
    const hasFirst = first !== undefined && first !== "skipped";
    if (!run.within && this.#trees.isEmpty && hasFirst && !hasFailed(result)) {
      this.#stepOf(run).add(result);
      return;
    }
    const tree = this.#trees.finish({ run, result });
    if (!tree) return;
    const step = this.#stepOf(run);
    step.add(result);
    if (!hasFailed(result)) {
      if (hasFirst || first === result.state) return;
      this.#firsts[run.step] = result.state;
      step.first = tree;
      return;
    }
    const cause = this.#causeOf(this.#keys[run.step] ?? "", result.failures[0]);
    let failures = this.#failures.get(cause);
    if (!failures) {
      const isNew = !this.#known.has(cause) && this.#known.size < MAX_CAUSES;
      if (isNew) this.#known.add(cause);
      const key = this.#known.has(cause) ? cause : OTHER_CAUSES;
      failures = this.#failures.get(key) ?? { cause: key, count: 0, first: time, last: time };
      if (isNew) failures.example = tree;
      this.#failures.set(key, failures);
    }
    failures.count++;
    failures.last = time;
  }

  /** Another attempt of a step runs what the one before has run. */
  retry(run: StepRun): void {
    if (!this.#trees.isEmpty) this.#trees.retry(run);
  }

  /** Counts what an action has sent and received in a step. */
  addTraffic(run: StepRun, traffic: Traffic): void {
    this.#stepOf(run.within ? outermost(run) : run).addTraffic(traffic);
  }

  /** What was counted since the last call. */
  take(): Pick<LoadSecondFields, "rounds" | "steps" | "skipped" | "failures"> {
    const times = this.#times.encode();
    const taken = {
      rounds: { passed: this.#passed, failed: this.#failed, ...times ? { times } : {} },
      steps: this.#steps.flatMap((step, index) => step.counts(index)),
      ...this.#skipped > 0 ? { skipped: this.#skipped } : {},
      ...this.#failures.size > 0 ? { failures: [...this.#failures.values()] } : {},
    };
    this.#passed = this.#failed = this.#skipped = 0;
    this.#times = new Histogram(true);
    this.#steps = [];
    this.#failures = new Map();
    return taken;
  }

  #stepOf({ step }: StepRun): StepMeter {
    return this.#steps[step] ??= new StepMeter();
  }

  /** The same for all failures of a step that say the same about the same place. */
  #causeOf(step: string, failure: Failure | undefined): string {
    if (!failure) return step;
    const { message, place } = failure;
    // A secret with other digits would not be found any more.
    const [line = ""] = this.#maskText(message).split("\n", 1);
    const where = place ? `${place.file}:${place.line}:${place.column} ` : "";
    return `${step}: ${where}${line.replace(/\d+/g, "0")}`;
  }
}

function outermost(run: StepRun): StepRun {
  return run.within ? outermost(run.within) : run;
}

/** Counts the runs of a step. */
class StepMeter {
  first: StepTree | undefined;
  readonly #times = new Histogram(true);
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #tolerated = 0;
  #untested = 0;
  #flaky = 0;
  #right = 0;
  #wrong = 0;
  #traffic: { bytesIn: number; bytesOut: number; resent?: number } | undefined;
  #codes: Record<string, number> | undefined;
  #phases: Record<string, number> | undefined;

  add({ state, duration, wait = 0, flaky, assertions, phases }: StepResult): void {
    if (state === "skipped") return void this.#skipped++;
    if (state === "passed") this.#passed++;
    else if (state === "untested") {
      this.#passed++;
      this.#untested++;
    } else {
      this.#failed++;
      if (state === "tolerated") this.#tolerated++;
    }
    if (flaky) this.#flaky++;
    if (assertions) {
      this.#right += assertions.passed;
      this.#wrong += assertions.failed;
    }
    this.#times.add(Math.max(0, duration - wait));
    if (!phases) return;
    const sums = this.#phases ??= {};
    for (const name in phases) sums[name] = (sums[name] ?? 0) + phases[name]!;
  }

  addTraffic({ received, sent, code, queued, resent }: Traffic): void {
    const traffic = this.#traffic ??= { bytesIn: 0, bytesOut: 0 };
    traffic.bytesIn += received;
    traffic.bytesOut += sent;
    if (resent) traffic.resent = (traffic.resent ?? 0) + resent;
    if (queued !== undefined) {
      const sums = this.#phases ??= {};
      sums.queue = (sums.queue ?? 0) + queued;
    }
    if (code === undefined) return;
    const codes = this.#codes ??= {};
    const kind = CLASSES[Math.floor(code / 100)] ?? "other";
    codes[kind] = (codes[kind] ?? 0) + 1;
  }

  counts(step: number): LoadStepCounts {
    const times = this.#times.encode();
    const counted = { skipped: this.#skipped, tolerated: this.#tolerated } as const;
    const more = { ...counted, untested: this.#untested, flaky: this.#flaky };
    const phases = Object.entries(this.#phases ?? {})
      .map(([name, time]) => [name, Math.round(time * 1000) / 1000]);
    return {
      ...{ step, passed: this.#passed, failed: this.#failed },
      ...Object.fromEntries(Object.entries(more).filter(([, count]) => count > 0)),
      ...this.#right + this.#wrong > 0
        ? { assertions: { passed: this.#right, failed: this.#wrong } }
        : {},
      ...times ? { times } : {},
      ...this.first ? { first: this.first } : {},
      ...this.#traffic,
      ...this.#codes ? { codes: this.#codes } : {},
      ...phases.length > 0 ? { phases: Object.fromEntries(phases) } : {},
    };
  }
}

const CLASSES = [undefined, "1xx", "2xx", "3xx", "4xx", "5xx"];
