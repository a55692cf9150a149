import { ACTION } from "../../base/home.ts";
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

const OUT = `${DIRECTORY}/out`;

/** The name of the artifact with the run file, which is not one of those of the tasks. */
const RUN_ARTIFACT = "run-file";

/** Writes a workflow of GitHub Actions. */
export function exportJobs(exported: Exported): string {
  const { name, tasks, secrets } = exported;
  const reserved = secrets.find((secret) => /^GITHUB_(?!TOKEN$)/i.test(secret));
  if (reserved !== undefined) {
    throw new RunnerError(
      `--secret ${reserved}: GitHub has no secrets whose names begin with GITHUB_`,
      "give the secret another name",
    );
  }
  const document = {
    // Only names of jobs may have expressions, and so a quoted one.
    name: name.replaceAll("${{", "$ {{"),
    on: { workflow_dispatch: {} },
    permissions: { contents: "read" },
    env: secretsOf(["RUNNER_KEY", ...secrets]),
    jobs: {
      "runner-prepare": {
        name: "Prepare",
        "runs-on": "ubuntu-latest",
        steps: [
          ...setUp(exported),
          run(prepareLines(exported)),
          upload(RUN_ARTIFACT, RUN_FILE, true),
        ],
      },
      ...Object.fromEntries(tasks.map((task) => [task.id, jobOf(exported, task)])),
      "runner-report": {
        name: "Report",
        needs: ["runner-prepare", ...tasks.map(({ id }) => id)],
        if: "${{ !cancelled() && needs.runner-prepare.result == 'success' }}",
        "runs-on": "ubuntu-latest",
        steps: [
          ...setUp(exported),
          ...downloads(),
          run(reportLines(exported)),
          { ...upload("report", "report/"), if: "${{ !cancelled() }}" },
        ],
      },
    },
  };
  return renderExported(exported, [
    "It needs repository secrets, as made by:",
    "  openssl rand -hex 32 | gh secret set RUNNER_KEY",
    ...secrets.filter((secret) => !/^(RUNNER_KEY|GITHUB_TOKEN)$/i.test(secret))
      .map((secret) => `  gh secret set ${secret}`),
  ], document);
}

function secretsOf(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, `\${{ secrets.${name} }}`]));
}

function jobOf(exported: Exported, task: Task): object {
  const { id, name, needs, parts, share } = task;
  const part = "${{ matrix.part }}";
  const condition = conditionOf(task);
  const paths = { run: RUN_FILE, inputs: DIRECTORY, out: OUT };
  const command = shellLine(runArguments(exported.file, task, paths));
  return {
    name: literal(name),
    needs: ["runner-prepare", ...needs.map(({ id }) => id)],
    ...condition === undefined ? {} : { if: condition },
    ...parts > 1
      ? {
        strategy: {
          "fail-fast": false,
          matrix: { part: Array.from({ length: parts }, (_, at) => at + 1) },
        },
      }
      : {},
    "runs-on": "ubuntu-latest",
    steps: [
      ...setUp(exported),
      ...downloads(),
      run(
        [`mkdir -p ${OUT}`, command],
        (text) =>
          parts > 1 ? text.replace(`${share} 1/${parts}`, `${share} ${part}/${parts}`) : text,
      ),
      {
        ...upload(parts > 1 ? `runner-${id}-${part}` : `runner-${id}`, `${OUT}/`),
        if: "${{ !cancelled() }}",
      },
    ],
  };
}

/**
 * GitHub looks at all ancestors unless a job says otherwise, and would not start what follows a job
 * that ran because another had failed.
 */
function conditionOf(task: Task): string | undefined {
  if (!task.startsAnyway && !dependsOnAny(task)) return undefined;
  const needed = ["runner-prepare", ...task.startsAnyway ? [] : task.needs.map(({ id }) => id)];
  const results = needed.map((id) => `needs.${id}.result == 'success'`);
  return `\${{ ${["!cancelled()", ...results].join(" && ")} }}`;
}

function setUp({ version }: Pick<Exported, "version">): readonly object[] {
  return [
    { uses: "actions/checkout@v7" },
    { uses: `${ACTION}@v${version}`, with: { version } },
  ];
}

function run(lines: readonly string[], fill = (text: string) => text): object {
  return { run: fill(literal(lines.join("\n"))) };
}

/**
 * A single artifact goes to the directory itself, and of several each to a directory of its own: the
 * run file, whose path must be known, is always a single one.
 */
function downloads(): readonly object[] {
  return [{ name: RUN_ARTIFACT }, { pattern: "runner-*" }].map((artifacts) => ({
    uses: "actions/download-artifact@v8",
    with: { ...artifacts, path: DIRECTORY },
  }));
}

function upload(name: string, path: string, isRequired = false): object {
  return {
    uses: "actions/upload-artifact@v7",
    with: {
      name,
      path,
      "include-hidden-files": true,
      overwrite: true,
      ...isRequired ? { "if-no-files-found": "error" } : {},
    },
  };
}

/** A text that GitHub does not evaluate. */
function literal(text: string): string {
  return text.replaceAll("${{", "${{ '${{' }}");
}
