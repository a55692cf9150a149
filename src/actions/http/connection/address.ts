import type { Endpoint } from "../../../action/net/endpoint.ts";

/** The form of an entry of `resolve`. */
export const RESOLVE_HINT = 'write it like "shop.example.com:443": "10.0.0.7:8443"';

/** The problem of an entry of `resolve`. */
export function resolveProblem(from: string, to: unknown): string | undefined {
  if (!readAddress(from)) return `"${from}" in "resolve" is not a host and a port`;
  if (readAddress(String(to), "443")) return undefined;
  return `"${from}" in "resolve" must lead to a host and a port, not "${to}"`;
}

/** Reads `host:port`, or a host alone where a port is given to fall back on. */
export function readAddress(text: string, port?: number | string): Endpoint | undefined {
  const [, host, portText = port] = /^(\[[\da-f:.]+\]|[^\s:/@[\]]+)(?::(\d{1,5}))?$/i.exec(text) ??
    [];
  if (host === undefined || portText === undefined || Number(portText) > 65_535) return undefined;
  const name = URL.parse(`http://${host}`)?.hostname;
  // A key is compared with the host of a URL, brackets and all.
  return name === undefined
    ? undefined
    : { host: port === undefined ? name : name.replace(/^\[|\]$/g, ""), port: Number(portText) };
}
