import { CHANGING_FUNCTIONS } from "../../expr/functions/random.ts";
import type { Expression } from "../../expr/expression.ts";
import type { Node } from "../../expr/parse/ast.ts";
import { childrenOf } from "../../expr/parse/tree.ts";
import { referencesIn } from "../../expr/references.ts";
import { ExpressionError } from "../../base/errors.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { Check } from "../check.ts";

/** Tests whose outcome does not depend on the run, and jobs that never run. */
export const constantTest: Check = {
  codes: [
    {
      code: "constant-test",
      severity: "warning",
      summary: "A test has the same outcome whatever the result is.",
    },
    {
      code: "no-rounds",
      severity: "warning",
      summary: "A job with `repeat.count: 0` never runs.",
    },
  ],
  *find({ jobs }) {
    for (const { draft: { path, repeat }, steps } of jobs) {
      if (repeat?.count === 0) {
        yield {
          severity: "warning",
          code: "no-rounds",
          path: [...path, "repeat", "count"],
          message: "with a count of 0 the job never runs",
          hint: "to skip a job on purpose, use skipif: true",
        };
      }
      for (const { draft: { test, path, action } } of steps) {
        // A step of `hello` may try an expression out.
        if (!test || !action || action.neverFails) continue;
        for (const assertion of test) {
          const outcome = constantOutcome(assertion.expression);
          if (outcome === undefined) continue;
          yield {
            severity: "warning",
            code: "constant-test",
            path: assertionPath([...path, "test"], assertion),
            message: `this test is always ${outcome}`,
            hint: `test the result, like ${action.exampleTest ?? "status == 0"}`,
          };
        }
      }
    }
  },
};

const CHANGING: ReadonlySet<string> = new Set(CHANGING_FUNCTIONS.map(({ name }) => name));

function constantOutcome(test: Expression): boolean | undefined {
  if (referencesIn(test.node).length > 0 || isChanging(test.node)) return undefined;
  try {
    const value = test.evaluate({ names: {}, strict: true });
    return typeof value === "boolean" ? value : undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** Whether a node gives another value each time. */
function isChanging(node: Node): boolean {
  const isCall = node.type === "CallExpression" && node.callee.type === "Identifier" &&
    CHANGING.has(node.callee.name);
  return isCall || childrenOf(node).some(isChanging);
}
