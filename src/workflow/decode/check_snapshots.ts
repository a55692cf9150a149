import { regexProblem } from "../../expr/evaluate/regex.ts";
import { jsonPathProblem, loadJsonPath } from "../../expr/functions/json_path.ts";
import { ruleProblem } from "../../expr/functions/matching.ts";
import { addError, type Problem } from "../problem.ts";
import type { JobDraft } from "./decode_workflow.ts";
import type { StepDraft } from "./decode_step.ts";
import { isGeneratedId } from "../step_facts.ts";

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

/** A step, or a step around it, as the name of a snapshot has it. */
interface NamedStep {
  /** The id of the step, or the name of its snapshot. */
  readonly id: string;
  /** From 0, where its job is repeated. */
  readonly round?: number;
  /** From 0, where it has an iteration. */
  readonly entry?: number;
}

/**
 * The name of the file of a snapshot, without its extension: the job, unless it has no id, the steps
 * around the step, and the step, each with the number of its round and entry, from 1.
 */
export function snapshotName(job: string | undefined, steps: readonly NamedStep[]): string {
  return [
    ...job === undefined || isGeneratedId(job) ? [] : [fileName(job)],
    ...steps.flatMap(({ id, round, entry }) => [
      fileName(id),
      ...round === undefined ? [] : [String(round + 1)],
      ...entry === undefined ? [] : [String(entry + 1)],
    ]),
  ].join(".");
}

function fileName(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, "_");
}
