import type { Action } from "./action.ts";
import { Param, parametersOf, type Shape } from "./schema.ts";
import { type ActionSpec, readParams, type ResponseShape } from "./spec.ts";

/** Makes an action from its definition. */
export function action<const S extends Shape, const F extends ResponseShape, C = undefined>(
  spec: ActionSpec<S, F, C>,
): Action {
  const { name, summary, params, oneOf, atMostOne, example, res } = spec;
  return {
    name,
    summary,
    parameters: parametersOf(params),
    ...oneOf && { alternatives: [{ names: oneOf, required: true }] },
    ...atMostOne && { alternatives: [{ names: atMostOne }] },
    problems(raw) {
      const param = new Param(name);
      readParams(spec, raw, param);
      return param.problems;
    },
    expectsResult: spec.expectsResult,
    omitsNilIn: spec.omitsNilIn,
    merge: spec.merge,
    responseFields: Object.entries(res).map(([name, field]) => {
      const { type, optional: _, ...rest } = typeof field === "string"
        ? { type: field, optional: undefined }
        : field;
      return { name, ...rest, ...type !== "any" && { type } };
    }),
    exampleTest: example,
    ...(spec.describe || spec.command || spec.testHint) && {
      explainer: () => Promise.resolve(spec),
    },
    load: async () => (await import("./run_action.ts")).runnerOf(spec),
  };
}
