import type {
  ActionContext,
  ActionResult,
  Demand,
  DemandedFields,
  Dict,
  PreparedAction,
  ResourceScope,
  RunAction,
} from "../../action/action.ts";
import type { Template } from "../../expr/expression.ts";
import { markCleanup, STEP_TIMEOUT } from "../../workflow/step_facts.ts";
import type { Job, Step } from "../../workflow/model.ts";

/** The parts of a step that are the same in all its runs. */
export class CompiledStep {
  /** The name for reports, where no expression is in it. */
  readonly name: string | undefined;
  /** `with`, where no expression is in it. */
  readonly params: Dict | undefined;
  /** The milliseconds of an attempt, where no expression is in them. */
  readonly timeout: number | undefined;
  readonly publishes: boolean;
  /** Whether it says itself what an unsuccessful action means; else that fails it. */
  judgesStatus = false;
  #run: RunAction | undefined;
  #demand: Demand | undefined;
  /** The action with the parameters of the step, where these are the same in all its runs. */
  #prepared: PreparedAction | undefined;

  constructor(job: Job, readonly model: Step) {
    const { name, action, with: params, timeout, outputs, id } = model;
    const text = name ? textOf(name)?.trim() : "";
    this.name = text === undefined ? undefined : markCleanup(job, model, text || action.name);
    this.params = params.kind === "constant" ? params.value as Dict : undefined;
    this.timeout = timeout.kind === "constant" ? timeout.milliseconds || STEP_TIMEOUT : undefined;
    this.publishes = id !== undefined && outputs.length > 0;
  }

  /** Whether the code of its action is there. */
  get isLoaded(): boolean {
    return this.#run !== undefined;
  }

  /** Loads the code of its action: a run does so once, however often it is used. */
  async load(run: ResourceScope): Promise<void> {
    const { action } = this.model;
    const code = await run.resource(`action ${action.name}`, action.load);
    if (code.compile) this.#demand ??= await demandOf(this.model);
    if (!action.neverFails) this.judgesStatus = await judgesStatus(this.model);
    this.#run = code;
  }

  /** Carries the action out, which is loaded. */
  carryOut(params: Dict, context: ActionContext): ActionResult | Promise<ActionResult> {
    if (this.#prepared) return this.#prepared(context);
    const run = this.#run!;
    if (!run.compile) return run(params, context);
    const prepared = run.compile(params, this.#demand!, context);
    return prepared instanceof Promise
      ? prepared.then((prepared) => this.#keep(prepared)(context))
      : this.#keep(prepared)(context);
  }

  #keep(prepared: PreparedAction): PreparedAction {
    if (this.params) this.#prepared = prepared;
    return prepared;
  }
}

/** The steps of a job of a run, compiled once for all its rounds. */
export function compiledSteps(run: ResourceScope, job: Job): readonly CompiledStep[] {
  return run.resource("compiled steps", () => new Map<Job, readonly CompiledStep[]>())
    .getOrInsertComputed(job, (job) => job.steps.map((step) => new CompiledStep(job, step)));
}

/** The text of a template that has no expression in it. */
function textOf({ parts }: Template): string | undefined {
  return parts.every((part) => typeof part === "string") ? parts.join("") : undefined;
}

/** The fields of the request and the response that a step reads. */
async function demandOf(step: Step): Promise<Demand> {
  if (step.snapshot) return { req: "all", res: "all" };
  const { findReferences } = await import("../../expr/references.ts");
  const references = step.reads.flatMap((tree) => findReferences(tree).references);
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

/** The fields of `res` that say whether an action was successful, and why not. */
const OUTCOME: ReadonlySet<string> = new Set([
  ...["code", "error", "signal", "stderr", "error_code", "status_code", "status_message"],
  ...["close_code", "close_reason", "valid", "rejected", "failed", "reply"],
]);

/** Whether what a step asserts reads whether its action was successful, itself or by an output. */
async function judgesStatus(
  { id, action, test = [], snapshot, retry, iteration, outputs }: Step,
): Promise<boolean> {
  const until = [
    ...retry?.until ? [retry.until] : [],
    ...iteration?.kind === "loop" ? [iteration.until] : [],
  ];
  if (test.length + until.length === 0 && !snapshot) return false;
  if (action.acceptsAnswers) return true;
  const { findReferences } = await import("../../expr/references.ts");
  const asserted = [
    ...test.map(({ expression }) => expression),
    ...until,
    ...retry?.stop ? [retry.stop] : [],
    ...snapshot?.of ? [snapshot.of] : [],
  ].flatMap((expression) => findReferences(expression).references);
  const published = outputs.filter(({ name }) =>
    asserted.some(({ root, keys: [first = { name: id }, second = first] }) =>
      root === "outputs" && (first.name === id ? [id, name] : [name]).includes(second.name)
    )
  ).flatMap(({ value }) => findReferences(value).references);
  return [...asserted, ...published].some(({ root, keys: [first] }) =>
    root === "status" || root === "$env" || root === "res" && (!first || OUTCOME.has(first.name))
  );
}
