import type { Action } from "../action/action.ts";
import { readParameters, required } from "../action/read_parameters.ts";
import { textOf } from "../action/text_of.ts";

/** Answers with a text. */
export const echo: Action = {
  name: "echo",
  summary: "Answers with a message as text",
  parameters: [
    { name: "message", type: "any", summary: "what to say, of any type", required: true },
  ],
  neverFails: true,
  load: () =>
    Promise.resolve((params) => {
      const message = required("echo", "message", readParameters("echo", params).any("message"));
      return { req: { message }, res: { message: textOf(message) }, status: 0 };
    }),
};
