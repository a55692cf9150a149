import { didYouMean } from "../../base/text/suggest.ts";
import { type Check, keyProblem, severityOfNil } from "../check.ts";

/** States of jobs that are read as `needs.<id>` where the job does not need them. */
export const unknownNeed: Check = {
  codes: [
    {
      code: "unknown-need-state",
      severity: "error",
      summary: "Reads the state of a job that is not in the `needs` of this job.",
    },
  ],
  *find({ readings, jobs }) {
    const ids = new Set(jobs.map(({ draft }) => draft.id));
    for (const reading of readings) {
      const { root, keys: [first], job: { draft, needs } } = reading;
      // The cleanup of a workflow sees the states of all its jobs.
      const known = draft.isCleanup ? [...ids] : draft.needs;
      if (root !== "needs" || !first || !needs || known.includes(first.name)) continue;
      const hint = ids.has(first.name)
        ? `add it to the needs of this job: needs: [${[...draft.needs, first.name].join(", ")}]`
        : didYouMean(first.name, known);
      yield keyProblem(reading, 0, {
        severity: severityOfNil(reading, 0),
        code: "unknown-need-state",
        message: `"${first.name}" is not in the needs of this job`,
        ...hint === undefined ? {} : { hint },
      });
    }
  },
};
