import type { Plan, PlannedJob } from "../plan/plan.ts";
import type { Step } from "../workflow/model.ts";
import type { RunStarted, SpotInFile, StepOutline } from "./event.ts";

/** What a run is going to do; the places of the steps are found only if they are asked for. */
export async function outlinePlan(
  { workflow, jobs }: Plan,
  withPlaces: boolean,
): Promise<RunStarted["jobs"]> {
  const spotOf = withPlaces
    ? await (await import("./step_spots.ts")).findSpots(workflow)
    : undefined;
  return jobs.map(({ job, name, needs }) => ({
    id: job.id,
    name,
    needs: needs.map((need) => need.job.id),
    steps: outlineSteps(job, spotOf && ((step) => spotOf(job.index, step))),
  }));
}

function outlineSteps(
  { steps }: PlannedJob["job"],
  spotOf: ((step: Step) => SpotInFile) | undefined,
): StepOutline[] {
  return steps.map((step) => ({
    ...step.id === undefined ? {} : { id: step.id },
    name: step.name?.source.trim() || step.action.name,
    uses: step.action.name,
    ...step.iteration ? { entries: step.iteration.length } : {},
    ...spotOf ? { place: spotOf(step) } : {},
  }));
}
