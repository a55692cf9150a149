import type { Action } from "../action/action.ts";

/** Returns its parameters: for a first workflow and for trying out expressions. */
export const hello: Action = {
  name: "hello",
  summary: "Answers with its own parameters",
  neverFails: true,
  load: () =>
    Promise.resolve((params) => ({ req: params, res: { ...params, status: 0 }, status: 0 })),
};
