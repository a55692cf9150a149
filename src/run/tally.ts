import type { Traffic } from "../action/action.ts";
import { roundDuration } from "../base/value/duration.ts";
import { Histogram } from "../base/value/histogram.ts";
import { noSteps } from "./count_steps.ts";
import type {
  BareEvent,
  EchoTally,
  FailureCount,
  JobState,
  RoundTally,
  StepResult,
  StepRun,
  StepState,
  StepTally,
  StepTree,
} from "./event.ts";
import { hasFailed, StepTrees } from "./step_trees.ts";

type StepFinished = Extract<BareEvent, { readonly type: "step_finished" }>;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A tally in which failures that were known before have no example. */
type PartOfTally = RoundTally<FailureCount>;

/** How a tally counts. */
interface TallyOptions {
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
  /** Counts the entries of an `iteration` together, and keeps no echoes. */
  readonly isBrief: boolean;
}

const OPTIONS: TallyOptions = { mask: (text) => text, isBrief: false };

/**
 * Counts what rounds of a job do, in memory that does not grow with their number. All that reports
 * know of a job with several rounds, or under load, is a sum of these.
 */
export class Tally {
  readonly #options: TallyOptions;
  readonly #trees = new StepTrees();
  readonly #steps: StepsBySlot = new Map();
  readonly rounds: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  /** The times of rounds that were not cut short. */
  times = new Histogram();

  constructor(options: Partial<TallyOptions> = {}) {
    this.#options = { ...OPTIONS, ...options };
  }

  /** Each step that ran or was skipped, in the order of the file. */
  get steps(): StepCounts[] {
    return inOrder(this.#steps);
  }

  get ended(): number {
    const { passed, failed, skipped } = this.rounds;
    return passed + failed + skipped;
  }

  get isEmpty(): boolean {
    return this.ended === 0 && this.#steps.values().every((step) => step.isEmpty);
  }

  /** Counts a round and the milliseconds that it took. */
  addRound(state: JobState, milliseconds: number): void {
    this.rounds[state]++;
    if (state !== "skipped") this.times.add(milliseconds);
  }

  addStep({ run, result, time }: StepFinished): void {
    if (!run.within && this.#trees.isEmpty) {
      const counts = this.#steps.get(slotOf(run.step, this.#entryOf(run)));
      if (counts?.isUsual(result)) return counts.add(result, run.round ?? 0, this.#options);
    }
    const tree = this.#trees.finish({ run, result });
    if (tree) this.#addTree(this.#steps, tree, run.round ?? 0, time);
  }

  /** Another attempt of a step runs what the one before has run. */
  retry(run: StepRun): void {
    if (!this.#trees.isEmpty) this.#trees.retry(run);
  }

  /** Counts what an action has sent and received in a step. */
  addTraffic(run: StepRun, traffic: Traffic): void {
    const outer = outermost(run);
    this.#countsOf(this.#steps, outer.step, this.#entryOf(outer)).addTraffic(traffic);
  }

  /** Adds what other rounds did. */
  add({ rounds, times, steps }: PartOfTally): void {
    addTo(this.rounds, rounds);
    if (times) this.times.merge(Histogram.decode(times));
    this.#merge(this.#steps, steps);
  }

  /** As plain data. */
  toJson(): RoundTally {
    const { rounds, times } = this;
    // Each kind of failures has its example, as nothing was taken.
    const steps = this.steps.map((step) => step.toJson()) as readonly StepTally[];
    return { rounds: { ...rounds }, times: times.encode(), steps };
  }

  /** What was counted since the last call; the runs that it shows are not shown again. */
  take(): PartOfTally {
    const steps = this.steps.filter(({ isEmpty }) => !isEmpty).map((step) => step.toJson());
    const taken = { rounds: { ...this.rounds }, times: this.times.encode(), steps };
    Object.assign(this.rounds, { passed: 0, failed: 0, skipped: 0 });
    this.times = new Histogram();
    for (const step of this.#steps.values()) step.clear();
    return taken;
  }

  #addTree(all: StepsBySlot, tree: StepTree, round: number, time: number): void {
    const counts = this.#countsOf(all, tree.run.step, this.#entryOf(tree.run));
    counts.add(tree.result, round, this.#options);
    counts.addExample(tree, round, time, this.#options);
    for (const inner of tree.inside) this.#addTree(counts.inside, inner, round, time);
  }

  #merge(all: StepsBySlot, steps: readonly StepTally<FailureCount>[]): void {
    for (const step of steps) {
      const counts = this.#countsOf(all, step.step, step.entry);
      counts.merge(step);
      this.#merge(counts.inside, step.inside);
    }
  }

  #entryOf({ entry }: StepRun): number | undefined {
    return this.#options.isBrief ? undefined : entry;
  }

  #countsOf(all: StepsBySlot, step: number, entry: number | undefined): StepCounts {
    const slot = slotOf(step, entry);
    let counts = all.get(slot);
    if (!counts) all.set(slot, counts = new StepCounts(step, entry));
    return counts;
  }
}

/** The counts of the steps of a job, by step and entry. */
type StepsBySlot = Map<number, StepCounts>;

/** More steps than a job has. */
const STEPS = 1_000_000;

function slotOf(step: number, entry = -1): number {
  return (entry + 1) * STEPS + step;
}

function inOrder(steps: StepsBySlot): StepCounts[] {
  return [...steps.values()].sort((one, other) =>
    one.step - other.step || (one.entry ?? -1) - (other.entry ?? -1)
  );
}

function outermost(run: StepRun): StepRun {
  return run.within ? outermost(run.within) : run;
}

/** The most distinct echoes of a step that are kept, and kinds of failures of one outcome. */
const [MAX_ECHOES, MAX_KINDS] = [100, 10];

/** The fields of counts that add up: numbers, and numbers by name. */
const NUMBERS = ["flaky", "otherEchoes", "otherFailures", "bytesIn", "bytesOut", "resent"] as const;
const MAPS = ["assertions", "snapshots", "codes", "phases"] as const;

/** Counts the runs of a step, or of an entry of its `iteration`. */
export class StepCounts {
  readonly step: number;
  readonly entry: number | undefined;
  name: string | undefined;
  /** Its name in the latest round, with secrets. */
  #latest: string | undefined;
  /** The state of the run that was kept as the first. */
  #firstState: StepState | undefined;
  states = noSteps();
  times = new Histogram();
  instant: true | undefined;
  flaky = 0;
  otherEchoes = 0;
  otherFailures = 0;
  bytesIn: number | undefined;
  bytesOut: number | undefined;
  resent: number | undefined;
  assertions: Record<string, number> | undefined;
  snapshots: Record<string, number> | undefined;
  codes: Record<string, number> | undefined;
  phases: Record<string, number> | undefined;
  slowest: StepTally["slowest"];
  reason: string | undefined;
  first: StepTree | undefined;
  /** By their text. */
  readonly #echoes = new Map<string, Mutable<EchoTally>>();
  /** By their cause; those that were taken are still known. */
  readonly #failures = new Map<string, Mutable<FailureCount>>();
  readonly inside: StepsBySlot = new Map();

  constructor(step: number, entry: number | undefined) {
    this.step = step;
    this.entry = entry;
  }

  get isEmpty(): boolean {
    const { passed, failed, skipped, untested, allowed } = this.states;
    return passed + failed + skipped + untested + allowed === 0 && this.bytesIn === undefined;
  }

  /** Whether a run shows nothing that others have not shown. */
  isUsual(result: StepResult): boolean {
    if (hasFailed(result) || this.#firstState === undefined) return false;
    return this.#firstState !== "skipped" || result.state === "skipped";
  }

  add(result: StepResult, round: number, { mask, isBrief }: TallyOptions): void {
    const { name, state, duration, wait = 0, flaky, instant, reason, echo } = result;
    const { assertions, snapshot, phases } = result;
    if (name !== this.#latest) {
      this.#latest = name;
      this.name = commonName(this.name, mask(name));
    }
    this.states[state]++;
    if (echo !== undefined && !isBrief && echo.trim() !== "") this.#addEcho(mask(echo), round, 1);
    if (reason !== undefined) this.reason ??= reason;
    if (state === "skipped") return;
    this.times.add(Math.max(0, duration - wait));
    if (instant) this.instant = true;
    if (flaky) this.flaky++;
    if (!(duration <= (this.slowest?.duration ?? -1))) this.slowest = { round, name, duration };
    if (assertions) {
      this.assertions ??= { passed: 0, failed: 0 };
      this.assertions.passed! += assertions.passed;
      this.assertions.failed! += assertions.failed;
    }
    if (snapshot) addTo(this.snapshots ??= {}, { [snapshot.state]: 1 });
    if (phases) addTo(this.phases ??= {}, phases);
  }

  addTraffic({ received, sent, code, queued, resent }: Traffic): void {
    this.bytesIn = (this.bytesIn ?? 0) + received;
    this.bytesOut = (this.bytesOut ?? 0) + sent;
    if (resent) this.resent = (this.resent ?? 0) + resent;
    if (queued !== undefined) {
      const phases = this.phases ??= {};
      phases.queue = (phases.queue ?? 0) + queued;
    }
    if (code === undefined) return;
    const codes = this.codes ??= {};
    const kind = CLASSES[Math.floor(code / 100)] ?? "other";
    for (const key of [kind, String(code)]) codes[key] = (codes[key] ?? 0) + 1;
  }

  /** Keeps the first run that did not fail, and the first failure of each kind. */
  addExample(tree: StepTree, round: number, time: number, { mask }: TallyOptions): void {
    const { result } = tree;
    if (!hasFailed(result)) {
      if (this.isUsual(result)) return;
      this.first = tree;
      this.#firstState = result.state;
      return;
    }
    const cause = causeOf(result, mask);
    const { state } = result;
    this.#addFailures({ cause, state, count: 1, from: time, to: time, round, first: tree });
  }

  merge(other: StepTally<FailureCount>): void {
    this.name = commonName(this.name, other.name);
    for (const key of NUMBERS) {
      if (other[key] !== undefined) this[key] = (this[key] ?? 0) + other[key];
    }
    addTo(this.states, other.states);
    for (const key of MAPS) {
      const added = other[key] as Readonly<Record<string, number>> | undefined;
      if (added) addTo(this[key] ??= {}, added);
    }
    if (other.times) this.times.merge(Histogram.decode(other.times));
    this.instant ??= other.instant;
    this.reason ??= other.reason;
    if ((other.slowest?.duration ?? -1) > (this.slowest?.duration ?? -1)) {
      this.slowest = other.slowest;
    }
    if (other.first && !this.isUsual(other.first.result)) {
      this.first = other.first;
      this.#firstState = other.first.result.state;
    }
    for (const { text, round, count } of other.echoes) this.#addEcho(text, round, count);
    for (const failures of other.failures) this.#addFailures(failures);
  }

  toJson(): StepTally<FailureCount> {
    const { step, entry, name = "", states, times, instant, reason, slowest, first } = this;
    const { flaky, assertions, snapshots, otherEchoes, otherFailures } = this;
    const { bytesIn, bytesOut, resent, codes, phases } = this;
    return {
      ...{ step, entry, name, states: { ...states }, times: times.encode(), instant, flaky },
      ...{ reason, assertions: assertions as StepTally["assertions"], snapshots, slowest },
      ...{ bytesIn, bytesOut, resent, codes },
      phases: phases && mapValues(phases, roundDuration),
      first,
      failures: [...this.#failures.values()].filter(({ count }) => count > 0)
        .map((failures) => ({ ...failures })),
      otherFailures,
      echoes: [...this.#echoes.values()].sort((one, other) => one.round - other.round),
      otherEchoes,
      inside: inOrder(this.inside).filter(({ isEmpty }) => !isEmpty).map((step) => step.toJson()),
    };
  }

  /** Begins to count anew, but knows what it has shown. */
  clear(): void {
    this.states = noSteps();
    this.times = new Histogram();
    this.flaky = this.otherEchoes = this.otherFailures = 0;
    this.bytesIn = this.bytesOut = this.resent = undefined;
    this.assertions =
      this.snapshots =
      this.codes =
      this.phases =
        undefined;
    this.slowest = this.first = undefined;
    for (const failures of this.#failures.values()) {
      failures.count = 0;
      failures.first = undefined;
    }
    for (const step of this.inside.values()) step.clear();
  }

  #addEcho(text: string, round: number, count: number): void {
    const known = this.#echoes.get(text);
    if (known) {
      known.count += count;
      known.round = Math.min(known.round, round);
    } else if (this.#echoes.size < MAX_ECHOES) this.#echoes.set(text, { text, round, count });
    else this.otherEchoes += count;
  }

  #addFailures(added: FailureCount): void {
    const { cause, state, count, from, to, round, first } = added;
    const key = `${state} ${cause}`;
    const known = this.#failures.get(key);
    if (known) {
      known.from = known.count === 0 ? from : Math.min(known.from, from);
      known.to = Math.max(known.to, to);
      known.count += count;
      // Parallel rounds end in any order.
      if (first && known.first && round < known.round) Object.assign(known, { first, round });
    } else if (this.#countKinds(state) < MAX_KINDS) {
      this.#failures.set(key, { ...added });
    } else {
      this.otherFailures += count;
    }
  }

  /** The number of kinds of failures with a state: allowed ones displace no others. */
  #countKinds(state: StepState): number {
    return this.#failures.values().filter((kind) => kind.state === state).toArray().length;
  }
}

const CLASSES = [undefined, "1xx", "2xx", "3xx", "4xx", "5xx"];

function addTo(sums: Record<string, number>, added: Readonly<Record<string, number>>): void {
  for (const name in added) sums[name] = (sums[name] ?? 0) + added[name]!;
}

function mapValues(
  values: Readonly<Record<string, number>>,
  change: (value: number) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/**
 * The same for failures that say the same about the same place, whatever the values were. Numbers
 * in what they say may be those of the rounds.
 */
function causeOf({ failures, exchange }: StepResult, mask: (text: string) => string): string {
  const reasons = failures.map(({ message, place }) => {
    // A secret with other digits would not be found any more.
    const [line = ""] = mask(message).split("\n", 1);
    const where = place ? `${place.file}:${place.line}:${place.column} ` : "";
    return where + line.replace(/\d+/g, "0");
  });
  return reasons.join("; ") + (exchange?.brief ? ` (${exchange.brief})` : "");
}

/**
 * `request …` for `request 1` and `request 2`: the common beginning and end of two names, of which
 * one may be such a name, too.
 */
function commonName(known: string | undefined, name: string): string {
  if (known === undefined || known === name) return name;
  if (known.endsWith(NOTHING_IN_COMMON)) return known;
  const gap = known.indexOf("…");
  const isAlike = gap >= 0 && name.length >= known.length - 1 &&
    name.startsWith(known.slice(0, gap)) &&
    name.endsWith(known.slice(gap + 1));
  if (isAlike) return known;
  const [one, other] = [partsOf(known), partsOf(name)];
  const begin = countSame(one, other);
  // A part of the common beginning cannot be part of the end, too.
  const room = Math.min(one.length, other.length) - begin;
  const end = Math.min(room, countSame(one.toReversed(), other.toReversed()));
  const [head, tail] = [one.slice(0, begin), one.slice(one.length - end)].map((parts) =>
    parts.join("")
  );
  return /[\p{L}\p{N}]/u.test(head! + tail!) ? `${head}…${tail}` : known + NOTHING_IN_COMMON;
}

const NOTHING_IN_COMMON = ", …";

function partsOf(name: string): string[] {
  return name.match(/\p{L}+|\p{N}+|[^\p{L}\p{N}]/gu) ?? [];
}

function countSame(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((part, index) => part !== other[index]);
  return end < 0 ? one.length : end;
}
