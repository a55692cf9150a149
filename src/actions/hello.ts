import type { Action } from "../action/action.ts";

/** Returns its parameters: for a first workflow and for trying out expressions. */
export const hello: Action = {
  name: "hello",
  summary: "Answers with its own parameters",
  usage: "with: { to: world }",
  exampleTest: 'res.to == "world"',
  neverFails: true,
  load: () =>
    Promise.resolve((params) => ({ req: params, res: { ...params, status: 0 }, status: 0 })),
};

/** The same, for a step that has nothing to do: the file format wants an action of each. */
export const assert: Action = {
  ...hello,
  name: "assert",
  summary: "Does nothing: for a step that only tests what there is",
  usage: undefined,
  /** Its status says nothing. */
  explainer: () => Promise.resolve({ describe: () => ({ response: { minor: [["status"]] } }) }),
  exampleTest: "outputs.order.total == 12",
};
