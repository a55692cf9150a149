import type { Workflow } from "../workflow/model.ts";
import type { Plan, PlannedJob } from "./plan.ts";

/** Resolves `needs` to jobs. The workflow was checked: each need exists, none goes in a circle. */
export function makePlan(workflow: Workflow): Plan {
  const planned = new Map(
    workflow.jobs.map((job) => [job.id, { job, needs: [] as PlannedJob[] }]),
  );
  for (const { job, needs } of planned.values()) {
    for (const id of new Set(job.needs)) {
      const need = planned.get(id);
      if (!need) throw new Error(`unchecked need "${id}"`);
      needs.push(need);
    }
  }
  return { workflow, jobs: [...planned.values()] };
}
