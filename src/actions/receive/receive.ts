import { action } from "../../action/make_action.ts";
import { condition, duration, integer, value } from "../../action/rule.ts";

/** Takes messages that have come to a step that stays open, or waits for them. */
export const receive = action({
  name: "receive",
  summary: "Waits for messages that come to a step that stays open",
  limitsParts: true,
  params: {
    from: value(
      ["string", "list"],
      "The id of a step that stays open; of a list, whichever has a message first",
    ).as((ids, param): readonly string[] => {
      const list = [ids].flat();
      if (list.length > 0 && list.every((id) => typeof id === "string")) return list;
      throw param.wrong(`${param.name} must be the id of a step, or a list of ids`);
    }).required(),
    where: condition(
      "An expression: takes the first `message` for which it is true; others stay for later steps",
      "message",
    ),
    count: integer("How many messages that fit it takes", { min: 1 }).default(1),
    none: duration("Passes if nothing that fits comes in this time"),
    timeout: duration("How long it waits").default(30_000, "30s"),
  },
  atMostOne: ["count", "none"],
  expectsResult: () => true,
  resultNames: ["message"],
  res: {
    message: { type: "any", summary: "the last message that it took; nil with `none`" },
    messages: { type: "array", summary: "all messages that it took, in their order" },
    waited: { type: "float", summary: "how long it waited, in seconds" },
  },
  usage: `with:
  from: hooks
  where: message.body.order == vars.order
  timeout: 5s`,
  example: 'message.body.state == "paid"',
  describe: (_req, res) => ({
    ...res && Array.isArray(res.messages) && res.messages.length < 2 &&
      { response: { covered: ["messages"] } },
  }),
  target: () => ({ program: "receive" }),
  run: async (_, params, { context }, { timeout: __, ...req }) => {
    const { takeMessages } = await import("./take_messages.ts");
    return { req, ...await takeMessages(params, req, context) };
  },
});
