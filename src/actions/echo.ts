import type { Action } from "../action/action.ts";
import { declare, readRendered } from "../action/make_action.ts";
import { value } from "../action/rule.ts";
import { textOf } from "../action/parameter.ts";

const PARAMS = { message: value("any", "the message, of any type").required() };

/** Answers with a text. */
export const echo: Action = {
  ...declare({
    name: "echo",
    summary: "Answers with a message as text",
    params: PARAMS,
    usage: `with: { message: "hello, {{vars.name ?? 'world'}}" }`,
    example: 'res.message == "hello, world"',
    res: { message: { type: "string", summary: "the message as text" } },
  }),
  neverFails: true,
  load: () =>
    Promise.resolve((params) => {
      // There is nothing to convert; the rule says what is wrong.
      const message = params.message ?? readRendered("echo", PARAMS, params).message;
      return { req: { message }, res: { message: textOf(message) }, status: 0 };
    }),
};
