import { machineName } from "../../host/machine_name.ts";
import { Draws } from "../../expr/draws.ts";
import { planOfRun } from "../../spread/choose_piece.ts";
import { type PieceOutputs, renderOutputsFile } from "../../spread/outputs_file.ts";
import { openInputs } from "../../spread/open_piece.ts";
import type { NamedText } from "../../spread/read_json_file.ts";
import {
  readSuiteRunFile,
  type SuiteRunFile,
  type SuiteRunWorkflow,
  type SuiteTask,
  taskOf,
} from "../../spread/suite_run_file.ts";
import { hashWorkflow, refuseOtherWorkflow } from "../../spread/workflow_hash.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { PieceHeader, RunEvent } from "../../run/event.ts";
import type { StepOutputs } from "../../run/execute/outputs.ts";
import { makeMasker } from "../../secrets/add_secrets.ts";
import type { RunOptions } from "../../run/run_options.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { runSuite, type SuitePiece } from "../../suite/run_suite.ts";
import { membersOfShard } from "../../suite/shards.ts";
import type { PlannedMember } from "../../suite/suite.ts";
import type { Dict } from "../../base/value/value.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { takeKey } from "../inputs/piece_key.ts";
import { prepareRun, readCount } from "../inputs/prepare_run.ts";
import { readShard } from "../inputs/prepare_suite.ts";
import { readOutputsFiles } from "../inputs/read_outputs.ts";
import { refuseInput, writeTextFile } from "../write_text_file.ts";
import { printAll, readSettings, refuseWarnings, runReported } from "./run_reported.ts";

/** The key of setup in an outputs file, which has the outcomes of jobs otherwise. */
const SETUP = "setup";

/** Runs setup, some workflows or teardown as one of several processes of a run of a suite. */
export async function runSuitePieceCommand(
  invocation: Invocation,
  program: Program,
  source: NamedText,
): Promise<ExitCode> {
  const { host } = program;
  const { values, lists, switches } = invocation;
  refuseOptions(invocation);
  const task = readTask(invocation);
  const settings = await readSettings(invocation, host);
  const seal = await takeKey(program);
  const workers = readCount(values.get("workers"), "workers", "write --workers 2");
  const preparation = await prepareRun(invocation, program);
  const secrets = makeMasker([host.env.all(), ...program.secrets]);
  const opening = { seal, secrets };
  const file = await readSuiteRunFile(source, opening);
  refuseOtherSuite(invocation.operands, file, source.file);
  // Other processes read them.
  host.files.planReading(invocation.operands);
  host.files.planReading(file.workflows.flatMap(({ workflow }) => workflow.file.split(",")));
  const chosen = chooseWorkflows(task, file, invocation);
  const warn = (found: readonly Diagnostic[]) =>
    switches.has("strict")
      ? refuseWarnings(source.file, found)
      : printAll(found, settings.level, program);
  const { options } = preparation;
  const draws = new Draws(values.get("seed"));
  const members: PlannedMember[] = [];
  for (const each of chosen) {
    const member = await planWorkflow(each, source.file, { draws, ...options }, program);
    await warn(member.warnings);
    members.push(member);
  }
  const target = values.get("outputs");
  if (target !== undefined) refuseInput(target, host);
  const expected = { run: file.run, sha256: file.sha256, what: "suite" } as const;
  const inputs = task === "setup"
    ? []
    : await openInputs(await readOutputsFiles(lists.get("inputs") ?? [], host), expected, opening);
  const before = setupOf(file, task, inputs);
  if (before.warning !== undefined) {
    await warn([{ severity: "warning", code: "piece", message: before.warning }]);
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
        run: async (emit, more) =>
          hasPassed = await runSuite(
            {
              ...file.name === undefined ? {} : { name: file.name },
              setup: isRole("setup"),
              workflows: isRole("workflow"),
              teardown: isRole("teardown"),
              hash: file.sha256,
            },
            host,
            (event) => (count(event), emit(event)),
            {
              ...options,
              ...more,
              ...workers === undefined ? {} : { workers },
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

/** Options of a run of one workflow, and those that were given when the run was prepared. */
function refuseOptions({ values, lists, switches }: Invocation): void {
  const has = (name: string) => lists.has(name) || values.has(name) || switches.has(name);
  for (const name of ["var", "var-file", "env-file", "skip", "tags", "no-needs"]) {
    if (!has(name)) continue;
    throw new UsageError(
      `options --${name} and --run cannot be combined`,
      "vars and jobs are set when the run is prepared: give it to runner prepare",
    );
  }
  for (const name of ["rounds", "start-at", "finally"]) {
    if (!has(name)) continue;
    throw new UsageError(
      `option --${name} is for a run of one workflow`,
      "this run file was made of a suite",
    );
  }
  for (const name of ["list", "dry-run", "watch", "shuffle", "shard-times", "rerun-failed"]) {
    if (has(name)) throw new UsageError(`options --${name} and --run cannot be combined`);
  }
}

/** The one task that the options choose. Throws UsageError. */
function readTask({ values, lists, switches }: Invocation): SuiteTask {
  const given = ["setup", "teardown", "only", "shard"].filter((name) =>
    switches.has(name) || lists.has(name) || values.has(name)
  );
  const [first, second] = given;
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
  { values, lists }: Invocation,
): readonly SuiteRunWorkflow[] {
  const ofTask = workflows.filter((workflow) => taskOf(workflow) === task);
  if (task !== "workflow") {
    if (ofTask.length > 0) return ofTask;
    throw new RunnerError(`the suite has no ${task} that --${task} could run`);
  }
  const shard = readShard(values.get("shard"));
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
  { draws, permissions }: Pick<RunOptions, "permissions"> & { readonly draws: Draws },
  { host }: Program,
): Promise<PlannedMember> {
  const { index, tags, vars, workflow: { file: path, sha256 } } = file;
  const { workflow, warnings } = await loadWorkflow(path, host, permissions);
  const tagged = tags.length === 0 ? workflow : { ...workflow, tags };
  const plan = await makePlan(tagged, {}, () => vars, draws);
  refuseOtherWorkflow(path, await hashWorkflow(plan.workflow), sha256, runPath);
  return { kind: "planned", path, index, key: path, plan: planOfRun(plan, file), warnings };
}

/** What setup has left. Throws RunnerError if the workflows need it and it is not there. */
function setupOf(
  { workflows, operands }: SuiteRunFile,
  task: SuiteTask,
  inputs: readonly PieceOutputs[],
): { readonly outputs: StepOutputs; readonly failed: boolean; readonly warning?: string } {
  const hasSetup = workflows.some(({ role }) => role === "setup");
  const nothing = { outputs: {}, failed: false };
  if (!hasSetup || task === "setup") return nothing;
  const [newest, another] = inputs.filter(({ jobs }) => Object.hasOwn(jobs, SETUP))
    .sort((a, b) => b.created - a.created);
  if (newest) {
    return {
      outputs: newest.outputs,
      failed: newest.jobs[SETUP]!.state === "failed",
      ...another ? { warning: "setup was run more than once: the newest outputs count" } : {},
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
