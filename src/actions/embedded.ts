import type { Action } from "../action/action.ts";
import { declare, readRendered } from "../action/make_action.ts";
import { text, value } from "../action/rule.ts";
import { withoutSecretNames } from "../secrets/secrets.ts";
import { isDict, type Value } from "../base/value/value.ts";

const PARAMS = {
  path: text("the job file, relative to the file that names it")
    .with({ namesFile: "yaml" }).required(),
  vars: value("map", "all vars that the job can read").default({}, "none"),
};

/** Runs a job of another file as a step. */
export const embedded: Action = {
  ...declare({
    name: "embedded",
    summary: "Runs a job file as a step",
    params: PARAMS,
    usage: "with: { path: log_in.yml, vars: { customer: ann } }",
    example: "res.code == 0",
    omitsNilIn: () => [],
    res: {
      code: { type: "int", summary: "0 if all steps passed, otherwise 1; `status` is the same" },
      outputs: {
        type: "map",
        summary: "outputs of its steps: `res.outputs.login.token`, or `res.outputs.token`",
        hide: hideOutputs,
      },
    },
  }),
  embeds: true,
  load: () =>
    Promise.resolve(async (params, context) => {
      const { vars } = readRendered("embedded", PARAMS, params);
      const job = await context.runJobFile(vars);
      const code = job.failed > 0 ? 1 : 0;
      return {
        req: { path: job.file, vars },
        res: { code, outputs: job.outputs },
        status: code,
        job,
      };
    }),
};

function hideOutputs(outputs: Value, mask: string): Value {
  return isDict(outputs) ? withoutSecretNames(outputs, mask) : outputs;
}
