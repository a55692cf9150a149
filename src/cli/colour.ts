import type { Environment, Output } from "../host/host.ts";
import { UsageError } from "../source/errors.ts";

/** Whether to print with colours: what was asked for, else whether a terminal shows them. */
export function usesColour(noColor: boolean, env: Environment, output: Output): boolean {
  const unwanted = env.get("RUNNER_NO_COLOR") ?? "";
  if (!["", "0", "1", "false", "true"].includes(unwanted)) {
    throw new UsageError(
      `RUNNER_NO_COLOR cannot be "${unwanted}"`,
      "one of true, false, 1, 0",
    );
  }
  if (env.get("FORCE_COLOR") === "1") return true;
  if (noColor || unwanted === "1" || unwanted === "true" || env.get("NO_COLOR")) return false;
  return output.isTerminal && env.get("TERM") !== "dumb";
}
