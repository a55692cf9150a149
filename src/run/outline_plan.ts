import { excerptOf, type Position } from "../base/source.ts";
import type { Plan } from "../plan/plan.ts";
import { markCleanup } from "../workflow/step_facts.ts";
import type { Job, Positions, Step } from "../workflow/model.ts";
import type { RunStarted, StepOutline } from "./event.ts";
import type { RunExecution } from "./run_state.ts";

/** The jobs in the first event of a run, with the positions of their steps if these are given. */
export function outlinePlan(
  { workflow, jobs }: Plan,
  positions?: Positions,
): RunStarted["jobs"] {
  const positionOf = positions && locateSteps(positions);
  return jobs.map(({ job, name, needs }) => {
    const tags = new Set([...workflow.tags ?? [], ...job.tags ?? []]);
    return {
      id: job.id,
      name,
      needs: needs.map((need) => need.job.id),
      ...workflow.tags || job.tags ? { tags: [...tags] } : {},
      steps: job.steps.map((step) => outlineStep(job, step, positionOf)),
    };
  });
}

/** It has no undefined fields because users of the library see it. */
function outlineStep(job: Job, step: Step, positionOf: Locate | undefined): StepOutline {
  const { id, iteration, isCleanup, action: { name: uses } } = step;
  return {
    ...id === undefined ? {} : { id },
    name: markCleanup(job, step, step.name?.source.trim() || uses),
    uses,
    ...iteration?.kind === "list" ? { entries: iteration.entries.length } : {},
    ...isCleanup ? { cleanup: isCleanup } : {},
    ...positionOf ? { place: positionOf(step) } : {},
  };
}

type Locate = (step: Step) => Position;

/** Finds the positions of the steps of a document. */
function locateSteps(positions: Positions): Locate {
  const known = new Map<Step, Position>();
  return (step) =>
    known.getOrInsertComputed(step, () => {
      const { file, line, column } = excerptOf(positions.locate(step.path));
      return { file, line, column };
    });
}

/** Finds the positions of the steps of a job file, which a run may embed many times. */
export function locateEmbeddedSteps({ resources }: RunExecution, positions: Positions): Locate {
  const known = resources.resource(
    "places in job files",
    () => new Map<Positions, Locate>(),
  );
  return known.getOrInsertComputed(positions, () => locateSteps(positions));
}
