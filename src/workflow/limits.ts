import type { Permissions } from "../action/permissions/permissions.ts";
import type { Environment } from "../host/host.ts";
import { UsageError } from "../base/errors.ts";

/** The limits of a workflow: for `repeat.count`, `retry.max_attempts` and its files. */
export interface Limits {
  readonly repeatCount: number;
  readonly attempts: number;
  /** The permissions; everything is allowed if absent. */
  readonly permissions?: Permissions;
}

const DEFAULT_LIMIT = 10_000;

/** The limits that the environment sets. Throws UsageError if a value is not a number. */
export function readLimits(env: Environment): Limits {
  // What opens connections reads it; a mistake in it is reported before anything runs.
  readLimit(env, "RUNNER_MAX_CONNECTIONS");
  return {
    repeatCount: readLimit(env, "RUNNER_MAX_REPEAT_COUNT"),
    attempts: readLimit(env, "RUNNER_MAX_ATTEMPTS"),
  };
}

function readLimit(env: Environment, name: string): number {
  const text = env.get(name)?.trim();
  if (text === undefined || text === "") return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new UsageError(`${name} must be an integer of at least 1, not "${text}"`);
}
