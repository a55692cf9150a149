import type { DataTemplate } from "../../expr/expression.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { type Check, severityOfNil } from "../check.ts";
import { isGuarded, isSurelyEvaluated } from "../model/make_readings.ts";
import { findKnownVar } from "../model/known_vars.ts";

const NO_VARS: DataTemplate = { kind: "constant", value: {} };

/** Vars that a job file reads and that the step around it does not give. */
export const ungivenVar: Check = {
  codes: [
    {
      code: "ungiven-var",
      severity: "error",
      summary: "A job file reads a var that the embedding step does not pass.",
    },
  ],
  *find({ jobs, embeddedBy }) {
    for (const step of jobs.flatMap(({ steps }) => steps)) {
      const { draft, job } = step;
      const inner = embeddedBy(draft);
      if (!inner) continue;
      const given = givenVars(draft.with);
      const reported = new Set<string>();
      for (const reading of inner.readings) {
        const [key] = reading.keys;
        if (reading.root !== "vars" || !key || reported.has(key.name)) continue;
        if (inner.mentions.has(key.name) || isGuarded(reading, 0)) continue;
        const source = findKnownVar(given, reading);
        if (source.kind !== "nothing" || source.index !== 0) continue;
        reported.add(key.name);
        yield {
          severity: isSurelyEvaluated({ job, step, field: "with" })
            ? severityOfNil(reading, 0)
            : "warning",
          code: "ungiven-var",
          path: [...draft.path, "with", "path"],
          message: `the job file reads the var "${key.name}", which this step does not give`,
          hint: didYouMean(key.name, source.among()) ?? "add it to vars in with",
        };
      }
    }
  },
};

/** The vars in the `with` of a step. */
function givenVars(data: DataTemplate): DataTemplate {
  if (data.kind === "map") return data.entries.find(([key]) => key === "vars")?.[1] ?? NO_VARS;
  const value = data.kind === "constant"
    ? (data.value as Record<string, unknown>)?.vars
    : undefined;
  return { kind: "constant", value: value ?? {} };
}
