import { UsageError } from "../base/errors.ts";
import { durationProblem, parseDuration } from "../base/value/duration.ts";
import type { Option } from "./command.ts";
import type { SnapshotMode } from "../run/run_state.ts";
import type { Shard } from "../suite/suite.ts";

/** Reads a whole number from 1. Throws UsageError. */
export function readCount(text: string, option: string, hint: string): number {
  if (/^0*[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`option --${option} must be a whole number from 1, not "${text}"`, hint);
}

/** Reads `80` or `80%`. Throws UsageError. */
export function readPercentage(text: string): number {
  const percent = Number(text.replace(/%$/, "") || NaN);
  if (percent >= 0 && percent <= 100) return percent;
  throw new UsageError(
    `option --min-coverage must be a percentage, not "${text}"`,
    "write --min-coverage 80",
  );
}

/** Reads the value of `--update-snapshots`, which may be empty. Throws UsageError. */
export function readUpdate(text: string): SnapshotMode {
  if (text === "") return "update";
  if (text === "all") return "prune";
  throw new UsageError(
    `invalid value "${text}" for option --update-snapshots`,
    "write --update-snapshots, or --update-snapshots=all to remove those that no step names",
  );
}

/** Reads a duration, in milliseconds. Throws UsageError. */
export function readCleanupTimeout(text: string): number {
  return readTime(text, "cleanup-timeout", "write --cleanup-timeout 30s");
}

/** Reads what becomes of load jobs: a duration in milliseconds, or `off`. Throws UsageError. */
export function readLoad(text: string): number | "off" {
  return text === "off" ? text : readTime(text, "load", "write --load 10s, or --load off");
}

/** The most processes of a load job. */
const MAX_PROCESSES = 256;

/** Reads the number of processes of a load job, or `auto`. Throws UsageError. */
export function readProcesses(text: string): number {
  if (text === "auto") return Math.max(1, navigator.hardwareConcurrency - 1);
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_PROCESSES) return Number(text);
  throw new UsageError(
    `option --processes must be a whole number from 1 to ${MAX_PROCESSES}, or auto, not "${text}"`,
    "auto is one fewer than there are processors",
  );
}

function readTime(text: string, option: string, hint: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  const problem = milliseconds === 0
    ? `must be greater than 0, not "${text}"`
    : durationProblem(text);
  throw new UsageError(`option --${option} ${problem}`, hint);
}

/** Reads `2/5`, the second of five. Throws UsageError. */
export function readShard(text: string): Shard {
  const [, index, of] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (index !== undefined && of !== undefined && Number(index) <= Number(of)) {
    return { index: Number(index), of: Number(of) };
  }
  throw new UsageError(
    `option --shard must be a number and a count, not "${text}"`,
    "like 2/5, the second of five",
  );
}

/** A seed that can be typed again. */
export function randomSeed(): string {
  return String(crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000);
}

/** For options that all processes of a run have in common. */
export const PREPARED: NonNullable<Option["excludes"]> = [
  ["run", "vars and jobs are set when the run is prepared: give it to runner prepare"],
];

/** Options under a title of help. */
export function group(title: Option["group"], options: readonly Option[]): readonly Option[] {
  return options.map((option) => ({ group: title, ...option }));
}
