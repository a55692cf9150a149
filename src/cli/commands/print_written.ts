import { countOf } from "../../base/text/count_of.ts";
import type { Draft } from "../../draft/draft.ts";
import type { Host } from "../../host/host.ts";
import { shellWord } from "../../base/text/shell_word.ts";
import type { LogLevel } from "../output_mode.ts";

/** Says what was written to a file, and how to go on. */
export function printWritten(
  path: string,
  what: string,
  next: string,
  level: LogLevel,
  { stderr }: Pick<Host, "stderr">,
): void {
  if (level === "info" || level === "debug") stderr.write(`wrote ${path}: ${what}; ${next}\n`);
}

/** `3 jobs, 5 requests` */
export function countDraft({ jobs }: Pick<Draft, "jobs">): string {
  const steps = jobs.flatMap((job) => job.steps);
  const word = steps.every(({ data }) => data.uses === "http") ? "request" : "step";
  return `${countOf(jobs.length, "job")}, ${countOf(steps.length, word)}`;
}

/** More would make the line too long; the file has all of them. */
const MOST_VARIABLES = 3;

/** How to run a workflow that reads these variables of the environment, and has vars to be set. */
export function runHint(
  path: string,
  variables: readonly string[],
  vars: readonly string[] = [],
): string {
  const set = variables.slice(0, MOST_VARIABLES).map((name) => `${name}=…`);
  const options = vars.slice(0, MOST_VARIABLES).map((name) => `--var ${name}=…`);
  return ["run it with", ...set, "runner", ...options, shellWord(path)].join(" ");
}
