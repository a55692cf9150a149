import type { Job } from "../../workflow/model.ts";
import type { Plan } from "../../plan/plan.ts";
import { readOutputs } from "./output_reads.ts";

/** Says of an expression that it reads what a job publishes that was not chosen to run. */
export function missingOutputsHint({ workflow, jobs }: Plan, text: string): string | undefined {
  const isWhole = jobs.length === workflow.jobs.length &&
    jobs.every(({ skip }) => skip === undefined);
  const names = isWhole ? [] : readOutputs(text).map(([name]) => name);
  if (names.length === 0) return undefined;
  const planned = new Map(jobs.map((planned) => [planned.job, planned]));
  for (const job of workflow.jobs) {
    const choice = planned.get(job);
    if (choice && choice.skip === undefined) continue;
    const name = names.find((name) => publishes(job, name));
    if (name === undefined) continue;
    const why = choice ? `${choice.skip} has left out` : "was not chosen to run";
    return `outputs.${name} comes from the job "${job.id}", which ${why}`;
  }
  return undefined;
}

function publishes({ steps }: Job, name: string): boolean {
  return steps.some(({ id, outputs }) =>
    id !== undefined && outputs.length > 0 &&
    (id === name || outputs.some((output) => output.name === name))
  );
}
