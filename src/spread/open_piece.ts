import type { Permissions } from "../action/permissions/permissions.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { RunnerError } from "../base/errors.ts";
import type { Draws } from "../expr/draws.ts";
import type { Host } from "../host/host.ts";
import { machineName } from "../host/machine.ts";
import { workflowState } from "../run/count_steps.ts";
import type { Emit, PieceHeader, RunEvent } from "../run/event.ts";
import { run } from "../run/run.ts";
import type { RunOptions } from "../run/run_state.ts";
import { addSecretsOf } from "../secrets/find_secrets.ts";
import { runSuite } from "../suite/run_suite.ts";
import type { SuiteMember } from "../suite/suite.ts";
import { loadWorkflow } from "../workflow/load_workflow.ts";
import type { Workflow } from "../workflow/model.ts";
import { choosePiece, chooseWorkflows, type PieceChoice } from "./choose_piece.ts";
import {
  gatherInputs,
  gatherWorkflows,
  type PieceOutcome,
  type PieceOutputs,
  readOutputsFile,
  renderOutputsFile,
} from "./outputs_file.ts";
import { refuseOtherRun } from "./piece_events.ts";
import type { NamedText } from "./read_json_file.ts";
import { hashWorkflow, type RunFile, type RunFileWorkflow } from "./run_file.ts";
import type { Opening } from "./seal.ts";
import type { Masker } from "../secrets/masker.ts";
import { makePlan } from "../plan/make_plan.ts";
import type { Plan } from "../plan/plan.ts";
import { selectJobs } from "../plan/select_jobs.ts";

/** The files and the choice that make a process a part of a run. */
interface PieceSource extends Opening {
  readonly host: Host;
  readonly permissions?: Permissions;
  readonly runFile: RunFile;
  readonly inputs: readonly NamedText[];
  readonly choice: PieceChoice;
  readonly draws: Draws;
  /** When it begins, instead of the time in the run file: milliseconds since 1970. */
  readonly startAt?: number | undefined;
}

/** One process of a run that can begin. */
interface OpenedPiece {
  readonly header: PieceHeader;
  readonly warnings: readonly Diagnostic[];
  /** True if everything passed. */
  readonly run: (emit: Emit, options: RunOptions) => Promise<boolean>;
  /** The text of its outputs file; undefined until it is over. */
  readonly renderOutputs: () => Promise<string | undefined>;
}

/**
 * Opens a process of a workflow: its jobs, and the outputs of earlier processes. Throws RunnerError
 * and UsageError.
 */
export async function openPiece(workflow: Workflow, source: PieceSource): Promise<OpenedPiece> {
  const { host, runFile, choice, draws, secrets } = source;
  const [entry, second] = runFile.workflows;
  if (second || runFile.suite) {
    throw new RunnerError(`'${runFile.file}' is the run file of a suite, not of one workflow`);
  }
  addSecretsOf(entry!.vars, secrets);
  const whole = await planOfRun(runFile, entry!, workflow, draws);
  const { chosen, part } = choosePiece(whole, choice);
  const inputs = await openInputs(source);
  const { warnings, before, ...gathered } = gatherInputs(whole, chosen, inputs);
  const startAt = source.startAt ?? (part ? runFile.startAt : undefined);
  const header = headerOf(source, [...chosen].map(({ job }) => job.id), part);
  // Jobs of the piece may need others that are not in it.
  const plan = { ...whole, jobs: whole.jobs.filter((job) => chosen.has(job)) };
  const piece = { header, whole, ...gathered, startAt };
  const late = latenessOf(startAt, header.created);
  return recorded(source, header, {
    warnings: [...warnings, ...late].map(asWarning),
    run: (emit, options) =>
      run(plan, host, emit, { ...options, piece, before, secrets, everyRound: true }),
  });
}

/**
 * Opens a process of a suite: its workflows, and the outputs of earlier processes. Throws
 * RunnerError, LoadError and UsageError.
 */
export async function openSuitePiece(
  operands: readonly string[],
  source: PieceSource,
): Promise<OpenedPiece> {
  const { host, permissions, runFile, choice, draws, secrets } = source;
  const suite = runFile.suite!;
  if (JSON.stringify(operands) !== JSON.stringify(suite.operands)) {
    throw new RunnerError(
      `'${operands.join(" ")}' is not the suite that '${runFile.file}' was made of`,
      `it was made of '${suite.operands.join(" ")}'`,
    );
  }
  const chosen = chooseWorkflows(runFile, choice);
  const members: SuiteMember[] = [];
  const found: Diagnostic[] = [];
  for (const entry of chosen) {
    const { index, tags, workflow: { name, file: path } } = entry;
    const { workflow, warnings } = await loadWorkflow(path, host, permissions);
    const named = { ...workflow, name, tags: tags ?? workflow.tags };
    members.push({ path, index, key: path, plan: await planOfRun(runFile, entry, named, draws) });
    found.push(...warnings);
  }
  const role = chosen[0]?.role;
  const inputs = role === "setup" ? [] : await openInputs(source);
  const { warnings, before, outputs } = gatherWorkflows(runFile, role, inputs);
  const header = headerOf(source, chosen.map(({ name }) => name));
  return recorded(source, header, {
    warnings: [...found, ...warnings.map(asWarning)],
    run: (emit, options) =>
      runSuite(
        {
          name: suite.name,
          setup: role === "setup" ? members : [],
          workflows: role === undefined ? members : [],
          teardown: role === "teardown" ? members : [],
          hash: runFile.sha256,
        },
        host,
        emit,
        {
          ...options,
          header,
          before,
          outputs,
          // Outputs of setup are sealed by all secrets that came up.
          makeSecrets: () => secrets,
        },
      ),
  });
}

function headerOf(
  { runFile: { run, sha256 }, host }: PieceSource,
  jobs: readonly string[],
  part?: PieceHeader["part"],
): PieceHeader {
  return {
    schema: "runner.events/1",
    run,
    workflow: sha256,
    created: host.clock.now(),
    jobs,
    host: machineName(),
    part,
  };
}

function asWarning(message: string): Diagnostic {
  return { severity: "warning", code: "piece", message };
}

/** Parts that start together may be late by that much: milliseconds. */
const TOLERANCE = 5000;

function latenessOf(startAt: number | undefined, now: number): readonly string[] {
  const late = startAt === undefined ? 0 : now - startAt;
  if (late <= TOLERANCE) return [];
  return [`this piece begins ${(late / 1000).toFixed(1)}s after the time it was to begin at`];
}

/** Reads outputs files. Throws RunnerError for those of another run. */
async function openInputs(
  { inputs, runFile, seal, secrets }: PieceSource,
): Promise<readonly PieceOutputs[]> {
  const pieces: PieceOutputs[] = [];
  for (const source of inputs) {
    const piece = await readOutputsFile(source, { seal, secrets });
    refuseOtherRun(source.file, piece, runFile);
    pieces.push(piece);
  }
  addInputSecrets(pieces, secrets);
  return pieces;
}

/** A piece that collects what it leaves to others. */
function recorded(
  { runFile, secrets, seal }: PieceSource,
  header: PieceHeader,
  piece: Pick<OpenedPiece, "warnings" | "run">,
): OpenedPiece {
  const recorder = new PieceRecorder(runFile);
  return {
    header,
    warnings: piece.warnings,
    run: (emit, options) =>
      piece.run((event) => {
        recorder.take(event);
        emit(event);
      }, {
        ...options,
        onOutputs(outputs, rounds) {
          recorder.outputs = { outputs, rounds: Object.fromEntries(rounds) };
        },
      }),
    async renderOutputs() {
      if (!recorder.isOver) return undefined;
      const { jobs, outputs } = recorder;
      return await renderOutputsFile(header, { jobs, ...outputs }, { secrets, seal });
    },
  };
}

/** Collects what becomes of the jobs of a workflow, or of the workflows of a suite. */
class PieceRecorder {
  readonly jobs: Record<string, PieceOutcome> = {};
  outputs: Pick<PieceOutputs, "outputs" | "rounds"> = { outputs: {}, rounds: {} };
  isOver = false;
  readonly #runFile: RunFile;
  readonly #failed = new Map<string, number>();
  /** The names of workflows under way, by the ids of their runs. */
  readonly #names = new Map<string, string>();

  constructor(runFile: RunFile) {
    this.#runFile = runFile;
  }

  take(event: RunEvent): void {
    const { suite, workflows } = this.#runFile;
    if (suite) {
      if (event.type === "run_started") {
        const { role, index } = event.suite!;
        const entry = workflows.find((one) => one.role === role && one.index === index)!;
        this.#names.set(event.runId, entry.name);
      } else if (event.type === "run_finished") {
        const { steps: { failed } } = event;
        this.jobs[this.#names.get(event.runId)!] = { state: workflowState(event), failed };
      } else if (event.type === "suite_finished") this.isOver = true;
    } else if (event.type === "step_finished") {
      const { run, result } = event;
      if (run.within || result.state !== "failed") return;
      this.#failed.set(run.job, (this.#failed.get(run.job) ?? 0) + 1);
    } else if (event.type === "job_finished") {
      const { job, state, reason, blocked } = event;
      this.jobs[job] = { state, reason, blocked, failed: this.#failed.get(job) ?? 0 };
    } else if (event.type === "run_finished") this.isOver = true;
  }
}

/** Adds the secrets among outputs that others have published. */
function addInputSecrets(pieces: readonly PieceOutputs[], secrets: Masker): void {
  for (const { outputs } of pieces) {
    for (const values of Object.values(outputs)) addSecretsOf(values, secrets);
  }
}

/**
 * The plan of all jobs of a workflow that were chosen when the run was prepared. Throws RunnerError
 * if the files of the workflow are not those that the run was prepared with.
 */
async function planOfRun(
  { file: path }: RunFile,
  { workflow: { sha256: expected }, jobs, vars }: RunFileWorkflow,
  workflow: Workflow,
  draws: Draws,
): Promise<Plan> {
  const plan = await makePlan(workflow, {}, () => vars, draws);
  const sha256 = await hashWorkflow(plan.workflow);
  if (sha256 !== expected) {
    throw new RunnerError(
      `'${workflow.document.name}' is not the workflow that '${path}' was made of`,
      `its files have the hash ${sha256.slice(0, 12)}, not ${expected.slice(0, 12)}: ` +
        "all pieces need the same files",
    );
  }
  const byId = new Map(plan.jobs.map((planned) => [planned.job.id, planned]));
  const chosen = jobs.flatMap(({ id }) => byId.get(id) ?? []);
  const skipped = jobs.flatMap(({ id, skip }) => skip ? byId.get(id) ?? [] : []);
  const selection = { only: new Set(chosen), withNeeds: false, skip: new Set(skipped) };
  const selected = selectJobs(plan, selection);
  const ids = new Set(jobs.map(({ id }) => id));
  return { ...selected, jobs: selected.jobs.filter(({ job }) => ids.has(job.id)) };
}
