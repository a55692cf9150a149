import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Draws } from "../../expr/draws.ts";
import type { Host } from "../../host/host.ts";
import { machineName } from "../../host/machine_name.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { PieceHeader, RunEvent } from "../../run/event.ts";
import type { StepOutputs } from "../../run/execute/outputs.ts";
import type { RunOptions } from "../../run/run_options.ts";
import { planOfRun } from "../../spread/choose_piece.ts";
import { openInputs } from "../../spread/open_piece.ts";
import { type PieceOutputs, renderOutputsFile } from "../../spread/outputs_file.ts";
import type { NamedText } from "../../spread/read_json_file.ts";
import {
  readSuiteRunFile,
  type SuiteRunFile,
  type SuiteRunWorkflow,
  type SuiteTask,
  taskOf,
} from "../../spread/suite_run_file.ts";
import { hashWorkflow, refuseOtherWorkflow } from "../../spread/run_file.ts";
import { membersOfShard } from "../../suite/divide_suite.ts";
import { runSuite, type SuitePiece } from "../../suite/run_suite.ts";
import type { SuiteMember } from "../../suite/suite.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { refuseInput, writeTextFile } from "../write_text_file.ts";
import { readOutputsFiles, takeKey } from "./piece_files.ts";
import { readRun, refuseOptions, warnOf } from "./read_run.ts";
import { readReportSettings } from "./report_settings.ts";
import { runReported } from "./run_reported.ts";

/** The key of setup in an outputs file, which has the outcomes of jobs otherwise. */
const SETUP = "setup";

/** Runs setup, some workflows or teardown as one of several processes of a run of a suite. */
export async function runSuitePieceCommand(
  invocation: Invocation,
  program: Program,
  source: NamedText,
): Promise<ExitCode> {
  const { host } = program;
  const { values, lists } = invocation;
  refuseOptions("suite piece", invocation);
  const task = readTask(invocation);
  const settings = await readReportSettings(invocation, host);
  const seal = await takeKey(program);
  const { options, planning: { draws }, makeSecrets } = await readRun(invocation, program);
  const secrets = makeSecrets();
  const opening = { seal, secrets };
  const file = await readSuiteRunFile(source, opening);
  refuseOtherSuite(invocation.operands, file, source.file);
  // Other processes read them.
  host.files.planReading(invocation.operands);
  host.files.planReading(file.workflows.flatMap(({ workflow }) => workflow.file.split(",")));
  const chosen = chooseWorkflows(task, file, invocation);
  const warn = warnOf(invocation, program);
  const members: SuiteMember[] = [];
  for (const each of chosen) {
    const { path, index, plan, warnings } = await planWorkflow(each, source.file, draws, {
      permissions: options.permissions,
      host,
    });
    await warn(warnings, source.file);
    members.push({ path, index, key: path, plan });
  }
  const target = values.get("outputs");
  if (target !== undefined) refuseInput(target, host);
  const expected = { run: file.run, sha256: file.sha256, what: "suite" } as const;
  const inputs = task === "setup"
    ? []
    : await openInputs(await readOutputsFiles(lists.get("inputs") ?? [], host), expected, opening);
  const before = setupOf(file, task, inputs);
  if (before.warning !== undefined) {
    await warn([{ severity: "warning", code: "piece", message: before.warning }], source.file);
  }
  const header: PieceHeader = {
    schema: "runner.events/1",
    run: file.run,
    workflow: file.sha256,
    created: host.clock.now(),
    jobs: chosen.map(({ name }) => name),
    host: machineName(),
  };
  const isRole = (role: SuiteTask) => task === role ? members : [];
  let published: StepOutputs | undefined;
  const piece: SuitePiece = {
    header,
    outputs: before.outputs,
    setupFailed: before.failed,
    onSetup: (outputs) => void (published = outputs),
  };
  let failedSteps = 0;
  const count = (event: RunEvent) => {
    if (event.type === "run_finished") failedSteps += event.steps.failed;
  };
  let hasPassed = false;
  try {
    return await runReported(
      {
        isSuite: true,
        run: async (emit, reported) =>
          hasPassed = await runSuite(
            {
              name: file.name,
              setup: isRole("setup"),
              workflows: isRole("workflow"),
              teardown: isRole("teardown"),
              hash: file.sha256,
            },
            host,
            (event) => (count(event), emit(event)),
            {
              ...options,
              ...reported,
              // Outputs of setup are sealed by all the secrets that it has come to know.
              makeSecrets: () => secrets,
              piece,
            },
          ),
      },
      settings,
      program,
    );
  } finally {
    if (target !== undefined && published) {
      const results = {
        jobs: { [SETUP]: { state: hasPassed ? "passed" : "failed", failed: failedSteps } as const },
        outputs: published as Readonly<Record<string, Dict>>,
        rounds: {},
      };
      const text = await renderOutputsFile({ ...header, jobs: [SETUP] }, results, {
        secrets,
        seal,
      });
      await writeTextFile(target, text, host, { mayBeInput: true });
    }
  }
}

/** The one task that the options choose. Throws UsageError. */
function readTask({ values, lists, switches }: Invocation): SuiteTask {
  const chosen = ["setup", "teardown", "only", "shard"].filter((name) =>
    switches.has(name) || lists.has(name) || values.has(name)
  );
  const [first, second] = chosen;
  if (first === undefined) {
    throw new UsageError(
      "option --run requires --setup, --only, --shard or --teardown for a suite",
      "--only names the workflows that this process runs",
    );
  }
  if (second !== undefined) {
    throw new UsageError(`options --${first} and --${second} cannot be combined`);
  }
  if (values.has("outputs") && first !== "setup") {
    throw new UsageError("option --outputs requires --setup", "only setup has outputs for others");
  }
  return first === "setup" || first === "teardown" ? first : "workflow";
}

function refuseOtherSuite(
  operands: readonly string[],
  file: SuiteRunFile,
  runPath: string,
): void {
  if (JSON.stringify(operands) === JSON.stringify(file.operands)) return;
  throw new RunnerError(
    `'${operands.join(" ")}' is not the suite that '${runPath}' was made of`,
    `it was made of '${file.operands.join(" ")}'`,
  );
}

/** The workflows of a task. Throws UsageError for a name that the suite does not have. */
function chooseWorkflows(
  task: SuiteTask,
  { workflows }: SuiteRunFile,
  { lists, settings: { shard } }: Invocation,
): readonly SuiteRunWorkflow[] {
  const ofTask = workflows.filter((workflow) => taskOf(workflow) === task);
  if (task !== "workflow") {
    if (ofTask.length > 0) return ofTask;
    throw new RunnerError(`the suite has no ${task} that --${task} could run`);
  }
  const all = ofTask.map((workflow) => ({ ...workflow, path: workflow.workflow.file }));
  if (shard) return membersOfShard(all, shard);
  const wanted = lists.get("only") ?? [];
  const files = [...new Set(all.flatMap(({ path, name }) => [path, name]))];
  for (const file of wanted) {
    if (files.includes(file)) continue;
    const some = files.slice(0, 10).join(", ") + (files.length > 10 ? ", …" : "");
    throw new UsageError(
      `option --only: the suite has no workflow "${file}"`,
      didYouMean(file, files) ?? `the workflows are ${some}`,
    );
  }
  return all.filter(({ path, name }) => wanted.includes(path) || wanted.includes(name));
}

/** Loads a workflow of the run file. Throws RunnerError if it is another one by now. */
async function planWorkflow(
  file: SuiteRunWorkflow,
  runPath: string,
  draws: Draws,
  { permissions, host }: Pick<RunOptions, "permissions"> & { readonly host: Host },
) {
  const { index, tags, vars, workflow: { name, file: path, sha256 } } = file;
  const { workflow, warnings } = await loadWorkflow(path, host, permissions);
  const named = { ...workflow, name, ...tags.length === 0 ? {} : { tags } };
  const plan = await makePlan(named, {}, () => vars, draws);
  refuseOtherWorkflow(path, await hashWorkflow(plan.workflow), sha256, runPath);
  return { path, index, plan: planOfRun(plan, file), warnings };
}

/** The result of setup. Throws RunnerError if the workflows need it and it is missing. */
function setupOf(
  { workflows, operands }: SuiteRunFile,
  task: SuiteTask,
  inputs: readonly PieceOutputs[],
): { readonly outputs: StepOutputs; readonly failed: boolean; readonly warning?: string } {
  const hasSetup = workflows.some(({ role }) => role === "setup");
  const nothing = { outputs: {}, failed: false };
  if (!hasSetup || task === "setup") return nothing;
  const [newest, older] = inputs.filter(({ jobs }) => Object.hasOwn(jobs, SETUP))
    .sort((a, b) => b.created - a.created);
  if (newest) {
    return {
      outputs: newest.outputs,
      failed: newest.jobs[SETUP]!.state === "failed",
      ...older ? { warning: "setup was run more than once: the newest outputs count" } : {},
    };
  }
  // Teardown runs whatever became of setup.
  if (task === "teardown") {
    return { ...nothing, warning: "no --inputs have the outputs of setup: its machine was lost" };
  }
  throw new RunnerError(
    "no --inputs have the outputs of setup",
    `give the file that setup wrote: runner ${
      operands.join(" ")
    } --run FILE --setup --outputs FILE`,
  );
}
