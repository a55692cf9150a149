import type { Environment, Output } from "../host/host.ts";
import { checkChoice } from "./parse_flags.ts";

/** How the report comes out: redrawn in place, or line by line. */
export type OutputMode = "spinner" | "stream";

const CHOICES = ["auto", "spinner", "stream"];

/** The flag, then the environment, then what the output is. */
export function outputMode(
  flag: string | undefined,
  env: Environment,
  output: Output,
): OutputMode {
  const variable = env.get("RUNNER_OUTPUT") || undefined;
  if (flag === undefined && variable !== undefined) {
    checkChoice("RUNNER_OUTPUT", variable, CHOICES);
  }
  const asked = flag ?? variable ?? "auto";
  if (asked === "spinner" || asked === "stream") return asked;
  return output.isTerminal ? "spinner" : "stream";
}
