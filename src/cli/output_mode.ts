import type { Environment, Output } from "../host/host.ts";
import { REPORT_FORMATS } from "../report/registry.ts";
import { UsageError } from "../source/errors.ts";

/** What `--output` can be: the name of a form of the report, or `auto`. */
export const OUTPUT_MODES: readonly string[] = ["auto", ...REPORT_FORMATS.map(({ name }) => name)];

/** The form of the report: the flag, then the environment, then what the output is. */
export async function outputMode(
  flag: string | undefined,
  env: Environment,
  output: Output,
): Promise<string> {
  const variable = env.get("RUNNER_OUTPUT") || undefined;
  if (flag === undefined && variable !== undefined) {
    const { checkChoice } = await import("./check_choice.ts");
    checkChoice("RUNNER_OUTPUT", variable, OUTPUT_MODES);
  }
  const asked = flag ?? variable ?? "auto";
  if (asked !== "auto") return asked;
  return output.isTerminal ? "spinner" : "stream";
}

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
