import { isTemplate } from "../../expr/template/template_data.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { NAME_FORM, nameProblem, parseServer, SERVER_FORM } from "./read_question.ts";
import { RECORD_TYPES } from "./record_types.ts";

/** Asks a name server. */
export const dns: Action = {
  name: "dns",
  summary: "Asks a name server for the records of a name",
  parameters: [
    {
      name: "name",
      type: "string",
      summary: "The name; for PTR an address does as well",
      required: true,
    },
    {
      name: "type",
      type: "string",
      summary: `The type of records: ${RECORD_TYPES.join(", ")}`,
      default: "A",
    },
    {
      name: "server",
      type: "string",
      summary: "The name server: `host` or `host:port`",
      default: "the first one of the system",
    },
    {
      name: "timeout",
      type: "duration",
      summary: "How long the answer may take",
      default: "5s, at most the timeout of the step",
    },
  ],
  responseFields: [
    { name: "code", type: "string" },
    { name: "records", type: "array" },
    { name: "authoritative", type: "bool" },
    { name: "server", type: "string" },
  ],
  check: (params) => [...checkType(params), ...checkPlaces(params)],
  exampleTest: 'res.records[0].value == "192.0.2.1"',
  load: async () => (await import("./run_dns.ts")).runDns,
};

/** The problem of a record type. */
function checkType({ type }: Dict): readonly ParameterProblem[] {
  if (typeof type !== "string" || isTemplate(type)) return [];
  if (RECORD_TYPES.includes(type.toUpperCase())) return [];
  return [{
    path: ["type"],
    message: `unknown type of records "${type}"`,
    hint: didYouMean(type.toUpperCase(), RECORD_TYPES) ?? `one of ${RECORD_TYPES.join(", ")}`,
  }];
}

/** Problems of the name and the server. */
function checkPlaces({ name, server }: Dict): readonly ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (typeof name === "string" && !isTemplate(name)) {
    const message = nameProblem(name);
    if (message !== undefined) problems.push({ path: ["name"], message, hint: NAME_FORM });
  }
  if (typeof server === "string" && !isTemplate(server) && !parseServer(server)) {
    problems.push({
      path: ["server"],
      message: `invalid server "${server}"`,
      hint: SERVER_FORM,
    });
  }
  return problems;
}
