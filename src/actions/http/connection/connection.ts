import type { Endpoint } from "../../../action/net/endpoint.ts";
import { DEFAULT_TLS, type TlsOptions } from "../../../action/tls/tls_options.ts";
import type { Proxies, Proxy } from "./proxy.ts";

/** The version of HTTP; `auto` asks the server for 2 over TLS. */
export type HttpVersion = "1.1" | "2" | "auto";

/** The connection settings of the requests of a step. */
export interface Connection {
  readonly tls: TlsOptions;
  readonly version: HttpVersion;
  /** A proxy for everything, or the proxies of the environment; absent for none. */
  readonly proxy?: Proxy | Proxies;
  /** The path of a Unix socket that takes the place of every host. */
  readonly unixSocket?: string;
  /** Where to connect instead, by `host:port` in lower case. */
  readonly resolve?: ReadonlyMap<string, Endpoint>;
  /** The version of IP to use. */
  readonly family?: 4 | 6;
  readonly localAddress?: string;
  /** Sockets are shared only between connections with the same id. */
  readonly id: string;
}

/** The default connection settings. */
export const DEFAULT_CONNECTION: Connection = { tls: DEFAULT_TLS, version: "1.1", id: "" };

/** The same with any certificate. */
export const INSECURE_CONNECTION: Connection = {
  ...DEFAULT_CONNECTION,
  tls: { rejectUnauthorized: false },
  id: "insecure",
};
