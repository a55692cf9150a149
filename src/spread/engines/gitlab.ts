import { RunnerError } from "../../base/errors.ts";
import {
  DIRECTORY,
  type Exported,
  prepareLines,
  renderExported,
  reportLines,
  RUN_FILE,
  runArguments,
  shellLine,
} from "./exported.ts";
import { dependsOnAny, type Task } from "./tasks.ts";

/** The maximum number of needs of a GitLab job, including the job that prepares the run. */
const MAX_NEEDS = 50;

/** The maximum number of jobs that `parallel` may make. */
const MAX_PARALLEL = 200;

/** Writes a pipeline of GitLab CI. */
export function exportJobs(exported: Exported): string {
  const { name, tasks, secrets, image } = exported;
  for (const { name, ancestors, parts } of tasks) {
    if (parts > MAX_PARALLEL) {
      throw new RunnerError(`"${name}" has ${parts} parts, and GitLab allows ${MAX_PARALLEL}`);
    }
    if (ancestors.length < MAX_NEEDS) continue;
    throw new RunnerError(
      `"${name}" depends on ${ancestors.length} tasks, and GitLab allows ${MAX_NEEDS - 1}`,
      "give fewer needs, or let chains of jobs share a task: --group chains",
    );
  }
  const document = {
    workflow: { name: literal(name) },
    stages: ["runner"],
    ".runner": {
      stage: "runner",
      ...image === undefined ? {} : { image: { name: image, entrypoint: [""] } },
      variables: { GIT_DEPTH: "1" },
    },
    "runner-prepare": {
      extends: ".runner",
      needs: [],
      script: prepareLines(exported),
      artifacts: { expire_in: "1 week", paths: [RUN_FILE] },
    },
    ...Object.fromEntries(tasks.map((task) => [task.id, jobOf(exported, task)])),
    "runner-report": {
      extends: ".runner",
      stage: ".post",
      when: "always",
      script: ["mkdir -p report", ...reportLines(exported)],
      artifacts: { when: "always", paths: ["report/"], reports: { junit: "report/junit.xml" } },
    },
  };
  const variables = [...new Set(["RUNNER_KEY", ...secrets])].join(", ");
  return renderExported(exported, [
    `It needs masked CI/CD variables: ${variables}`,
    "  RUNNER_KEY is made by: openssl rand -hex 32",
  ], document);
}

function jobOf({ file }: Exported, task: Task): object {
  const { id, parts, ancestors } = task;
  const isSplit = parts > 1;
  const out = `${DIRECTORY}/${id}${isSplit ? "-$CI_NODE_INDEX" : ""}`;
  const paths = { run: RUN_FILE, inputs: DIRECTORY, out };
  const words = runArguments(file, task, paths, "$CI_NODE_INDEX");
  // The variables of GitLab have no characters that sh would split.
  const line = words.map((word) => word.includes("$CI_NODE_INDEX") ? word : shellLine([word]));
  return {
    extends: ".runner",
    // Artifacts come only from needed jobs, so all ancestors are needed.
    needs: ["runner-prepare", ...ancestors.map(({ id }) => id)],
    ...task.startsAnyway || dependsOnAny(task) ? { when: "always" } : {},
    ...isSplit ? { parallel: parts } : {},
    script: [`mkdir -p ${out}`, line.join(" ").replace(`$CI_NODE_INDEX/${parts}`, SHARE)],
    artifacts: { when: "always", expire_in: "1 week", paths: [`${out}/`] },
  };
}

/** The share of a process, as `--rounds` and `--shard` take it. */
const SHARE = "$CI_NODE_INDEX/$CI_NODE_TOTAL";

/** A text in which GitLab puts no variables. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}
