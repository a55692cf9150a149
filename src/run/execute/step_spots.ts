import type { Document, Step, Workflow } from "../../workflow/model.ts";
import type { Session } from "../session.ts";
import { excerptOf, type Position } from "../../base/source.ts";

/** Finds the position of a step, by the index of its job. */
type FindSpot = (job: number, step: Step) => Position;

/** Makes a function that finds the positions of the steps of a workflow. */
export async function findSpots({ document }: Workflow): Promise<FindSpot> {
  const locate = await locateSteps(document);
  return (_job, step) => locate(step);
}

async function locateSteps(document: Document): Promise<(step: Step) => Position> {
  const positions = await document.positions();
  return ({ path }) => spot(excerptOf(positions.locate(path)));
}

/** The same for a job file, which a run may embed many times. */
export function jobFileSpots(
  { scope }: Session,
  document: Document,
): Promise<(step: Step) => Position> {
  const known = scope.resource("places in job files", () => new Map<Document, JobFileSpots>());
  let spots = known.get(document);
  if (!spots) known.set(document, spots = findInJobFile(document));
  return spots;
}

type JobFileSpots = Promise<(step: Step) => Position>;

async function findInJobFile(document: Document): Promise<(step: Step) => Position> {
  const locate = await locateSteps(document);
  const known = new Map<Step, Position>();
  return (step) => {
    let spot = known.get(step);
    if (!spot) known.set(step, spot = locate(step));
    return spot;
  };
}

function spot({ file, line, column }: Position): Position {
  return { file, line, column };
}
