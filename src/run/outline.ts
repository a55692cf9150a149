import type { Plan, PlannedJob } from "../plan/plan.ts";
import { type Path, placeOf } from "../source/source.ts";
import type { Places } from "../workflow/model.ts";
import type { RunStarted, SpotInFile, StepOutline } from "./event.ts";

/** What a run is going to do; the places of the steps are found only if they are asked for. */
export async function outlinePlan(
  { workflow, jobs }: Plan,
  withPlaces: boolean,
): Promise<RunStarted["jobs"]> {
  const places = withPlaces ? await workflow.document.places() : undefined;
  return jobs.map(({ job, name, needs }) => ({
    id: job.id,
    name,
    needs: needs.map((need) => need.job.id),
    steps: outlineSteps(job, places),
  }));
}

function outlineSteps({ steps }: PlannedJob["job"], places: Places | undefined): StepOutline[] {
  return steps.map(({ id, name, action, path, iteration }) => ({
    ...id === undefined ? {} : { id },
    name: name?.source.trim() || action.name,
    uses: action.name,
    ...iteration ? { entries: iteration.length } : {},
    ...places ? { place: spotOf(places, path) } : {},
  }));
}

function spotOf(places: Places, path: Path): SpotInFile {
  const { file, line, column } = placeOf(places.locate(path));
  return { file, line, column };
}
