import type {
  ActionContext,
  ActionResult,
  Demand,
  DemandedFields,
  Dict,
  PreparedAction,
  RunAction,
} from "../../action/action.ts";
import type { Expression, Template } from "../../expr/expression.ts";
import type { Step } from "../../workflow/model.ts";
import type { Run } from "../run_state.ts";

/** The parts of a step that are the same in all its runs. */
class CompiledStep {
  /** The code of its action, once it is loaded. */
  #run: RunAction | undefined;
  #demand: Demand | undefined;
  /** The action with the parameters of the step, where these are the same in all its runs. */
  #prepared: PreparedAction | undefined;

  constructor(readonly model: Step) {}

  /** Whether the code of its action is there. */
  get isLoaded(): boolean {
    return this.#run !== undefined;
  }

  /** Loads the code of its action: a run does so once, however often it is used. */
  async load(run: Run): Promise<void> {
    const { action } = this.model;
    const code = await run.resources.resource(`action ${action.name}`, action.load);
    if (code.compile) this.#demand ??= await demandOf(this.model);
    this.#run = code;
  }

  /** Carries the action out, which is loaded. */
  act(params: Dict, context: ActionContext): ActionResult | Promise<ActionResult> {
    if (this.#prepared) return this.#prepared(context);
    const run = this.#run!;
    if (!run.compile) return run(params, context);
    const prepared = run.compile(params, this.#demand!, context);
    return prepared instanceof Promise
      ? prepared.then((prepared) => this.#keep(prepared)(context))
      : this.#keep(prepared)(context);
  }

  #keep(prepared: PreparedAction): PreparedAction {
    if (this.model.with.kind === "constant") this.#prepared = prepared;
    return prepared;
  }
}

/** The compiled form of a step of a run. */
export function compiledStep({ resources }: Run, model: Step): CompiledStep {
  return resources.resource("compiled steps", () => new Map<Step, CompiledStep>())
    .getOrInsertComputed(model, (model) => new CompiledStep(model));
}

/** The fields of the request and the response that a step reads. */
async function demandOf(step: Step): Promise<Demand> {
  if (step.snapshot) return { req: "all", res: "all" };
  const { findReferences } = await import("../../expr/references.ts");
  const references = [...readsAfterwards(step)]
    .flatMap((tree) => findReferences(tree).references);
  const fieldsOf = (root: string): DemandedFields => {
    const fields = new Set<string>();
    for (const { root: name, keys: [first] } of references) {
      // The whole environment of an expression has both.
      if (name === "$env" || name === root && !first) return "all";
      if (name === root) fields.add(first!.name);
    }
    return fields;
  };
  return { req: fieldsOf("req"), res: fieldsOf("res") };
}

/** What a step evaluates once its action has answered. */
function* readsAfterwards(
  { test = [], outputs, echo, timeout, maxTime, retry, iteration }: Step,
): Generator<Expression | Template> {
  for (const { expression } of test) yield expression;
  for (const { value } of outputs) yield value;
  if (echo) yield echo;
  if (retry?.until) yield retry.until;
  if (retry?.stop) yield retry.stop;
  const durations = [timeout, maxTime, retry?.interval, retry?.maxInterval];
  if (iteration?.kind === "loop") {
    yield iteration.until;
    durations.push(iteration.interval);
  }
  yield* durations.flatMap((duration) => duration?.kind === "template" ? duration.template : []);
}
