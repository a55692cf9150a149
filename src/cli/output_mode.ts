import type { Environment, Output } from "../host/host.ts";
import { REPORT_FORMATS } from "../report/registry.ts";
import { checkChoice } from "./check_choice.ts";

/** What `--output` can be: the name of a form of the report, or `auto`. */
export const OUTPUT_MODES: readonly string[] = ["auto", ...REPORT_FORMATS.map(({ name }) => name)];

/** The form of the report: the flag, then the environment, then what the output is. */
export function outputMode(flag: string | undefined, env: Environment, output: Output): string {
  const variable = env.get("RUNNER_OUTPUT") || undefined;
  if (flag === undefined && variable !== undefined) {
    checkChoice("RUNNER_OUTPUT", variable, OUTPUT_MODES);
  }
  const asked = flag ?? variable ?? "auto";
  if (asked !== "auto") return asked;
  return output.isTerminal ? "spinner" : "stream";
}
