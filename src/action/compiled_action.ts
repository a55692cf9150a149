import type { CompileAction, Demand, DemandedFields, RunAction } from "./action.ts";

/** Every field is read. */
export const EVERYTHING: Demand = { req: "all", res: "all" };

/** Makes the code of an action that prepares the attempts of its steps. */
export function compiledAction(compile: CompileAction): RunAction {
  const run: RunAction = async (params, context) => {
    const carryOut = await compile(params, EVERYTHING, context);
    return await carryOut(context);
  };
  return Object.assign(run, { compile });
}

/** Whether a field is read. */
export function isDemanded(fields: DemandedFields, name: string): boolean {
  return fields === "all" || fields.has(name);
}
