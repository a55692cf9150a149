import type { Environment } from "../../host/host.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { UsageError } from "../../base/errors.ts";
import type { Program } from "../command.ts";

/** The level of messages on standard error: `debug` prints all details, `error` only errors. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * The level that was asked for: `--verbose` is `debug`, whatever RUNNER_LOG_LEVEL says. Throws
 * UsageError if `--quiet` is given too.
 */
export async function logLevel(
  env: Environment,
  switches: ReadonlySet<string>,
): Promise<LogLevel> {
  if (switches.has("verbose") && switches.has("quiet")) {
    throw new UsageError("options --quiet and --verbose cannot be combined", "leave one out");
  }
  if (switches.has("verbose")) return "debug";
  const value = env.get("RUNNER_LOG_LEVEL");
  if (!value) return "info";
  const { checkChoice } = await import("../args/parse_flags.ts");
  checkChoice("RUNNER_LOG_LEVEL", value, LEVELS);
  return LEVELS.find((level) => level === value)!;
}

/** Prints warnings to standard error, unless only errors are printed there. */
export async function printWarnings(
  warnings: readonly Diagnostic[],
  level: LogLevel,
  { host, secrets }: Program,
): Promise<void> {
  if (warnings.length === 0 || level === "error") return;
  const { explainWarnings } = await import("./explain_error.ts");
  host.stderr.write(explainWarnings(warnings, host, secrets));
}
