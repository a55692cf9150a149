import { isGeneratedId } from "./step_facts.ts";

/** A step, or a step around it, as the name of a snapshot has it. */
interface NamedStep {
  /** The id of the step, or the name of its snapshot. */
  readonly id: string;
  /** From 0, where its job is repeated. */
  readonly round?: number;
  /** From 0, where it has an iteration. */
  readonly entry?: number;
}

/**
 * The name of the file of a snapshot, without its extension: the job, unless it has no id, the steps
 * around the step, and the step, each with the number of its round and entry, from 1.
 */
export function snapshotName(job: string | undefined, steps: readonly NamedStep[]): string {
  return [
    ...job === undefined || isGeneratedId(job) ? [] : [fileName(job)],
    ...steps.flatMap(({ id, round, entry }) => [
      fileName(id),
      ...round === undefined ? [] : [String(round + 1)],
      ...entry === undefined ? [] : [String(entry + 1)],
    ]),
  ].join(".");
}

function fileName(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, "_");
}

/** The name of a step around another one, which may have no id. */
export function nameOfOuter(id: string | undefined, step: number): string {
  return id ?? `step${step + 1}`;
}
