import { placeOf } from "../../source/source.ts";
import type { Document, Step, Workflow } from "../../workflow/model.ts";
import type { SpotInFile } from "../event.ts";

/** What finds where a step begins, by the index of its job. */
type FindSpot = (job: number, step: Step) => SpotInFile;

/** What finds where the steps of a workflow begin. */
export async function findSpots({ document, jobs }: Workflow): Promise<FindSpot> {
  const { findStepStarts } = await import("../../workflow/yaml/step_starts.ts");
  const [file, ...others] = document.files;
  const starts = file && others.length === 0 ? findStepStarts(file.text) : undefined;
  const fits = starts?.length === jobs.length &&
    jobs.every(({ steps }, index) => starts[index]!.length === steps.length);
  if (file && starts && fits) {
    return (job, { index }) => {
      const start = starts[job]![index]!;
      return spot(placeOf({ source: file, start, end: start }));
    };
  }
  const locate = await locateSteps(document);
  return (_job, step) => locate(step);
}

async function locateSteps(document: Document): Promise<(step: Step) => SpotInFile> {
  const places = await document.places();
  return ({ path }) => spot(placeOf(places.locate(path)));
}

const JOB_FILES = new WeakMap<Document, Promise<(step: Step) => SpotInFile>>();

/** What finds where the steps of a job file begin; it may be run again and again. */
export function jobFileSpots(document: Document): Promise<(step: Step) => SpotInFile> {
  let spots = JOB_FILES.get(document);
  if (!spots) JOB_FILES.set(document, spots = findInJobFile(document));
  return spots;
}

async function findInJobFile(document: Document): Promise<(step: Step) => SpotInFile> {
  const locate = await locateSteps(document);
  const known = new Map<Step, SpotInFile>();
  return (step) => {
    let spot = known.get(step);
    if (!spot) known.set(step, spot = locate(step));
    return spot;
  };
}

function spot({ file, line, column }: SpotInFile): SpotInFile {
  return { file, line, column };
}
