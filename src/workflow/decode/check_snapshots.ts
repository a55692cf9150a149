import { regexProblem } from "../../expr/evaluate/regex.ts";
import { jsonPathProblem, loadJsonPath } from "../../expr/functions/json_path.ts";
import { ruleProblem } from "../../expr/functions/matching.ts";
import { addError, type Problem } from "../problem.ts";
import { snapshotName } from "../snapshot_name.ts";
import type { JobDraft } from "./decode_workflow.ts";
import type { StepDraft } from "./decode_step.ts";

/** Checks the names, JSONPaths and rules of all snapshots of a workflow. */
export async function checkSnapshots(
  jobs: readonly JobDraft[],
  problems: Problem[],
): Promise<void> {
  await loadJsonPath();
  const known = new Map<string, StepDraft>();
  for (const job of jobs) {
    for (const step of job.steps) {
      if (!step.snapshot) continue;
      checkPaths(step, problems);
      checkValue(step, problems);
      const path = [...step.path, "snapshot"];
      const id = step.snapshot.name ?? step.id;
      if (id === undefined) {
        addError(
          problems,
          "snapshot-name",
          path,
          "the snapshot of a step without id has no name",
          {
            part: "key",
            hint: "give the step an id, or write snapshot: { name: … }",
          },
        );
        continue;
      }
      const name = snapshotName(job.id, [{ id }]);
      const other = known.get(name.toLowerCase());
      if (other) {
        const message = `two steps have the snapshot "${name}"`;
        addError(problems, "snapshot-name", path, message, {
          part: "key",
          hint: "give one of them a name: snapshot: { name: … }, or its job an id",
        });
      }
      known.set(name.toLowerCase(), step);
    }
  }
}

function checkPaths({ path, snapshot }: StepDraft, problems: Problem[]): void {
  const { ignore = [], match = [] } = snapshot ?? {};
  const at = [...path, "snapshot"];
  for (const [index, written] of ignore.entries()) {
    const message = jsonPathProblem(written);
    if (message !== undefined) {
      addError(problems, "json-path", [...at, "ignore", index], message);
    }
  }
  for (const { path: written, rule } of match) {
    const ruleAt = [...at, "match", written];
    const inPath = jsonPathProblem(written);
    if (inPath !== undefined) addError(problems, "json-path", ruleAt, inPath, { part: "key" });
    const inRule = ruleProblem(rule, regexProblem);
    if (inRule !== undefined) addError(problems, "rule", ruleAt, inRule);
  }
}

/** Without `of` the value is `res.body`, which not every action gives. */
function checkValue({ path, snapshot, action }: StepDraft, problems: Problem[]): void {
  const fields = action?.responseFields?.map(({ name }) => name);
  if (!action || !fields || snapshot?.of || fields.includes("body")) return;
  const message = `the result of ${action.name} has no res.body`;
  addError(problems, "snapshot-value", [...path, "snapshot"], message, {
    part: "key",
    hint: `write what is compared: snapshot: { of: res.${fields[0] ?? "…"} }`,
  });
}
