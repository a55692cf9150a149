import type { Action } from "../action/action.ts";
import { withoutSecretNames } from "../secrets/secrets.ts";
import { isDict, type Value } from "../base/value/value.ts";
import { readParameters } from "../action/read_parameters.ts";

/** Runs a job of another file as a step. */
export const embedded: Action = {
  name: "embedded",
  summary: "Runs a job file as a step",
  parameters: [
    {
      name: "path",
      type: "string",
      summary: "the job file, relative to the file that names it",
      namesFile: "yaml",
      required: true,
    },
    { name: "vars", type: "map", summary: "all the vars that the job sees", default: "none" },
  ],
  responseFields: [{ name: "code", type: "int" }, {
    name: "outputs",
    type: "map",
    hide: hideOutputs,
  }],
  embeds: true,
  omitsNilIn: () => [],
  load: () =>
    Promise.resolve(async (params, context) => {
      const vars = readParameters("embedded", params).map("vars") ?? {};
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
