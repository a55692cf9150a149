import type { Param } from "../../action/schema.ts";

/** The types of records that can be asked for. */
export const RECORD_TYPES: readonly string[] = [
  ...["A", "AAAA", "CAA", "CNAME", "DS", "HINFO", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV"],
  ...["SSHFP", "TLSA", "TXT"],
];

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
export function checkName(name: string, param: Param): string {
  if (isName(name)) return name;
  throw param.wrong(`invalid name "${name}"`, "write a name like shop.example.com");
}

/** The name to ask for: of an address for PTR, and in ASCII; undefined if that cannot be one. */
export async function toAscii(text: string, type: string): Promise<string | undefined> {
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
export function readServer(text: string, param: Param) {
  // An IPv6 address alone needs no brackets.
  const bracketed = /^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(text) ? `[${text}]` : text;
  const [, address, name, port = "53"] =
    /^(?:\[([^\]]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(bracketed) ?? [];
  const host = address ?? name;
  const number = Number(port);
  if (host !== undefined && number >= 1 && number <= 65_535) return { host, port: number };
  throw param.wrong(`invalid server "${text}"`, "write host or host:port");
}
