import type { Check } from "../check.ts";

/** Retries of what succeeds at the first attempt. */
export const pointlessRetry: Check = {
  codes: [
    {
      code: "pointless-retry",
      severity: "warning",
      summary: "A `retry` is on a step that cannot fail.",
    },
  ],
  *find({ jobs }) {
    for (const { draft, raw, isDoubtful } of jobs.flatMap(({ steps }) => steps)) {
      const { action, retry, test, path } = draft;
      if (!retry || !action?.neverFails || isDoubtful) continue;
      const isTrue = test?.every(({ expression: { node } }) =>
        node.type === "Literal" && node.value === true
      ) ?? false;
      if (raw.test !== undefined && !isTrue || raw.snapshot || raw.max_time) continue;
      yield {
        severity: "warning",
        code: "pointless-retry",
        path: [...path, "retry"],
        part: "key",
        message: `${action.name} cannot fail, so this retry never repeats it`,
        hint: test ? "test something that may be false" : "add a test, or remove the retry",
      };
    }
  },
};
