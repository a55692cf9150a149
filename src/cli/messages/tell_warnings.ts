import type { Environment } from "../../host/host.ts";
import type { Diagnostic } from "../../source/diagnostic.ts";
import { UsageError } from "../../source/errors.ts";
import type { Program } from "../command.ts";
import type { LogLevel } from "../args/log_level.ts";

/**
 * The level that is asked for: `--verbose` is `debug`, whatever RUNNER_LOG_LEVEL says. Throws
 * UsageError where `--quiet` is asked for too.
 */
export async function logLevel(
  env: Environment,
  switches: ReadonlySet<string>,
): Promise<LogLevel> {
  if (switches.has("verbose") && switches.has("quiet")) {
    throw new UsageError("options --quiet and --verbose do not go together", "leave one out");
  }
  if (switches.has("verbose")) return "debug";
  const value = env.get("RUNNER_LOG_LEVEL");
  return value ? (await import("../args/log_level.ts")).readLogLevel(value) : "info";
}

/** Tells of warnings on standard error, unless errors alone are told there. */
export async function tellWarnings(
  warnings: readonly Diagnostic[],
  level: LogLevel,
  { host, secrets }: Program,
): Promise<void> {
  if (warnings.length === 0 || level === "error") return;
  const { explainWarnings } = await import("./explain_error.ts");
  host.stderr.write(explainWarnings(warnings, host, secrets));
}
