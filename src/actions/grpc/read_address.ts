import type { Endpoint } from "../../action/net/endpoint.ts";

/** Reads `host:port`, of IPv6 with brackets; undefined where it is not one. */
export function readGrpcAddress(text: string): Endpoint | undefined {
  const [, host, six, port] = /^(?:([^\s:/@[\]]+)|\[([\da-fA-F:.]+)\]):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if (port === undefined || number < 1 || number > 65_535) return undefined;
  return { host: (host ?? six)!, port: number };
}
