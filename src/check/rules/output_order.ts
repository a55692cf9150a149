import { assertNever } from "../../base/errors.ts";
import type { Problem } from "../../workflow/problem.ts";
import { type Check, keyProblem, severityOfNil } from "../check.ts";
import { isGuarded } from "../model/make_readings.ts";
import type { CheckedStep, Reading } from "../model/check_model.ts";
import { findOutputSource, type Moment, momentFinder } from "../model/output_sources.ts";

/** Outputs that are read where the step that publishes them is not sure to have run. */
export const outputOrder: Check = {
  codes: [
    {
      code: "output-order",
      severity: "error",
      summary: "Reads an output that is published later, or by a job that is not in `needs`.",
    },
    {
      code: "maybe-skipped-output",
      severity: "hint",
      summary: "Reads an output of a step or job that its `skipif` may skip.",
    },
  ],
  *find(model) {
    const momentOf = momentFinder();
    for (const reading of model.readings) {
      if (reading.root !== "outputs") continue;
      const source = findOutputSource(model, reading);
      if (source.kind !== "steps") continue;
      const { steps, index } = source;
      const moments = steps.map((step) => momentOf(step, reading));
      // A guard is for the first entry; here it would hide that all of them are the first.
      if (isGuarded(reading, index) && !moments.every((moment) => moment === "at once")) continue;
      if (moments.includes("unknown")) continue;
      const earlier = steps.filter((_, at) => moments[at] === "before");
      if (earlier.length === 0) yield orderProblem(steps[0]!, moments[0]!, reading, index);
      else if (earlier.every((step) => maySkip(step, reading))) {
        yield skipProblem(earlier[0]!, reading, index);
      }
    }
  },
};

function orderProblem(
  step: CheckedStep,
  moment: Moment,
  reading: Reading,
  index: number,
): Problem {
  const { draft: { id }, job } = step;
  const { message, hint } = describe();
  return keyProblem(reading, index, {
    // A job that runs at the same time may be quicker.
    severity: moment === "at once"
      ? "error"
      : moment === "any time"
      ? "warning"
      : severityOfNil(reading, index),
    code: "output-order",
    message,
    ...hint === undefined ? {} : { hint },
  });

  function describe(): { readonly message: string; readonly hint?: string } {
    switch (moment) {
      case "own":
        return { message: "a step has no outputs of its own before it has run" };
      case "all":
        return { message: `outputs.${id}.all is known once all entries of the step have run` };
      case "at once":
        return {
          message: "entries that run in parallel do not see outputs of each other",
          hint: `leave parallel out; a later step reads all of them in outputs.${id}.all`,
        };
      case "after": {
        const where = job === reading.job ? "" : ` of the job "${job.draft.id}"`;
        return { message: `the step "${id}"${where} runs after this` };
      }
      case "any time":
        return {
          message: `the job "${job.draft.id}" with the step "${id}" may not have run before this`,
          hint: `add it to the needs of this job: needs: [${job.draft.id}]`,
        };
      case "before":
      case "unknown":
        throw new Error(`no problem with the step "${id}"`);
      default:
        return assertNever(moment);
    }
  }
}

/** Whether a step may be skipped when a reader runs that has no condition of its own. */
function maySkip(step: CheckedStep, reading: Reading): boolean {
  if (step === reading.step) return false;
  if (reading.step?.draft.skipif || reading.job.draft.skipif) return false;
  if (runsAfterFailure(step, reading)) return true;
  const { skipif: own, iteration } = step.draft;
  const { skipif, repeat } = step.job.draft;
  // One that is skipped in some of its rounds has run in others.
  if (own && !iteration && !own.source.includes("repeat_index")) return true;
  return step.job !== reading.job && (skipif !== undefined || repeat?.count === 0);
}

/** Whether a reader also runs where the step that it reads from failed. */
function runsAfterFailure(step: CheckedStep, { step: reader, job }: Reading): boolean {
  if (reader?.draft.isCleanup && !step.draft.isCleanup) return true;
  return job.draft.when !== undefined && step.job !== job;
}

function skipProblem(step: CheckedStep, reading: Reading, index: number): Problem {
  const { name } = reading.keys[index]!;
  const what = step.draft.skipif ? `the step "${step.draft.id}"` : `the job "${step.job.draft.id}"`;
  const isLast = index === reading.keys.length - 1 && !reading.isOpen;
  return keyProblem(reading, index, {
    severity: "hint",
    code: "maybe-skipped-output",
    message: runsAfterFailure(step, reading)
      ? `the step "${step.draft.id}" may have failed or not have run; then there is no "${name}"`
      : `${what} may be skipped; then there is no "${name}"`,
    hint: isLast ? "add ?? and a default" : "read from it with ?.",
  });
}
