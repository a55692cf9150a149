import { StepError } from "../../source/errors.ts";
import { parseJson } from "../../value/parse_json.ts";
import type { Action, ActionContext, ActionResult, Dict, RunAction } from "../action.ts";
import { onAbort } from "../on_abort.ts";
import { explainThrown } from "./explain_thrown.ts";
import type { PluginFile } from "./plugin.ts";
import { readAnswer } from "./read_answer.ts";

/** How long an action has to end what it began once it is told to stop. */
const GRACE = 1000;

/** Carries an action out by the code that a module brings, and waits no longer than is allowed. */
export async function runModule({ load }: Action, plugin: PluginFile): Promise<RunAction> {
  const { name, path } = plugin;
  let run: RunAction;
  try {
    run = await load();
  } catch (error) {
    throw new StepError(`the plugin "${name}" cannot be loaded: ${explainThrown(error, path)}`);
  }
  if (typeof run !== "function") {
    throw new StepError(`the plugin "${name}" must load a function that carries its action out`);
  }
  return async (params, context) => {
    const result = await runInTime(run, params, context).catch((error) => {
      if (error instanceof StepError) throw error;
      const message = `the plugin "${name}" failed: ${explainThrown(error, path)}`;
      throw new StepError(message, undefined, { req: params });
    });
    const { brief, elapsed } = result ?? {};
    return {
      ...readAnswer(name, asData(result, name), params),
      ...typeof brief === "string" ? { brief } : {},
      ...typeof elapsed === "number" && elapsed >= 0 ? { elapsed } : {},
    };
  };
}

/** The result; once there is a reason to stop, that reason, whether the code listens or not. */
async function runInTime(
  run: RunAction,
  params: Dict,
  context: ActionContext,
): Promise<ActionResult | undefined> {
  const over = Promise.withResolvers<never>();
  let stopped: StepError | undefined;
  let grace: { cancel(): void } | undefined;
  const forget = onAbort(context.signal, (reason) => {
    stopped = reason;
    grace = context.deadline.after(GRACE, () => over.reject(reason));
  });
  try {
    const running = (async () => await run(params, context))();
    return await Promise.race([running, over.promise]);
  } catch (error) {
    // What was cut off fails in ways of its own.
    throw stopped ?? error;
  } finally {
    forget();
    grace?.cancel();
  }
}

/** A result without anything that is no data. Throws `StepError` where it cannot be that. */
function asData(result: unknown, name: string): unknown {
  try {
    return parseJson(JSON.stringify(result) ?? "null");
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new StepError(`the plugin "${name}" answered with what is no plain data: ${why}`);
  }
}
