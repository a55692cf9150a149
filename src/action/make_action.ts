import type { Action, CompileAction, Demand, DemandedFields, RunAction } from "./action.ts";
import { Param, parametersOf, type Shape } from "./schema.ts";
import {
  type ActionDeclaration,
  type ActionSpec,
  alternativesOf,
  type FieldOf,
  readParams,
  type ResponseShape,
} from "./spec.ts";

/** Makes an action from its definition. */
export function action<const S extends Shape, const F extends ResponseShape, C = undefined>(
  spec: ActionSpec<S, F, C>,
): Action {
  return {
    ...declare(spec),
    load: async () => (await import("./run_action.ts")).runnerOf(spec),
  };
}

/** The part of an action that is not how it is carried out, for one that carries itself out. */
export function declare<const S extends Shape, const F extends ResponseShape>(
  declaration: ActionDeclaration<S, F>,
): Omit<Action, "load"> {
  const { name, summary, params, example, res } = declaration;
  return {
    name,
    summary,
    parameters: parametersOf(params),
    alternatives: alternativesOf(declaration),
    problems(raw) {
      const param = new Param(name);
      readParams(declaration, raw, param);
      return param.problems;
    },
    expectsResult: declaration.expectsResult,
    acceptsAnswers: declaration.acceptsAnswers,
    omitsNilIn: declaration.omitsNilIn,
    merge: declaration.merge,
    responseFields: res && Object.entries(res).map(([name, field]) => {
      const whole: FieldOf = typeof field === "string" ? { type: field, summary: name } : field;
      const { type, optional: _, ...rest } = whole;
      return { name, ...rest, ...type !== "any" && { type } };
    }),
    usage: declaration.usage,
    exampleTest: example,
    ...(declaration.describe || declaration.command || declaration.testHint) && {
      explainer: () => Promise.resolve(declaration),
    },
  };
}

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
