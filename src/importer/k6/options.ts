import { type Dict, isDict, isNumber, type Value } from "../../base/value/value.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { keyOf } from "../expressions.ts";
import { dictOf, dictsOf } from "../input.ts";

/** What makes rounds: the options of a script, or one of its scenarios. */
export interface Scenario {
  /** "" for the options of a script without scenarios. */
  readonly name: string;
  /** The function that it runs. */
  readonly exec: string;
  readonly env: Dict;
  /** `load` of the job; undefined for one round. */
  readonly load: Dict | undefined;
  readonly isOpen: boolean;
  readonly notes: readonly string[];
}

/** Options that are translated, and those about the output of k6 or its cloud. */
const KNOWN_OPTIONS = new Set(
  `vus duration iterations stages scenarios thresholds vusMax executor insecureSkipTLSVerify
  userAgent maxRedirects summaryTrendStats summaryTimeUnit systemTags tags ext cloud noUsageReport
  discardResponseBodies setupTimeout teardownTimeout linger batch batchPerHost throw`.split(/\s+/),
);

/** The options that have no counterpart. */
export function otherOptions(options: Dict): string[] {
  return Object.keys(options).filter((key) => !KNOWN_OPTIONS.has(key))
    .map((key) => `the option ${key}: ${JSON.stringify(options[key])}`);
}

/** The scenarios of the options; one for a script that has none. */
export function scenariosOf(options: Dict): Scenario[] {
  const { scenarios } = options;
  if (Object.keys(dictOf(scenarios)).length > 0) {
    return Object.entries(scenarios as Dict).map(([name, one]) => scenarioOf(name, dictOf(one)));
  }
  const executor = Array.isArray(options.stages)
    ? String(options.executor ?? "ramping-vus")
    : options.duration !== undefined
    ? "constant-vus"
    : options.iterations !== undefined || Number(options.vus ?? 1) > 1
    ? "shared-iterations"
    : "none";
  const only = scenarioOf("", { startVUs: options.vus ?? 1, ...options, executor });
  const notes = scenarios === undefined ? [] : ["the scenarios, which a program makes"];
  return [{ ...only, notes: [...only.notes, ...notes] }];
}

function scenarioOf(name: string, of: Dict): Scenario {
  const notes: string[] = [];
  const executor = String(of.executor);
  const isOpen = executor.endsWith("arrival-rate");
  const load = loadOf(executor, of, notes);
  if (of.startTime !== undefined) notes.push(`startTime: ${of.startTime}`);
  return { name, exec: String(of.exec ?? "default"), env: dictOf(of.env), load, isOpen, notes };
}

function loadOf(executor: string, of: Dict, notes: string[]): Dict | undefined {
  const vus = Math.max(1, Number(of.vus ?? 1));
  const unit = secondsOf(of.timeUnit ?? "1s") ?? 1;
  const maximum = Number(of.maxVUs ?? of.preAllocatedVUs);
  const limit: Dict = maximum > 0 ? { max_in_flight: maximum } : {};
  switch (executor) {
    case "constant-vus":
      return { users: vus, for: durationOf(of.duration ?? "1m") };
    case "shared-iterations":
    case "per-vu-iterations": {
      const each = Number(of.iterations ?? 1) * (executor.startsWith("per-vu") ? vus : 1);
      const count = of.iterations === undefined && executor.startsWith("shared") ? vus : each;
      return {
        users: Math.min(vus, count),
        count,
        ...of.maxDuration === undefined ? {} : { for: durationOf(of.maxDuration) },
      };
    }
    case "ramping-vus":
      return {
        stages: stagesOf("users", Number(of.startVUs ?? 1), of.stages ?? null, (one) => one),
      };
    case "constant-arrival-rate":
      return {
        rate: rateOf(Number(of.rate ?? 1), unit),
        for: durationOf(of.duration ?? "1m"),
        ...limit,
      };
    case "ramping-arrival-rate": {
      const rate = (target: number) => rateOf(target, unit);
      const stages = stagesOf("rate", Number(of.startRate ?? 0), of.stages ?? null, rate);
      return { stages, ...limit };
    }
    case "none":
      return undefined;
  }
  notes.push(`the executor ${executor}`);
  return undefined;
}

/** Stages, which begin at a number of users or a rate. */
function stagesOf(
  key: "users" | "rate",
  start: number,
  stages: Value,
  valueOf: (target: number) => Value,
): Value[] {
  const all: Dict[] = [];
  // A ramp begins at the stage before, or at 0; one user is no more than that.
  let [at, last] = [start, key === "users" && start === 1 ? 1 : 0];
  for (const { target, duration } of dictsOf(stages)) {
    const [to, seconds] = [Number(target ?? 1), secondsOf(duration ?? 0) ?? 0];
    if (seconds > 0) {
      if (at !== to && at !== last) all.push({ [key]: valueOf(at), for: "1ms" });
      all.push({
        [key]: valueOf(to),
        for: formatDuration(seconds * 1000),
        ...at === to ? {} : { ramp: true },
      });
      last = to;
    }
    at = to;
  }
  return all;
}

/** `20/s`, `90/m`, or rounds in a second. */
function rateOf(count: number, unit: number): string {
  const name = ({ 1: "s", 60: "m", 3600: "h" } as const)[unit];
  return name === undefined ? `${Number((count / unit).toFixed(4))}/s` : `${count}/${name}`;
}

function durationOf(value: Value): string {
  return formatDuration((secondsOf(value) ?? 60) * 1000);
}

/** The seconds of `1m30s`, or of milliseconds. */
function secondsOf(value: Value | undefined): number | undefined {
  if (isNumber(value ?? null)) return Number(value) / 1000;
  const units = { h: 3600, m: 60, s: 1, ms: 0.001, d: 86400 } as const;
  if (/^[\d.]+$/.test(String(value))) return Number(value) / 1000;
  const parts = [...String(value).matchAll(/([\d.]+)(ms|[dhms])/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units],
    0,
  );
}

/** A step of a job, as thresholds find it. */
export interface MeasuredStep {
  /** What statistics know it by. */
  readonly key: string;
  readonly url: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** The thresholds of a job. */
export interface Thresholds {
  readonly expect: readonly string[];
  readonly stopIf: readonly string[];
  readonly notes: readonly string[];
}

/** The numbers of statistics, by the names of k6. */
const NUMBERS: Readonly<Record<string, string>> = {
  avg: "mean",
  min: "min",
  med: "p50",
  max: "max",
  "p(50)": "p50",
  "p(90)": "p90",
  "p(95)": "p95",
  "p(99)": "p99",
  "p(99.9)": "p999",
};

/** The thresholds that concern a scenario. */
export function thresholdsOf(
  all: Dict,
  scenario: string,
  steps: readonly MeasuredStep[],
): Thresholds {
  const [expect, stopIf, notes]: string[][] = [[], [], []];
  for (const [metric, value] of Object.entries(all)) {
    const [, name = metric, filter = ""] = /^(\w+)\{(.*)\}$/.exec(metric) ?? [];
    const [, tag = "", wanted = ""] = /^([^:]+):(.*)$/s.exec(filter.trim()) ?? [];
    if (tag === "scenario" && wanted !== scenario) continue;
    const isAll = ["", "scenario", "expected_response"].includes(tag);
    const found = isAll
      ? steps
      : steps.filter(({ tags, url }) => tags[tag] === wanted || tag === "name" && url === wanted);
    // The rounds have the numbers of their only step, counted from when they were due.
    const objects = isAll && (found.length <= 1 || name !== "http_req_duration")
      ? ["stats"]
      : found.map(({ key }) => `stats.steps${keyOf(key)}`);
    for (const one of [value].flat()) {
      const text = String(isDict(one) ? one.threshold : one).trim();
      const tests = objects.map((object) => testOf(name, text, object, isAll ? steps.length : 1));
      if (tests.length === 0 || tests.includes(undefined)) {
        notes!.push(`the threshold ${metric}: ${text}`);
        continue;
      }
      expect!.push(...tests as string[]);
      if (!isDict(one) || one.abortOnFail !== true) continue;
      const delay = secondsOf(one.delayAbortEval ?? 0) ?? 0;
      const wait = delay > 0 ? `stats.elapsed > ${delay} && ` : "";
      stopIf!.push(...tests.map((test) => `${wait}not (${test})`));
    }
  }
  return { expect: [...new Set(expect)], stopIf: [...new Set(stopIf)], notes: notes! };
}

/** `p(95)<500` of a metric as an expression of statistics. */
function testOf(metric: string, text: string, stats: string, steps: number): string | undefined {
  const [, number = "", operator = "", limit = ""] =
    /^([a-z]+(?:\([\d.]+\))?)\s*(<=?|>=?|===?|!==?)\s*([\d.]+)$/.exec(text) ?? [];
  if (number === "") return undefined;
  const compare = operator.replace(/^([=!]=)=$/, "$1");
  const opposite: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
  switch (metric) {
    case "http_req_duration":
    case "iteration_duration": {
      const found = NUMBERS[number];
      const object = metric === "iteration_duration" ? "stats" : stats;
      return found && `${object}.${found} ${compare} ${Number(limit) / 1000}`;
    }
    case "http_req_failed":
      return number === "rate" ? failedOf(stats, compare, Number(limit)) : undefined;
    case "checks": {
      const rest = Number((1 - Number(limit)).toFixed(10));
      return number === "rate" ? failedOf(stats, opposite[compare] ?? compare, rest) : undefined;
    }
    case "iterations":
    case "http_reqs": {
      const times = metric === "http_reqs" && steps > 1 ? ` * ${steps}` : "";
      return /^(?:count|rate)$/.test(number)
        ? `${stats}.${number}${times} ${compare} ${limit}`
        : undefined;
    }
    case "dropped_iterations":
      return number === "count" ? `stats.dropped ${compare} ${limit}` : undefined;
  }
  return undefined;
}

function failedOf(stats: string, operator: string, limit: number): string {
  return limit === 0 && operator !== "<" && operator !== ">"
    ? `${stats}.failed == 0`
    : `${stats}.failed / ${stats}.count ${operator} ${limit}`;
}
