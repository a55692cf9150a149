import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { addressOf } from "../../action/net/endpoint.ts";
import { type Param, text, timeout } from "../../action/rule.ts";
import { action } from "../../action/make_action.ts";

const RECORD_TYPES: readonly string[] = [
  ...["A", "AAAA", "CAA", "CNAME", "DS", "HINFO", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV"],
  ...["SSHFP", "TLSA", "TXT"],
];

/** Asks a name server once. An answer without success, like NXDOMAIN, is a result. */
export const dns = action({
  name: "dns",
  summary: "Asks a name server for the records of a name",
  params: {
    name: text("The name; for PTR, an address works, too").as(checkName).required(),
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
  res: {
    code: {
      type: "string",
      summary: "the code of the answer: `NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`",
    },
    records: { type: "array", summary: "a list of `name`, `type`, `ttl` (seconds) and `value`" },
    authoritative: { type: "bool", summary: "whether the server is responsible for the name" },
    server: { type: "string", summary: "the server that was asked" },
  },
  usage: "with: { name: shop.example.com, type: A }",
  example: 'res.records[0].value == "192.0.2.1"',
  async target({ name, type, server: address }) {
    const server = address ?? await systemServer();
    return { ...server, failing: `cannot ask ${addressOf(server)} for ${type} of "${name}"` };
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

/** Whether a name can be asked for, as RFC 1035 limits it. */
function isName(name: string): boolean {
  const labels = name.replace(/\.$/, "").split(".");
  return !/\s|:\/\//.test(name) &&
    (name === "." || labels.every((label) => label !== "" && sizeOf(label) <= 63)) &&
    sizeOf(name) <= 253;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A name as a step gives it. */
function checkName(name: string, param: Param): string {
  if (isName(name)) return name;
  throw param.wrong(`invalid name "${name}"`, "write a name like shop.example.com");
}

/** The name to ask for: of an address for PTR, and in ASCII; undefined if that cannot be one. */
async function toAscii(text: string, type: string): Promise<string | undefined> {
  const whole = type === "PTR" ? reverseName(text) : text;
  // deno-lint-ignore no-control-regex
  const isPlain = /^[\x00-\x7f]*$/.test(whole);
  const name = isPlain ? whole : (await import("node:url")).domainToASCII(whole);
  return name !== "" && isName(name) ? name.replace(/\.$/, "") : undefined;
}

/** The name under which the name of an address is found; other names stay as they are. */
function reverseName(text: string): string {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) {
    return `${text.split(".").reverse().join(".")}.in-addr.arpa`;
  }
  const full = text.includes(":")
    ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
    : undefined;
  if (full === undefined) return text.replace(/\.$/, "");
  const [head = "", tail] = full.split("::");
  const groups = (part: string | undefined) => part ? part.split(":") : [];
  const before = groups(head);
  const after = groups(tail);
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(zeros).fill("0"), ...after];
  const digits = all.map((group) => group.padStart(4, "0")).join("");
  return `${[...digits].reverse().join(".")}.ip6.arpa`;
}

/** A name server, `host` or `host:port`. */
function readServer(text: string, param: Param) {
  // An IPv6 address alone needs no brackets.
  const bracketed = /^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(text) ? `[${text}]` : text;
  const [, address, name, port = "53"] =
    /^(?:\[([^\]]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(bracketed) ?? [];
  const host = address ?? name;
  const number = Number(port);
  if (host !== undefined && number >= 1 && number <= 65_535) return { host, port: number };
  throw param.wrong(`invalid server "${text}"`, "write host or host:port");
}
