import { type Endpoint, placeOf } from "../../../action/net/endpoint.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { hostOf, portOf } from "../request/request_url.ts";
import type { Connection } from "./connection.ts";
import type { Proxies, Proxy } from "./proxy.ts";

/** The way to the server of a URL. */
export type Route =
  /** To the server, or to its substitute. */
  | { readonly kind: "direct"; readonly to: Endpoint }
  | { readonly kind: "unix"; readonly path: string }
  /** A proxy reads the request and sends it on. */
  | { readonly kind: "forward"; readonly proxy: Proxy; readonly to: Endpoint }
  /** A proxy passes on all bytes. */
  | { readonly kind: "tunnel"; readonly proxy: Proxy; readonly to: Endpoint };

/** Finds the way to the server of a URL. */
export function routeOf(url: URL, connection: Connection): Route {
  if (connection.unixSocket !== undefined) return { kind: "unix", path: connection.unixSocket };
  const to = { host: hostOf(url), port: Number(portOf(url)) };
  const instead = connection.resolve?.get(`${url.hostname}:${to.port}`);
  if (instead) return { kind: "direct", to: instead };
  const proxy = connection.proxy && proxyFor(url, to, connection.proxy);
  if (!proxy) return { kind: "direct", to };
  const isForward = url.protocol === "http:" && proxy.kind !== "socks5";
  return { kind: isForward ? "forward" : "tunnel", proxy, to };
}

function proxyFor(url: URL, to: Endpoint, proxy: Proxy | Proxies): Proxy | undefined {
  if (proxy.kind !== "environment") return proxy;
  const found = url.protocol === "https:" ? proxy.https : proxy.http;
  return found && !proxy.isExempt(to.host, to.port) ? found : undefined;
}

/** Where the first TCP connection of a route leads; undefined for a Unix socket. */
export function firstHop(route: Route): Endpoint | undefined {
  switch (route.kind) {
    case "direct":
      return route.to;
    case "unix":
      return undefined;
    case "forward":
    case "tunnel":
      return route.proxy;
  }
}

/** The name in messages of the target of a connection. */
export function describeRoute({ url }: Pick<HttpRequest, "url">, route: Route): string {
  const server = `${url.hostname} port ${portOf(url)}`;
  switch (route.kind) {
    case "direct": {
      const address = placeOf(route.to);
      return address === server ? server : `${address} (for ${server})`;
    }
    case "unix":
      return `the socket "${route.path}"`;
    case "forward":
    case "tunnel":
      return proxyWords(route.proxy);
  }
}

/** The name of a proxy in messages. */
export function proxyWords(proxy: Proxy): string {
  return `the proxy ${placeOf(proxy)}`;
}
