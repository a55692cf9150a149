import { roundDuration } from "../../base/value/duration.ts";
import { type EncodedHistogram, Histogram } from "../../base/value/histogram.ts";
import type { LoadCounts, LoadFailures, LoadSecondFields, LoadStepCounts } from "../event.ts";

/** Merges the seconds of several processes, each as soon as all of them are past it. */
export class SecondsMerger {
  readonly #parts: readonly { readonly seconds: LoadSecondFields[]; hasEnded: boolean }[];

  constructor(processes: number) {
    this.#parts = Array.from({ length: processes }, () => ({ seconds: [], hasEnded: false }));
  }

  /** Takes the next second of a process, from 0; the result are those that are complete now. */
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

/** One second of all processes. Those that have ended earlier than others say nothing of its time. */
export function mergeSeconds(parts: readonly LoadSecondFields[]): LoadSecondFields {
  const going = parts.filter(({ phase }) => phase !== "ending");
  const timed = going.length > 0 ? going : parts;
  const [{ job, phase, stage }] = timed as [LoadSecondFields];
  const from = Math.min(...timed.map(({ from }) => from));
  const length = roundDuration(Math.max(...timed.map(({ from, length }) => from + length)) - from);
  const rounds = parts.reduce((sum, { asked = 0, length }) => sum + asked * length, 0);
  // The last second may take no time.
  const asked = length === 0 ? 0 : rounds / length;
  const lateMax = greatest(parts, ({ lateMax }) => lateMax);
  const busy = greatest(parts, ({ busy }) => busy);
  const failures = mergeFailures(parts.flatMap(({ failures = [] }) => failures));
  return {
    ...{ job, from, length },
    ...phase === undefined ? {} : { phase },
    stage,
    ...parts.every((part) => part.asked === undefined)
      ? sums(parts, ["users"])
      : { asked: Math.round(asked * 1000) / 1000 },
    started: parts.reduce((sum, { started }) => sum + started, 0),
    ...sums(parts, ["dropped", "late"]),
    ...lateMax === undefined ? {} : { lateMax },
    inFlight: parts.reduce((sum, { inFlight }) => sum + inFlight, 0),
    ...busy === undefined ? {} : { busy },
    rounds: mergeCounts(parts.map(({ rounds }) => rounds)),
    steps: [...Map.groupBy(parts.flatMap(({ steps }) => steps), ({ step }) => step).values()]
      .map(mergeSteps).sort((one, other) => one.step - other.step),
    ...sums(parts, ["skipped"]),
    ...failures.length === 0 ? {} : { failures },
  };
}

function mergeCounts(parts: readonly LoadCounts[]): LoadCounts {
  const times = mergeTimes(parts.flatMap(({ times }) => times ?? []));
  return {
    passed: parts.reduce((sum, { passed }) => sum + passed, 0),
    failed: parts.reduce((sum, { failed }) => sum + failed, 0),
    ...times ? { times } : {},
  };
}

function mergeTimes(parts: readonly EncodedHistogram[]): EncodedHistogram | undefined {
  if (parts.length <= 1) return parts[0];
  const merged = new Histogram(true);
  for (const part of parts) merged.merge(Histogram.decode(part));
  return merged.encode();
}

function mergeSteps(parts: readonly LoadStepCounts[]): LoadStepCounts {
  const ran = parts.flatMap(({ first }) => first ?? []);
  const first = ran.find(({ result }) => result.state !== "skipped") ?? ran[0];
  return {
    step: parts[0]!.step,
    ...mergeCounts(parts),
    ...sums(parts, ["skipped", "tolerated", "untested", "flaky"]),
    ...sumOfMaps(parts, "assertions"),
    ...first ? { first } : {},
    ...sums(parts, ["bytesIn", "bytesOut", "resent"]),
    ...sumOfMaps(parts, "codes"),
    ...sumOfMaps(parts, "phases"),
  };
}

function mergeFailures(all: readonly LoadFailures[]): LoadFailures[] {
  return [...Map.groupBy(all, ({ cause }) => cause)].map(([cause, same]) => {
    const example = same.find(({ example }) => example)?.example;
    return {
      cause,
      count: same.reduce((sum, { count }) => sum + count, 0),
      first: Math.min(...same.map(({ first }) => first)),
      last: Math.max(...same.map(({ last }) => last)),
      ...example ? { example } : {},
    };
  });
}

/** The sums of these numbers, without those that no part has. */
function sums<Part, Key extends keyof Part>(
  parts: readonly Part[],
  keys: readonly Key[],
): { [K in Key]?: number } {
  const found = keys.flatMap((key) => {
    const numbers = parts.flatMap((part) => (part[key] as number | undefined) ?? []);
    return numbers.length === 0 ? [] : [[key, numbers.reduce((sum, one) => sum + one, 0)]];
  });
  return Object.fromEntries(found);
}

function sumOfMaps<Key extends "assertions" | "codes" | "phases">(
  parts: readonly LoadStepCounts[],
  key: Key,
): Pick<LoadStepCounts, Key> | Record<never, never> {
  const maps = parts.flatMap((part): Readonly<Record<string, number>>[] => {
    const map = part[key] as Readonly<Record<string, number>> | undefined;
    return map ? [map] : [];
  });
  if (maps.length === 0) return {};
  const names = [...new Set(maps.flatMap(Object.keys))];
  return { [key]: sums(maps, names) };
}

function greatest<Part>(
  parts: readonly Part[],
  numberOf: (part: Part) => number | undefined,
): number | undefined {
  const numbers = parts.flatMap((part) => numberOf(part) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}
