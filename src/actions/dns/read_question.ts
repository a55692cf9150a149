import { StepError } from "../../base/errors.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";

/** How a name server is written. */
export const SERVER_FORM = "write host or host:port";

/** How a name is written. */
export const NAME_FORM = "write a name like shop.example.com";

/** Describes the problem with a name; undefined if it can be asked for. */
export function nameProblem(name: string): string | undefined {
  const labels = name.replace(/\.$/, "").split(".");
  const isFine = !/\s|:\/\//.test(name) &&
    (name === "." || labels.every((label) => label !== "" && sizeOf(label) <= 63)) &&
    sizeOf(name) <= 253;
  return isFine ? undefined : `invalid name "${name}"`;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The name to ask for: of an address for PTR, and in ASCII. Throws `StepError`. */
export async function readName(text: string, type: string): Promise<string> {
  const whole = type === "PTR" ? reverseName(text) : text;
  // deno-lint-ignore no-control-regex
  const isPlain = /^[\x00-\x7f]*$/.test(whole);
  const name = isPlain ? whole : (await import("node:url")).domainToASCII(whole);
  if (name !== "" && nameProblem(name) === undefined) return name.replace(/\.$/, "");
  throw new StepError(`cannot run dns: invalid name "${text}"`, NAME_FORM, { parameter: "name" });
}

/** The name under which the name of an address is found; other names stay as they are. */
function reverseName(text: string): string {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) {
    return `${text.split(".").reverse().join(".")}.in-addr.arpa`;
  }
  if (!text.includes(":")) return text.replace(/\.$/, "");
  const full = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  if (full === undefined) return text;
  const [head = "", tail] = full.split("::");
  const groups = (part: string | undefined) => part ? part.split(":") : [];
  const before = groups(head);
  const after = groups(tail);
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(zeros).fill("0"), ...after];
  const digits = all.map((group) => group.padStart(4, "0")).join("");
  return `${[...digits].reverse().join(".")}.ip6.arpa`;
}

/** The name server of a step, or the first one of the system. Throws `StepError`. */
export async function readServer(text: string | undefined): Promise<Endpoint> {
  if (text === undefined) {
    const { getServers } = await import("node:dns");
    const [first] = getServers();
    if (first === undefined) {
      throw new StepError("cannot run dns: the system has no name server", 'give "server"');
    }
    return parseServer(first) ?? { host: first, port: 53 };
  }
  const server = parseServer(text);
  if (server) return server;
  const message = `cannot run dns: invalid server "${text}"`;
  throw new StepError(message, SERVER_FORM, { parameter: "server" });
}

/** A name server; undefined if the text names none. */
export function parseServer(text: string): Endpoint | undefined {
  // An IPv6 address alone needs no brackets.
  const given = /^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(text) ? `[${text}]` : text;
  const [, address, name, port = "53"] =
    /^(?:\[([^\]]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(given) ?? [];
  const host = address ?? name;
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}
