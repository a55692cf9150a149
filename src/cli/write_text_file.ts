import { explainDenial } from "../host/explain_denial.ts";
import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";
import { countOf } from "../base/text/count_of.ts";
import type { Draft } from "../draft/draft.ts";
import { shellWord } from "../base/text/shell_word.ts";
import type { LogLevel } from "./output_mode.ts";

/** Throws LoadError if there is a file. */
export async function refuseExisting(
  path: string,
  { files }: Host,
  hint = "overwrite it with --force",
): Promise<void> {
  // A path that cannot be read cannot be written either; writing it reports the reason.
  if (!await files.isFile(path).catch(() => false)) return;
  throw new LoadError(`'${path}' already exists`, [], hint);
}

/** Throws LoadError for a file that the program reads, which would be lost if it were written. */
export function refuseInput(path: string, { files }: Host): void {
  if (!files.isInput(path)) return;
  throw new LoadError(`cannot write '${path}': this command reads it`, [], "write to another file");
}

/** Writes a file, whole or not at all. Throws LoadError, also for an input that may not change. */
export async function writeTextFile(
  path: string,
  text: string,
  host: Host,
  { mayBeInput = false } = {},
): Promise<void> {
  if (!mayBeInput) refuseInput(path, host);
  try {
    const file = await host.files.stage(path);
    try {
      file.write(text);
      file.commit();
    } finally {
      file.discard();
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const denial = explainDenial(error);
    throw new LoadError(
      `cannot write '${path}': ${denial?.message ?? error.message}`,
      [],
      denial?.hint,
    );
  }
}

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
