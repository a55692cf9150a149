import type { PieceHeader, PiecePart } from "../run/event.ts";
import type { StepOutputs } from "../run/execute/outputs.ts";
import type { JobOutcome, RunPiece, RunProgress } from "../run/run_state.ts";
import { jobsBefore, type Plan, type PlannedJob, startsWhenNeedsSucceed } from "../plan/plan.ts";
import { RunnerError } from "../base/errors.ts";
import type { Masker } from "../secrets/masker.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import { ALL, titleOf } from "../workflow/step_facts.ts";
import { isPart, newestParts } from "./piece_events.ts";
import { type NamedText, readJsonFile } from "./read_json_file.ts";
import type { RunFile, RunFileWorkflow } from "./run_file.ts";
import { type Opening, openValues, type Seal, sealValues } from "./seal.ts";

const SCHEMA = "runner.outputs/1";
const HINT = "such a file is written by: runner <workflow_file> --run FILE --outputs FILE";

/** The results that a piece passes to later ones. */
export interface PieceOutputs {
  /** Its path, for messages. */
  readonly file: string;
  /** The id of the run. */
  readonly run: string;
  /** SHA-256 of the files. */
  readonly workflow: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly part?: PiecePart;
  /** The outcomes of its jobs, by their ids; of a suite, those of its workflows by their names. */
  readonly jobs: Readonly<Record<string, PieceOutcome>>;
  /** The outputs of their steps, by the ids of the steps. */
  readonly outputs: Readonly<Record<string, Dict>>;
  /** Of steps of repeated jobs, the round that this is of. */
  readonly rounds: Readonly<Record<string, number>>;
}

/** The outcome of a job or of a workflow of a suite, as others must know it. */
export interface PieceOutcome extends JobOutcome {
  /** The number of its failed steps. */
  readonly failed: number;
}

/** The text of an outputs file. Throws RunnerError where outputs are secret and cannot be sealed. */
export async function renderOutputsFile(
  header: PieceHeader,
  { jobs, outputs, rounds }: Pick<PieceOutputs, "jobs" | "outputs" | "rounds">,
  { secrets, seal }: { readonly secrets: Masker; readonly seal: Seal | undefined },
): Promise<string> {
  const { run, workflow, created, part } = header;
  const written = await sealValues(outputs, {
    secrets,
    seal,
    purpose: purposeOf(run, header.jobs, part),
    what: "outputs",
  });
  const document = {
    schema: SCHEMA,
    run,
    workflow,
    created,
    part,
    jobs,
    outputs: written.values,
    rounds: Object.keys(rounds).length === 0 ? undefined : rounds,
    ...written.extra,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Sealed values of one piece do not open as those of another. */
function purposeOf(run: string, jobs: readonly string[], part: PiecePart | undefined): string {
  return `${run} outputs ${jobs.toSorted().join(" ")} ${part?.index ?? 1}/${part?.of ?? 1}`;
}

/** Reads an outputs file. Throws RunnerError. */
export async function readOutputsFile(
  source: NamedText,
  opening: Opening,
): Promise<PieceOutputs> {
  const { file } = source;
  const fields = readJsonFile(source, SCHEMA, "outputs file", HINT);
  const fail = (what: string): never => {
    throw new RunnerError(`'${file}' is not a valid outputs file: ${what}`, HINT);
  };
  const jobs = fields.map("jobs");
  for (const outcome of Object.values(jobs)) {
    if (isDict(outcome) && /^(passed|failed|skipped)$/.test(String(outcome.state))) continue;
    fail('"jobs" has an entry without state');
  }
  const run = fields.text("run");
  const part: unknown = fields.optionalMap("part");
  if (part !== undefined && !isPart(part)) return fail('invalid "part"');
  const purpose = purposeOf(run, Object.keys(jobs), part);
  const outputs = await openValues(fields.map("outputs"), fields, opening, { file, purpose });
  for (const [id, values] of Object.entries(outputs)) {
    if (!isDict(values)) fail(`the outputs of "${id}" are not a map`);
  }
  return {
    file,
    run,
    workflow: fields.text("workflow"),
    created: fields.number("created"),
    part,
    jobs: jobs as unknown as PieceOutputs["jobs"],
    outputs: outputs as PieceOutputs["outputs"],
    rounds: (fields.optionalMap("rounds") ?? {}) as Readonly<Record<string, number>>,
  };
}

/** What ran before a piece, with the warnings about it. */
interface Gathered {
  readonly before: RunProgress;
  readonly warnings: readonly string[];
}

/** From worst to best. */
const STATES = ["failed", "skipped", "passed"] as const;

/**
 * Finds the outcomes of the jobs that those of a piece depend on. Throws RunnerError for a job or a
 * part of one that is in no input. `whole` has all jobs of the run.
 */
export function gatherInputs(
  whole: Plan,
  chosen: ReadonlySet<PlannedJob>,
  pieces: readonly PieceOutputs[],
): Gathered & Pick<RunPiece, "outcomes" | "outputs"> {
  const warnings: string[] = [];
  const isLast = [...chosen].some(({ job }) => job.isCleanup);
  const before = isLast
    ? new Set(whole.jobs.filter(({ job }) => !job.isCleanup))
    : ancestorsOf(chosen);
  // A job that runs after any outcome of its needs does so, too, when their machine was lost.
  const isLenient = isLast || [...chosen].some(({ startsWhen }) => startsWhen !== undefined);
  const outcomes = new Map<PlannedJob, PieceOutcome>();
  const outputs: [string, Dict][] = [];
  const partsOf = ({ job, name }: PlannedJob) =>
    newestParts(pieces.filter(({ jobs }) => Object.hasOwn(jobs, job.id)), (piece) => piece, () => {
      warnings.push(
        `the job "${titleOf(job.id, name)}" was run more than once: the newest outputs count`,
      );
    });
  for (const planned of inOrderOfNeeds(whole.jobs.filter((job) => before.has(job)))) {
    const { id } = planned.job;
    const parts = partsOf(planned);
    if (parts.length === 0) {
      const outcome = withoutPiece(planned, outcomes) ??
        (isLenient ? { state: "failed", failed: 0 } as const : undefined);
      if (!outcome) throw missingJob(planned, before);
      outcomes.set(planned, outcome);
      continue;
    }
    const of = parts[0]!.part?.of ?? 1;
    if (parts.length !== of && !isLenient) {
      throw new RunnerError(
        `only ${parts.length} of ${of} parts of the job "${
          titleOf(id, planned.name)
        }" are among the --inputs`,
        "give the outputs files of all parts",
      );
    }
    const states = parts.map(({ jobs }) => jobs[id]!);
    const worst = STATES.find((state) => states.some((outcome) => outcome.state === state))!;
    outcomes.set(planned, {
      ...states.find(({ state }) => state === worst)!,
      ...parts.length === of ? {} : { state: "failed" },
      failed: states.reduce((sum, { failed }) => sum + (failed ?? 0), 0),
    });
  }
  const lists = new Map<string, Dict[]>();
  for (const planned of whole.jobs) {
    if (!before.has(planned)) continue;
    const parts = partsOf(planned);
    for (const { id } of planned.job.steps) {
      if (id === undefined) continue;
      if (planned.job.combination) {
        const known = lists.get(id) ?? [];
        lists.set(id, known);
        // A piece that ran several jobs of a matrix has the outputs of all of them.
        known.push(
          ...parts.flatMap(({ outputs }) => Object.hasOwn(outputs, id) ? [outputs[id]!] : []),
        );
        continue;
      }
      const latest = parts.filter((piece) => Object.hasOwn(piece.outputs, id))
        .sort((a, b) => (b.rounds[id] ?? 0) - (a.rounds[id] ?? 0))[0];
      if (latest) outputs.push([id, latest.outputs[id]!]);
    }
  }
  for (const [id, pieces] of lists) outputs.push([id, joinLists([...new Set(pieces)])]);
  return {
    outcomes,
    outputs,
    before: progressOf([...outcomes.values()]),
    warnings: [...new Set(warnings)],
  };
}

function progressOf(outcomes: readonly PieceOutcome[]): RunProgress {
  return {
    state: outcomes.some(({ state }) => state === "failed") ? "failed" : "passed",
    failed: outcomes.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/**
 * Finds what became of the workflows of a suite that run before those of a role. Throws RunnerError
 * if workflows need setup, and it is in no input.
 */
export function gatherWorkflows(
  { suite, workflows }: RunFile,
  role: RunFileWorkflow["role"],
  pieces: readonly PieceOutputs[],
): Gathered & { readonly outputs: StepOutputs } {
  const warnings: string[] = [];
  const outcomes: PieceOutcome[] = [];
  let outputs: StepOutputs = {};
  for (const workflow of workflows) {
    const { name } = workflow;
    const isBefore = role === "teardown" ? workflow.role !== role : workflow.role === "setup";
    if (role === "setup" || !isBefore) continue;
    const [piece] = newestParts(
      pieces.filter(({ jobs }) => Object.hasOwn(jobs, name)),
      (piece) => piece,
      () => warnings.push(`'${name}' was run more than once: the newest outputs count`),
    );
    if (!piece && role === undefined) {
      throw new RunnerError(
        "no --inputs have the outputs of setup",
        `give the file that setup wrote: runner ${
          suite!.operands.join(" ")
        } --run FILE --setup --outputs FILE`,
      );
    }
    if (!piece && progressOf(outcomes).state === "passed") {
      warnings.push(`no --inputs say what became of '${name}': its machine was lost`);
    }
    // Teardown runs also if the machine of a workflow was lost.
    outcomes.push(piece?.jobs[name] ?? { state: "failed", failed: 0 });
    outputs = { ...outputs, ...piece?.outputs };
  }
  return { outputs, before: progressOf(outcomes), warnings };
}

/** The outputs of a step in all jobs of a matrix, of those of the pieces that ran some of them. */
function joinLists(ofPieces: readonly Dict[]): Dict {
  return { [ALL]: ofPieces.flatMap(({ [ALL]: all }) => Array.isArray(all) ? all : []) };
}

function ancestorsOf(chosen: ReadonlySet<PlannedJob>): ReadonlySet<PlannedJob> {
  const all = [...chosen].flatMap((job) => [...jobsBefore(job, ({ needs }) => needs).jobs]);
  return new Set(all.filter((job) => !chosen.has(job)));
}

/** Each job after those that it needs. */
function inOrderOfNeeds(jobs: readonly PlannedJob[]): readonly PlannedJob[] {
  const ordered = new Set<PlannedJob>();
  const wanted = new Set(jobs);
  const add = (job: PlannedJob) => {
    if (ordered.has(job) || !wanted.has(job)) return;
    job.needs.forEach(add);
    ordered.add(job);
  };
  jobs.forEach(add);
  return [...ordered];
}

/** The outcome of a job that no process has run: engines do not start jobs after a failed one. */
function withoutPiece(
  { needs, startsWhen = startsWhenNeedsSucceed, skip }: PlannedJob,
  outcomes: ReadonlyMap<PlannedJob, PieceOutcome>,
): PieceOutcome | undefined {
  if (skip !== undefined) return { state: "skipped", reason: skip, failed: 0 };
  const known = needs.map((need) => ({
    ...outcomes.get(need),
    title: titleOf(need.job.id, need.name),
  }));
  if (known.some(({ state }) => state === undefined)) return undefined;
  const decision = startsWhen(known.map((need) => ({ ...need, state: need.state! })));
  if (decision.starts) return undefined;
  const { reason, onPurpose } = decision;
  return { state: "skipped", reason, failed: 0, ...onPurpose ? {} : { blocked: true } };
}

function missingJob({ job, name }: PlannedJob, before: ReadonlySet<PlannedJob>): RunnerError {
  const titles = [...before].map(({ job, name }) => titleOf(job.id, name));
  return new RunnerError(
    `no --inputs say what became of the job "${titleOf(job.id, name)}"`,
    `give the outputs files of ${titles.join(", ")}, or a directory that has them`,
  );
}
