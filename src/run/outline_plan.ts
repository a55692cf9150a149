import type { Plan, PlannedJob } from "../plan/plan.ts";
import type { Position } from "../base/source.ts";
import { markCleanup } from "../workflow/mark_cleanup.ts";
import type { Step } from "../workflow/model.ts";
import type { RunStarted, StepOutline } from "./event.ts";

/** The first event of a run; the positions of steps are found only if they are asked for. */
export async function outlinePlan(
  { workflow, jobs }: Plan,
  withPlaces: boolean,
): Promise<RunStarted["jobs"]> {
  const spotOf = withPlaces
    ? await (await import("./execute/step_spots.ts")).findSpots(workflow)
    : undefined;
  return jobs.map(({ job, name, needs }) => ({
    id: job.id,
    name,
    needs: needs.map((need) => need.job.id),
    ...workflow.tags || job.tags
      ? { tags: [...new Set([...workflow.tags ?? [], ...job.tags ?? []])] }
      : {},
    steps: outlineSteps(job, spotOf && ((step) => spotOf(job.index, step))),
  }));
}

function outlineSteps(
  job: PlannedJob["job"],
  spotOf: ((step: Step) => Position) | undefined,
): StepOutline[] {
  return job.steps.map((step) => ({
    ...step.id === undefined ? {} : { id: step.id },
    name: markCleanup(job, step, step.name?.source.trim() || step.action.name),
    uses: step.action.name,
    ...step.iteration?.kind === "list" ? { entries: step.iteration.entries.length } : {},
    ...step.isCleanup ? { cleanup: true } : {},
    ...spotOf ? { place: spotOf(step) } : {},
  }));
}
