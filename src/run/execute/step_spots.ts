import type { Document, Step, Workflow } from "../../workflow/model.ts";
import { excerptOf, type Position } from "../../source/source.ts";

/** What finds where a step begins, by the index of its job. */
type FindSpot = (job: number, step: Step) => Position;

/** What finds where the steps of a workflow begin. */
export async function findSpots({ document }: Workflow): Promise<FindSpot> {
  const locate = await locateSteps(document);
  return (_job, step) => locate(step);
}

async function locateSteps(document: Document): Promise<(step: Step) => Position> {
  const positions = await document.positions();
  return ({ path }) => spot(excerptOf(positions.locate(path)));
}

const JOB_FILES = new WeakMap<Document, Promise<(step: Step) => Position>>();

/** What finds where the steps of a job file begin; it may be run again and again. */
export function jobFileSpots(document: Document): Promise<(step: Step) => Position> {
  let spots = JOB_FILES.get(document);
  if (!spots) JOB_FILES.set(document, spots = findInJobFile(document));
  return spots;
}

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
