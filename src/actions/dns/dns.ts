import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { timeout } from "../../action/params.ts";
import { text } from "../../action/schema.ts";
import { action } from "../../action/make_action.ts";
import { checkName, readServer, RECORD_TYPES, toAscii } from "./question.ts";

/** Asks a name server once. An answer without success, like NXDOMAIN, is a result. */
export const dns = action({
  name: "dns",
  summary: "Asks a name server for the records of a name",
  params: {
    name: text("The name; for PTR an address does as well").as(checkName).required(),
    type: text(`The type of records: ${RECORD_TYPES.join(", ")}`).as((written, param) => {
      const type = written.toUpperCase();
      if (RECORD_TYPES.includes(type)) return type;
      const hint = didYouMean(type, RECORD_TYPES) ?? `one of ${RECORD_TYPES.join(", ")}`;
      throw param.wrong(`unknown type of records "${written}"`, hint);
    }).default("A"),
    server: text("The name server: `host` or `host:port`").as(readServer)
      .with({ default: "the first one of the system" }),
    ...timeout("How long the answer may take", 5000, "5s, at most the timeout of the step"),
  },
  res: { code: "string", records: "array", authoritative: "bool", server: "string" },
  example: 'res.records[0].value == "192.0.2.1"',
  async target({ name, type, server: address }) {
    const server = address ?? await systemServer();
    return { ...server, failing: `cannot ask ${placeOf(server)} for ${type} of "${name}"` };
  },
  async run(_, { name: written, type }, attempt) {
    const name = await toAscii(written, type);
    if (name === undefined) {
      throw new StepError(`cannot run dns: invalid name "${written}"`, undefined, {
        parameter: "name",
      });
    }
    const { ask } = await import("./ask.ts");
    const { code, records, isAuthoritative } = await ask(name, type, attempt);
    const server = `${attempt.server.host}:${attempt.server.port}`;
    return {
      req: { name, type, server },
      res: { code: code.name, records, authoritative: isAuthoritative, server },
      status: code.number,
      brief: code.name,
    };
  },
});

async function systemServer() {
  const { getServers } = await import("node:dns");
  const [first] = getServers();
  if (first !== undefined) return { host: first, port: 53 };
  throw new StepError("cannot run dns: the system has no name server", 'give "server"');
}
