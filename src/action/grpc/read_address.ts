import type { Endpoint } from "../net/explain_connection.ts";

/** Reads `host:port`, of IPv6 with brackets; undefined where it is not one. */
export function readAddress(text: string): Endpoint | undefined {
  const [, host, six, port] = /^(?:([^\s:/@[\]]+)|\[([\da-fA-F:.]+)\]):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if (port === undefined || number < 1 || number > 65_535) return undefined;
  return { host: (host ?? six)!, port: number };
}

/** Whether a text is `host:port`. */
export function isAddress(text: string): boolean {
  return readAddress(text) !== undefined;
}
