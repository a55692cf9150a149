import { basicHeader } from "../request/http_syntax.ts";
import type { Connection } from "./connection.ts";
import type { Proxy } from "./proxy.ts";

const { isIP } = await import("node:net");

/** The TLS options for a proxy: the CA certificates of the step, without its client certificate. */
export function proxyTls({ host }: Proxy, { tls: { ca, rejectUnauthorized } }: Connection) {
  return {
    servername: isIP(host) ? "" : host,
    rejectUnauthorized,
    ...ca ? { ca } : {},
  };
}

/** The value of `Proxy-Authorization`; undefined for a proxy without a user. */
export function proxyAuthorization({ username, password }: Proxy): string | undefined {
  return username === undefined ? undefined : basicHeader(username, password ?? "");
}
