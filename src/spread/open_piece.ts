import type { Draws } from "../expr/draws.ts";
import { makePlan } from "../plan/make_plan.ts";
import type { Plan } from "../plan/plan.ts";
import type { Emit, PieceHeader, RunEvent } from "../run/event.ts";
import { addSecretsOf } from "../secrets/add_secrets.ts";
import type { RunOptions, RunPiece } from "../run/run_options.ts";
import type { Dict } from "../base/value/value.ts";
import type { Workflow } from "../workflow/model.ts";
import { choosePiece, type PieceChoice, planOfPiece, planOfRun } from "./choose_piece.ts";
import {
  addInputSecrets,
  gatherInputs,
  type PieceOutcome,
  type PieceOutputs,
  readOutputsFile,
  renderOutputsFile,
} from "./outputs_file.ts";
import { type ExpectedRun, refuseOtherRun } from "./piece_events.ts";
import type { NamedText } from "./read_json_file.ts";
import { hashWorkflow, readRunFile, refuseOtherWorkflow } from "./run_file.ts";
import type { Opening } from "./seal.ts";

/** The files and the choice that make a process a part of a run. */
interface PieceSource extends Opening {
  readonly runFile: NamedText;
  readonly inputs: readonly NamedText[];
  readonly choice: PieceChoice;
  readonly draws: Draws;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** The name of the machine. */
  readonly host: string;
  /** When it begins, instead of the time in the run file: milliseconds since 1970. */
  readonly startAt?: number | undefined;
}

/** One process of a run that can begin. */
interface OpenedPiece {
  readonly plan: Plan;
  readonly options: Required<Pick<RunOptions, "piece" | "onOutputs" | "secrets" | "everyRound">>;
  readonly recorder: PieceRecorder;
  readonly warnings: readonly string[];
  /** The text of its outputs file; undefined until its jobs are over. */
  readonly renderOutputs: () => Promise<string | undefined>;
}

/** Finds what a process has to run, and what others before it have left. Throws RunnerError. */
export async function openPiece(workflow: Workflow, source: PieceSource): Promise<OpenedPiece> {
  const { runFile, choice, draws, created, host, seal, secrets } = source;
  const file = await readRunFile(runFile, { seal, secrets });
  addSecretsOf(file.vars, secrets);
  const plan = await makePlan(workflow, {}, () => file.vars, draws);
  const sha256 = await hashWorkflow(plan.workflow);
  const { name } = workflow.document;
  refuseOtherWorkflow(name, sha256, file.workflow.sha256, runFile.file);
  const whole = planOfRun(plan, file);
  const { chosen, part } = choosePiece(whole, choice);
  const inputs = await openInputs(source.inputs, {
    run: file.run,
    sha256,
    what: "workflow",
  }, { seal, secrets });
  const { warnings, ...gathered } = gatherInputs(whole, chosen, inputs);
  const startAt = source.startAt ?? (part ? file.startAt : undefined);
  const header: PieceHeader = {
    schema: "runner.events/1",
    run: file.run,
    workflow: sha256,
    created,
    jobs: [...chosen].map(({ job }) => job.id),
    host,
    ...part ? { part } : {},
  };
  const piece: RunPiece = {
    header,
    whole,
    ...gathered,
    startAt,
  };
  const recorder = new PieceRecorder();
  return {
    plan: planOfPiece(whole, chosen),
    options: {
      piece,
      secrets,
      everyRound: true,
      onOutputs: (outputs, rounds) => recorder.keep(outputs, rounds),
    },
    recorder,
    warnings: [...warnings, ...lateness(startAt, created)],
    async renderOutputs() {
      const { results } = recorder;
      return results && await renderOutputsFile(header, results, { secrets, seal });
    },
  };
}

/** Parts that start together may be late by that much: milliseconds. */
const TOLERANCE = 5000;

function lateness(startAt: number | undefined, now: number): readonly string[] {
  const late = startAt === undefined ? 0 : now - startAt;
  if (late <= TOLERANCE) return [];
  return [`this piece begins ${(late / 1000).toFixed(1)}s after the time it was to begin at`];
}

/** Reads outputs files. Throws RunnerError for those of another run. */
export async function openInputs(
  sources: readonly NamedText[],
  expected: ExpectedRun,
  opening: Opening,
): Promise<readonly PieceOutputs[]> {
  const pieces: PieceOutputs[] = [];
  for (const source of sources) {
    const piece = await readOutputsFile(source, opening);
    refuseOtherRun(source.file, piece, expected);
    pieces.push(piece);
  }
  addInputSecrets(pieces, opening.secrets);
  return pieces;
}

/** The part of an outputs file about a finished piece. */
type PieceResults = Pick<PieceOutputs, "jobs" | "outputs" | "rounds">;

/** Collects what a piece leaves to others. */
class PieceRecorder {
  readonly #jobs: Record<string, PieceOutcome> = {};
  readonly #failed = new Map<string, number>();
  #outputs: Pick<PieceResults, "outputs" | "rounds"> | undefined;

  /** Takes the events of the piece, and passes them on. */
  around(emit: Emit): Emit {
    return (event) => {
      this.#take(event);
      emit(event);
    };
  }

  /** Takes what its steps have published. */
  keep(outputs: Readonly<Record<string, Dict>>, rounds: ReadonlyMap<string, number>): void {
    this.#outputs = { outputs, rounds: Object.fromEntries(rounds) };
  }

  /** Undefined until its jobs are over. */
  get results(): PieceResults | undefined {
    return this.#outputs && { jobs: this.#jobs, ...this.#outputs };
  }

  #take(event: RunEvent): void {
    if (event.type === "step_finished") {
      const { run, result } = event;
      if (run.within || result.state !== "failed") return;
      this.#failed.set(run.job, (this.#failed.get(run.job) ?? 0) + 1);
    } else if (event.type === "job_finished") {
      const { job, state, reason, blocked } = event;
      this.#jobs[job] = {
        state,
        ...reason === undefined ? {} : { reason },
        ...blocked ? { blocked } : {},
        failed: this.#failed.get(job) ?? 0,
      };
    }
  }
}
