import { Resources } from "../../action/resource_scope.ts";
import { assertNever, StepError } from "../../base/errors.ts";
import { combinationsOf, MatrixFault } from "../../base/value/combinations.ts";
import { describeValue, type Dict, type Value } from "../../base/value/value.ts";
import type { DataTemplate, Scope } from "../../expr/expression.ts";
import { renderData } from "../../expr/template.ts";
import { hasAll } from "../../workflow/step_facts.ts";
import type { Combinations, Iteration, Loop, RowsFile } from "../../workflow/model.ts";
import type { BareEvent, JobState } from "../event.ts";
import { type Entry, type Round, type RunExecution, StepExecution } from "../run_state.ts";
import type { CompiledStep } from "./compiled_step.ts";
import { FieldError, inField, NothingToRun } from "./evaluate_field.ts";
import { combineStates, evaluateVars, runOnce, skipStep } from "./run_step.ts";

/** The iteration of a step in a round. */
interface Entries {
  readonly round: Round;
  readonly step: CompiledStep;
  /** What each entry publishes, at its index, where this is kept. */
  readonly all: Dict[] | undefined;
}

/** Runs a step once for each of its entries, or until its condition is true. */
export async function runEntries(
  round: Round,
  step: CompiledStep,
  iteration: Iteration,
): Promise<JobState> {
  const { id } = step.model;
  const all = id !== undefined && round.run.keepsAll && hasAll(step.model) ? [] : undefined;
  const entries = { round, step, all };
  const state = iteration.kind === "loop" || iteration.parallel === 1
    ? await runInOrder(entries, openEntries(round, step, iteration))
    : await runInParallel(entries, openEntries(round, step, iteration), iteration.parallel);
  // An entry that was skipped, or failed before it published anything, is not in it.
  if (all) round.outputs.publishAll(id!, Object.values(all));
  return state;
}

/** An entry without its number. */
type NextEntry = Omit<Entry, "index">;

/** The entries, one after another as they are asked for; what they throw fails the step. */
async function* openEntries(
  round: Round,
  compiled: CompiledStep,
  iteration: Iteration,
): AsyncGenerator<NextEntry> {
  if (iteration.kind === "list") {
    for (const template of iteration.entries) yield { template };
    return;
  }
  if (iteration.kind === "loop") return yield* openPasses(round.run, iteration);
  const step = new StepExecution(round, compiled);
  const vars = evaluateVars(step);
  const { req: _, res: __, rt: ___, status: ____, iteration_index: _____, ...names } = step.names;
  const scope = { ...step.scope, names };
  switch (iteration.kind) {
    case "template": {
      const { field } = iteration;
      const list = inField(field, () => iteration.list.render(scope), iteration.list);
      if (!Array.isArray(list)) {
        const error = new StepError(`"iteration" must be a list, not ${describeValue(list)}`);
        throw new FieldError(field, error, iteration.list);
      }
      if (list.length === 0) {
        const { nilDefaults } = await import("../../expr/template.ts");
        const why = nilDefaults(iteration.list, scope).map((read) => `: ${read} is nil`).join("");
        throw new NothingToRun(`the list is empty${why}`);
      }
      for (const value of list) yield { template: { kind: "constant", value } };
      return;
    }
    case "matrix":
      for (const value of combinationsIn(iteration, scope)) {
        yield { template: { kind: "constant", value } };
      }
      return;
    case "file":
      return yield* openFile(step, iteration, scope, vars);
    default:
      return assertNever(iteration);
  }
}

function combinationsIn({ values, most }: Combinations, scope: Scope): readonly Dict[] {
  const field = ["iteration", "matrix"];
  const matrix = inField(field, () => renderData(values, scope)) as Dict;
  const { include, exclude: _, ...lists } = matrix;
  const isEmpty = (list: Value | undefined) => Array.isArray(list) && list.length === 0;
  const empty = Object.keys(lists).find((name) => isEmpty(lists[name]));
  // What is included may not be lost without a word.
  if (empty !== undefined && (!include || isEmpty(include))) {
    throw new NothingToRun(`the list "${empty}" is empty`);
  }
  try {
    return combinationsOf(matrix, most);
  } catch (fault) {
    if (!(fault instanceof MatrixFault)) throw fault;
    throw new FieldError([...field, ...fault.path], new StepError(fault.message));
  }
}

const NO_VARS: DataTemplate = { kind: "constant", value: {} };

/** Passes until the condition of the loop is true; one that fails or is skipped is the last one. */
async function* openPasses(run: RunExecution, loop: Loop): AsyncGenerator<NextEntry> {
  for (let index = 0; index < loop.max; index++) {
    const pass = { isOver: true, pause: 0 };
    yield { template: NO_VARS, loop: { ...loop, pass } };
    if (pass.isOver) return;
    await run.draining.sleep(pass.pause, run.deadlines);
  }
}

async function* openFile(
  { run, model }: StepExecution,
  file: RowsFile,
  scope: Scope,
  vars: Dict,
): AsyncGenerator<NextEntry> {
  const { readChosenRows } = await import("./read_rows.ts");
  const keys = { field: ["iteration", "file"], where: ["iteration", "where"], owner: model.path };
  for await (const value of readChosenRows(run, file, { scope, vars, ...keys })) {
    yield { template: { kind: "constant", value } };
  }
}

async function runEntry({ round, step, all }: Entries, entry: Entry): Promise<JobState> {
  const { id } = step.model;
  const published = () => id === undefined ? undefined : round.outputs.view[id];
  const before = published();
  const state = await runOnce(round, step, entry);
  const after = published();
  if (all && after !== before) all[entry.index] = after as Dict;
  return state;
}

async function runInOrder(
  entries: Entries,
  source: AsyncIterable<NextEntry>,
): Promise<JobState> {
  const { round, step } = entries;
  let state: JobState = "passed";
  let index = 0;
  try {
    for await (const next of source) {
      if (round.run.cancellation.reason !== undefined) break;
      const entry = { ...next, index };
      const one = skipIfStopped(round, step, entry, state) ?? await runEntry(entries, entry);
      state = combineStates(state, one);
      if (entry.loop && one === "failed") break;
      index++;
    }
  } catch (error) {
    return combineStates(state, await endWithout(round, step, index, error));
  }
  return state;
}

/** Skips an entry that does not start any more; `state` is that of the entries so far. */
function skipIfStopped(
  round: Round,
  step: CompiledStep,
  entry: Entry,
  state: JobState,
): JobState | undefined {
  const isStopped = state === "failed" && round.job.stopsAtFailure && !step.model.isCleanup;
  if (!isStopped && round.run.draining.reason === undefined) return undefined;
  const reason = isStopped ? "on_failure is stop, and an entry before failed" : undefined;
  skipStep(round, step, entry, reason);
  return "skipped";
}

/** Reports why there is no further entry. */
async function endWithout(
  round: Round,
  step: CompiledStep,
  index: number,
  error: unknown,
): Promise<JobState> {
  if (error instanceof NothingToRun) {
    skipStep(round, step, undefined, error.message);
    return "passed";
  }
  // The step fails as a whole, or at the entry that could not be read.
  return await runOnce(round, step, { index, template: NO_VARS, fault: error });
}

/** Runs several entries in parallel; each has its own resources, like a job. */
async function runInParallel(
  { round, step, all }: Entries,
  source: AsyncIterator<NextEntry>,
  parallel: number,
): Promise<JobState> {
  const { run } = round;
  const { id } = step.model;
  const order = new EventOrder(run.emit);
  let state: JobState = "passed";
  let index = 0;
  let isOver = false;
  let fault: { readonly index: number; readonly error: unknown } | undefined;
  let latest: { readonly index: number; readonly values: Dict } | undefined;
  let reading: Promise<unknown> = Promise.resolve();

  /** The next entry; they are read one at a time. */
  function next(): Promise<Entry | undefined> {
    const result = reading.then(async () => {
      if (isOver || run.cancellation.reason !== undefined) return undefined;
      try {
        const { done, value } = await source.next();
        if (!done) return { ...value, index: index++ };
      } catch (error) {
        fault = { index, error };
      }
      isOver = true;
      return undefined;
    });
    reading = result;
    return result;
  }

  async function work(): Promise<void> {
    for (let entry = await next(); entry; entry = await next()) {
      const inner = run.with({ emit: order.emitterOf(entry.index) });
      const one = skipIfStopped(round.with({ run: inner }), step, entry, state) ??
        await runApart(inner, entry);
      // Read only now: others have ended meanwhile.
      state = combineStates(state, one);
      order.end(entry.index);
    }
  }

  async function runApart(inner: RunExecution, entry: Entry): Promise<JobState> {
    const resources = new Resources();
    const outputs = round.outputs.fork();
    try {
      return await runOnce(round.with({ run: inner, shared: resources, outputs }), step, entry);
    } finally {
      const values = id === undefined ? undefined : outputs.ofSteps()[id];
      if (values) {
        if (all) all[entry.index] = values;
        if (entry.index >= (latest?.index ?? 0)) latest = { index: entry.index, values };
      }
      await inner.close(resources);
    }
  }

  await Promise.all(Array.from({ length: parallel }, work));
  await source.return?.();
  if (latest && id !== undefined) round.outputs.publish(id, latest.values);
  if (!fault) return state;
  return combineStates(state, await endWithout(round, step, fault.index, fault.error));
}

/** Holds the events of entries that run at once, so that they come in the order of the entries. */
class EventOrder {
  readonly #emit: (event: BareEvent) => void;
  readonly #held = new Map<number, BareEvent[]>();
  readonly #ended = new Set<number>();
  #next = 0;

  constructor(emit: (event: BareEvent) => void) {
    this.#emit = emit;
  }

  emitterOf(index: number): (event: BareEvent) => void {
    return (event) => {
      // One that has ended may still say what became of the processes that it left.
      if (index <= this.#next) return this.#emit(event);
      const held = this.#held.get(index);
      if (held) held.push(event);
      else this.#held.set(index, [event]);
    };
  }

  end(index: number): void {
    this.#ended.add(index);
    while (this.#ended.delete(this.#next)) {
      this.#next++;
      for (const event of this.#held.get(this.#next) ?? []) this.#emit(event);
      this.#held.delete(this.#next);
    }
  }
}
