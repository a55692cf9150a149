import type { Check } from "../check.ts";

/** Actions that are good whatever they are given. */
const NEVER_FAIL: ReadonlySet<string> = new Set(["echo", "hello"]);

/** Retries of what is good at the first attempt. */
export const pointlessRetry: Check = {
  codes: [
    {
      code: "pointless-retry",
      severity: "warning",
      summary: "A retry of a step that cannot fail.",
    },
  ],
  *find({ jobs }) {
    for (const { draft, raw, isDoubtful } of jobs.flatMap(({ steps }) => steps)) {
      const { action, retry, test, path } = draft;
      if (!retry || !action || !NEVER_FAIL.has(action.name) || isDoubtful) continue;
      const isTrue = test?.node.type === "Literal" && test.node.value === true;
      if (raw.test !== undefined && !isTrue) continue;
      yield {
        severity: "warning",
        code: "pointless-retry",
        path: [...path, "retry"],
        part: "key",
        message: `${action.name} cannot fail, so that nothing is ever tried again`,
        hint: test ? "test what may be otherwise" : "add a test, or leave the retry out",
      };
    }
  },
};
