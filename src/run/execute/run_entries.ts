import { Resources } from "../../action/resource_scope.ts";
import type { DataTemplate, Scope } from "../../expr/expression.ts";
import { assertNever, StepError } from "../../base/errors.ts";
import { describeValue, type Dict, isDict, mergeDicts } from "../../base/value/value.ts";
import { hasAll } from "../../workflow/all_outputs.ts";
import type { DataFile, Iteration, Loop, Step } from "../../workflow/model.ts";
import type { BareEvent, JobState } from "../event.ts";
import { FieldError, inField, isTrue } from "./evaluate_field.ts";
import { combineStates, runOnce, skipStep } from "./run_step.ts";
import type { Session } from "../session.ts";
import {
  closeScope,
  type Entry,
  evaluateStepVars,
  makeStepContext,
  type Round,
} from "./step_context.ts";

/** Runs a step once for each of its entries, or until its condition is true. */
export async function runEntries(
  session: Session,
  round: Round,
  step: Step,
  iteration: Iteration,
): Promise<JobState> {
  const { id } = step;
  const all: Dict[] | undefined = id !== undefined && session.keepsAll && hasAll(step)
    ? []
    : undefined;
  const state = await runAll(session, round, step, iteration, all);
  // An entry that was skipped, or failed before it published anything, is not in it.
  if (all) round.outputs.publishAll(id!, Object.values(all));
  return state;
}

/** Runs the entries, and puts what each publishes into `all`, at its index. */
async function runAll(
  session: Session,
  round: Round,
  step: Step,
  iteration: Iteration,
  all: Dict[] | undefined,
): Promise<JobState> {
  if (iteration.kind === "loop") return await runPasses(session, round, step, iteration, all);
  const entries = openEntries(session, round, step, iteration);
  return iteration.parallel === 1
    ? await runInOrder(session, round, step, entries, all)
    : await runInParallel(session, round, step, entries, iteration.parallel, all);
}

/** Runs an entry in the round itself. */
async function runEntry(
  session: Session,
  round: Round,
  step: Step,
  entry: Entry,
  all: Dict[] | undefined,
): Promise<JobState> {
  const published = () => step.id === undefined ? undefined : round.outputs.view[step.id];
  const before = published();
  const state = await runOnce(session, round, step, entry);
  const after = published();
  if (all && after !== before) all[entry.index] = after as Dict;
  return state;
}

/** The entries, one after another as they are asked for; what they throw fails the step. */
async function* openEntries(
  session: Session,
  round: Round,
  step: Step,
  iteration: Exclude<Iteration, Loop>,
): AsyncGenerator<DataTemplate> {
  if (iteration.kind === "list") return yield* iteration.entries;
  const context = makeStepContext(session, round, step);
  const vars = evaluateStepVars(session, context);
  const { req: _, res: __, rt: ___, status: ____, iteration_index: _____, ...names } =
    context.names;
  const scope = { ...context.scope, names: { ...names, vars } };
  switch (iteration.kind) {
    case "template": {
      const { field } = iteration;
      const list = inField(field, () => iteration.list.render(scope), iteration.list);
      if (!Array.isArray(list)) {
        const error = new StepError(`"iteration" must be a list, not ${describeValue(list)}`);
        throw new FieldError(field, error, iteration.list);
      }
      if (list.length === 0) {
        const { nilDefaults } = await import("../../expr/template/render.ts");
        const why = nilDefaults(iteration.list, scope).map((read) => `: ${read} is nil`).join("");
        throw new NothingToRun(`the list is empty${why}`);
      }
      for (const value of list) yield { kind: "constant", value };
      return;
    }
    case "file":
      return yield* openFile(session, step, iteration, scope, vars);
    default:
      return assertNever(iteration);
  }
}

/** Reports that there is no entry, which is not a failure. */
class NothingToRun extends Error {}

async function* openFile(
  session: Session,
  step: Step,
  file: DataFile,
  scope: Scope,
  vars: Dict,
): AsyncGenerator<DataTemplate> {
  const { limit = Infinity, where } = file;
  const field = ["iteration", "file"];
  const written = inField(field, () => file.file.renderText(scope), file.file);
  const at = [...step.path, ...field];
  let rows = 0;
  let chosen = 0;
  try {
    const { readRows } = await import("../data/read_rows.ts");
    if (limit > 0) {
      for await (const value of readRows(session, { written, file, at })) {
        rows++;
        if (where && !isChosen(value)) continue;
        yield { kind: "constant", value };
        if (++chosen === limit) break;
      }
    }
  } catch (error) {
    throw error instanceof FieldError ? error : new FieldError(field, error);
  }
  if (chosen > 0) return;
  if (limit === 0) throw new NothingToRun("limit is 0");
  throw new NothingToRun(
    rows > 0 ? `no row of "${written}" fits "where"` : `"${written}" has no rows`,
  );

  function isChosen(value: unknown): boolean {
    const row = isDict(value as Dict) ? value as Dict : { item: value } as Dict;
    const names = { ...scope.names, vars: mergeDicts(vars, row) };
    return isTrue(where!, { ...scope, names }, ["iteration", "where"]);
  }
}

async function runInOrder(
  session: Session,
  round: Round,
  step: Step,
  entries: AsyncIterable<DataTemplate>,
  all: Dict[] | undefined,
): Promise<JobState> {
  let state: JobState = "passed";
  let index = 0;
  try {
    for await (const template of entries) {
      if (session.cancellation.reason !== undefined) break;
      const entry = { index, template };
      const one = skipIfStopped(session, round, step, entry, state) ??
        await runEntry(session, round, step, entry, all);
      state = combineStates(state, one);
      index++;
    }
  } catch (error) {
    return combineStates(state, await endWithout(session, round, step, index, error));
  }
  return state;
}

/** Skips an entry that does not start any more; `state` is that of the entries so far. */
function skipIfStopped(
  session: Session,
  round: Round,
  step: Step,
  entry: Entry,
  state: JobState,
): JobState | undefined {
  const isStopped = state === "failed" && round.job.stopsAtFailure && !step.isCleanup;
  if (!isStopped && session.draining.reason === undefined) return undefined;
  const reason = isStopped ? "on_failure is stop, and an entry before failed" : undefined;
  skipStep(session, round, step, entry, reason);
  return "skipped";
}

/** Reports why there is no further entry. */
async function endWithout(
  session: Session,
  round: Round,
  step: Step,
  index: number,
  error: unknown,
): Promise<JobState> {
  if (error instanceof NothingToRun) {
    skipStep(session, round, step, undefined, error.message);
    return "passed";
  }
  // The step fails as a whole, or at the entry that could not be read.
  const entry = { index, template: NO_VARS, fault: error };
  return await runOnce(session, round, step, entry);
}

const NO_VARS: DataTemplate = { kind: "constant", value: {} };

/** Runs so many entries at once; each has resources of its own, as a job has. */
async function runInParallel(
  session: Session,
  round: Round,
  step: Step,
  entries: AsyncIterator<DataTemplate>,
  parallel: number,
  all: Dict[] | undefined,
): Promise<JobState> {
  const { cancellation } = session;
  const order = new EventOrder(session.emit);
  let state: JobState = "passed";
  let index = 0;
  let isOver = false;
  let fault: { readonly index: number; readonly error: unknown } | undefined;
  let latest: { readonly index: number; readonly values: Dict } | undefined;
  let reading: Promise<unknown> = Promise.resolve();

  /** The next entry; they are read one at a time. */
  function next(): Promise<
    { readonly index: number; readonly template: DataTemplate } | undefined
  > {
    const result = reading.then(async () => {
      if (isOver || cancellation.reason !== undefined) return undefined;
      try {
        const { done, value } = await entries.next();
        if (!done) return { index: index++, template: value };
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
      const inner = { ...session, emit: order.emitterOf(entry.index) };
      const one = skipIfStopped(inner, round, step, entry, state) ??
        await runApart(inner, entry);
      // Read only now: others have ended meanwhile.
      state = combineStates(state, one);
      order.end(entry.index);
    }
  }

  async function runApart(
    inner: Session,
    entry: { readonly index: number; readonly template: DataTemplate },
  ): Promise<JobState> {
    const scope = new Resources();
    const outputs = round.outputs.fork();
    try {
      return await runOnce(inner, { ...round, scope, outputs }, step, entry);
    } finally {
      const values = step.id === undefined ? undefined : outputs.ofSteps()[step.id];
      if (values) {
        if (all) all[entry.index] = values;
        if (entry.index >= (latest?.index ?? 0)) latest = { index: entry.index, values };
      }
      await closeScope(inner, scope);
    }
  }

  await Promise.all(Array.from({ length: parallel }, work));
  await entries.return?.();
  if (latest && step.id !== undefined) round.outputs.publish(step.id, latest.values);
  if (!fault) return state;
  return combineStates(state, await endWithout(session, round, step, fault.index, fault.error));
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

/** Runs a step until its condition is true; a pass that fails or is skipped is the last one. */
async function runPasses(
  session: Session,
  round: Round,
  step: Step,
  loop: Loop,
  all: Dict[] | undefined,
): Promise<JobState> {
  const { cancellation, draining, deadlines } = session;
  for (let index = 0; index < loop.max; index++) {
    if (cancellation.reason !== undefined) return "passed";
    if (draining.reason !== undefined) {
      skipStep(session, round, step, { index, template: NO_VARS });
      return "skipped";
    }
    const pass = { isOver: true, pause: 0 };
    const entry = { index, template: NO_VARS, loop: { ...loop, pass } };
    if (await runEntry(session, round, step, entry, all) === "failed") return "failed";
    if (pass.isOver) return "passed";
    await draining.sleep(pass.pause, deadlines);
  }
  return "passed";
}
