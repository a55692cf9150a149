import { RunnerError } from "../../base/errors.ts";
import { dependsOnAny, type Task } from "./tasks.ts";
import {
  type Exported,
  type Exporter,
  lastWords,
  madeBy,
  renderYaml,
  runWords,
  shellLine,
} from "./exported.ts";

const DIRECTORY = ".runner";
const RUN_FILE = `${DIRECTORY}/run.json`;

/** The maximum number of needs of a GitLab job, including the job that prepares the run. */
const MOST_NEEDS = 50;

/** The maximum number of jobs that `parallel` may make. */
const MOST_PARALLEL = 200;

/** A pipeline of GitLab CI. */
export const gitlab: Exporter = { exportJobs };

function refuseParallel(what: string, count: number): void {
  if (count <= MOST_PARALLEL) return;
  throw new RunnerError(`${what} has ${count} parts, and GitLab allows ${MOST_PARALLEL}`);
}

function baseOf({ image }: Pick<Exported, "image">): object {
  return {
    stage: "runner",
    ...image === undefined ? {} : { image: { name: image, entrypoint: [""] } },
    variables: { GIT_DEPTH: "1" },
  };
}

function exportJobs(exported: Exported): string {
  const { name, file, tasks, last, secrets } = exported;
  for (const { name, ancestors, parts } of tasks) {
    refuseParallel(`"${name}"`, parts);
    if (ancestors.length < MOST_NEEDS) continue;
    throw new RunnerError(
      `"${name}" depends on ${ancestors.length} tasks, and GitLab allows ${MOST_NEEDS - 1}`,
      "give fewer needs, or let chains of jobs share a task: --group chains",
    );
  }
  const document = {
    workflow: { name: literal(name) },
    stages: ["runner"],
    ".runner": baseOf(exported),
    "runner-prepare": {
      extends: ".runner",
      needs: [],
      script: [
        `mkdir -p ${DIRECTORY}`,
        shellLine(["runner", "prepare", file, "--out", RUN_FILE]),
      ],
      artifacts: { expire_in: "1 week", paths: [RUN_FILE] },
    },
    ...Object.fromEntries(tasks.map((task) => [task.id, jobOf(exported, task)])),
    "runner-report": {
      extends: ".runner",
      stage: ".post",
      when: "always",
      script: [
        "mkdir -p report",
        ...last === undefined ? [] : [
          shellLine(lastWords(file, last, { run: RUN_FILE, inputs: DIRECTORY, out: DIRECTORY })) +
          " || true",
        ],
        shellLine([
          ...["runner", "report", "merge", RUN_FILE, DIRECTORY],
          ...["--report", "junit=report/junit.xml", "--report", "html=report/run.html"],
        ]),
      ],
      artifacts: { when: "always", paths: ["report/"], reports: { junit: "report/junit.xml" } },
    },
  };
  const variables = [...new Set(["RUNNER_KEY", ...secrets])].join(", ");
  return renderYaml([
    madeBy(exported),
    `Do not edit it: run the command again. It needs masked CI/CD variables: ${variables}`,
    "  RUNNER_KEY is made by: openssl rand -hex 32",
  ], document);
}

function jobOf(exported: Exported, task: Task): object {
  const { id, parts, ancestors, share } = task;
  const out = `${DIRECTORY}/${id}${parts > 1 ? "-$CI_NODE_INDEX" : ""}`;
  const paths = { run: RUN_FILE, inputs: DIRECTORY, out: `${DIRECTORY}/${id}`, part: "1" };
  const command = shellLine(runWords(exported.file, task, paths));
  return {
    extends: ".runner",
    // Artifacts come from what is needed, so that all ancestors are.
    needs: ["runner-prepare", ...ancestors.map(({ id }) => id)],
    ...task.startsAnyway || dependsOnAny(task) ? { when: "always" } : {},
    ...parts > 1 ? { parallel: parts } : {},
    script: [
      `mkdir -p ${out}`,
      parts > 1
        ? command
          .replace(`${share} 1/${parts}`, `${share} $CI_NODE_INDEX/$CI_NODE_TOTAL`)
          .replaceAll(`${DIRECTORY}/${id}/`, `${out}/`)
        : command,
    ],
    artifacts: { when: "always", expire_in: "1 week", paths: [`${out}/`] },
  };
}

/** A text in which GitLab puts no variables. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}
