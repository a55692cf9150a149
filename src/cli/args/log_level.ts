import { checkChoice } from "./check_choice.ts";

/** How much is told on standard error: with `debug` all details, with `error` errors alone. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The level that RUNNER_LOG_LEVEL asks for. Throws UsageError where there is none of that name. */
export function readLogLevel(value: string): LogLevel {
  checkChoice("RUNNER_LOG_LEVEL", value, LEVELS);
  return LEVELS.find((level) => level === value)!;
}
