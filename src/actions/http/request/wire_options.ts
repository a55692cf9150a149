import type { Connection } from "../connection/connection.ts";
import { proxyAuthorization, proxyTls } from "../connection/proxy_access.ts";
import { type Route, routeOf } from "../connection/route.ts";
import type { HttpRequest } from "./read_request.ts";
import { wireHeaders } from "./request_headers.ts";
import { hostOf } from "./request_url.ts";
import type { SocketOptions, Sockets } from "../transport/sockets.ts";

const { globalAgent } = await import("node:https");
const { isIP } = await import("node:net");

/** A step without templates sends the same request in every round. */
const known = new WeakMap<HttpRequest, SocketOptions>();

/** The sockets that a request uses. */
interface Way {
  readonly sockets: Sockets;
  readonly connection: Connection;
}

/** A request as node:http takes it; `isNew` asks for a connection that nothing else is sent over. */
export function wireOptions(request: HttpRequest, way: Way, isNew: boolean): SocketOptions {
  if (isNew) return describe(request, way, true);
  let made = known.get(request);
  if (made?.agent !== way.sockets || made.connection !== way.connection) {
    known.set(request, made = describe(request, way, false));
  }
  return made;
}

function describe(
  { method, url, headers }: HttpRequest,
  { sockets, connection }: Way,
  isNew: boolean,
): SocketOptions {
  const route = routeOf(url, connection);
  const secure = url.protocol === "https:";
  const { tls, family, localAddress } = connection;
  const host = hostOf(url);
  const name = tls.servername ?? host;
  return {
    agent: sockets,
    // The request takes its scheme from it.
    ...(secure ? { _defaultAgent: globalAgent } : {}),
    method,
    ...target(route),
    path: route.kind === "forward" ? url.href : url.pathname + url.search,
    headers: [...wireHeaders(headers, isNew ? "close" : undefined), ...proxyHeaders(route)],
    pool: `${isNew ? "new" : "kept"} ${connection.id} ${poolOf(route, url)}`,
    secure: secure || route.kind === "forward" && route.proxy.kind === "https",
    // Whatever the header "Host" says, the server has to prove that it is the host of the URL.
    ...route.kind === "forward"
      ? proxyTls(route.proxy, connection)
      : { ...tls, servername: isIP(name) ? "" : name },
    ...family === undefined ? {} : { family },
    ...localAddress === undefined ? {} : { localAddress },
    route,
    connection,
  };
}

/** Where the connection leads. */
function target(route: Route): { host: string; port: number } | { socketPath: string } {
  if (route.kind === "unix") return { socketPath: route.path };
  const { host, port } = route.kind === "forward" ? route.proxy : route.to;
  return { host, port };
}

function proxyHeaders(route: Route): string[] {
  const value = route.kind === "forward" ? proxyAuthorization(route.proxy) : undefined;
  return value === undefined ? [] : ["Proxy-Authorization", value];
}

function poolOf(route: Route, { protocol, host }: URL): string {
  return route.kind === "forward" ? "forward" : `${protocol} ${host}`;
}
