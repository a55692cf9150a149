import type { ActionContext } from "../../../action/action.ts";
import { addressOf, authorityOf, type Endpoint } from "../../../action/net/endpoint.ts";
import type { Denial } from "../../../host/explain_denial.ts";
import type { TlsOptions } from "../../../action/tls/tls_options.ts";
import { StepError } from "../../../base/errors.ts";
import { demand, demandCertificates } from "../../../host/deno_permissions.ts";
import type { HttpParams } from "../http_params.ts";
import { hostOf, portOf, readAddress } from "../request/http_syntax.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { describeProxy, type Proxies, type Proxy, readProxies, readProxy } from "./proxy.ts";

/** The default TLS options. */
const DEFAULT_TLS: TlsOptions = { rejectUnauthorized: true };

const { hash } = await import("node:crypto");

/** The version of HTTP; `auto` asks the server for 2 over TLS. */
type HttpVersion = "1.1" | "2" | "auto";

/** The connection settings of the requests of a step. */
export interface ConnectionSettings {
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

export const DEFAULT_CONNECTION: ConnectionSettings = { tls: DEFAULT_TLS, version: "1.1", id: "" };

/** The same with any certificate. */
const INSECURE_CONNECTION: ConnectionSettings = {
  ...DEFAULT_CONNECTION,
  tls: { rejectUnauthorized: false },
  id: "insecure",
};

const VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((
  name,
) => [name, name.toLowerCase()]);

/** Parameters that say how to connect, besides those about certificates. */
const OWN = ["tls", "proxy", "unix_socket", "resolve", "ip", "local_address", "version"] as const;

/**
 * Reads the connection settings of a step. Most steps have none, and return at once.
 */
export function connectionOf(
  params: HttpParams,
  context: ActionContext,
): ConnectionSettings | Promise<ConnectionSettings> {
  const { scope, host } = context;
  const isProxied = scope.run.resource(
    "http proxy variables",
    () => VARIABLES.some((name) => host.env.get(name)),
  );
  if (!isProxied && !context.tls && OWN.every((name) => params[name] === undefined)) {
    const { verify_ssl, insecure } = params;
    return (verify_ssl ?? !insecure) ? DEFAULT_CONNECTION : INSECURE_CONNECTION;
  }
  return readConnection(params, context);
}

async function readConnection(
  params: HttpParams,
  context: ActionContext,
): Promise<ConnectionSettings> {
  const { insecure, unix_socket: unixSocket, resolve, ip, local_address: localAddress } = params;
  const verify = params.verify_ssl ?? (insecure === undefined ? undefined : !insecure);
  const { tlsOptions } = await import("../../../action/tls/tls.ts");
  const tls = params.tls || context.tls || verify !== undefined
    ? await tlsOptions({ ...params.tls, ...verify !== undefined && { verify } }, context)
    : DEFAULT_TLS;
  const proxy = readStepProxy(params.proxy, context);
  const settings = {
    tls,
    version: params.version ?? "1.1",
    proxy,
    unixSocket,
    resolve: resolve && readResolve(resolve),
    family: ip && (ip === "4" ? 4 as const : 6 as const),
    localAddress,
  };
  const { resolve: table, ...rest } = settings;
  return { ...settings, id: hash("sha256", JSON.stringify([rest, [...table ?? []]]), "hex") };
}

function readStepProxy(
  text: string | undefined,
  { scope, host, secrets }: ActionContext,
): Proxy | Proxies | undefined {
  if (text === "none") return undefined;
  if (text !== undefined) return readProxy(text, '"proxy"', secrets);
  return scope.run.resource("http proxies", () => readProxies(host.env, secrets));
}

function readResolve(
  resolve: NonNullable<HttpParams["resolve"]>,
): ReadonlyMap<string, Endpoint> {
  const table = new Map<string, Endpoint>();
  for (const [from, to] of Object.entries(resolve)) {
    if (to === undefined) continue;
    const source = readAddress(from)!;
    table.set(`${source.host}:${source.port}`, readAddress(to, source.port)!);
  }
  return table;
}

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
export function routeOf(url: URL, connection: ConnectionSettings): Route {
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
      const address = addressOf(route.to);
      return address === server ? server : `${address} (for ${server})`;
    }
    case "unix":
      return `the socket "${route.path}"`;
    case "forward":
    case "tunnel":
      return describeProxy(route.proxy);
  }
}

/**
 * Throws `StepError` if the permissions of the run do not allow the place that a request connects
 * to, which may be another than the host of its URL.
 */
export async function checkRoute(
  request: HttpRequest,
  connection: ConnectionSettings,
  { permissions, host }: ActionContext,
): Promise<void> {
  if (!permissions) return;
  const route = routeOf(request.url, connection);
  const hop = firstHop(route);
  let refusal: Denial | undefined;
  if (hop) {
    const { netDenial } = await import("../../../action/permissions/rules.ts");
    refusal = netDenial(permissions, new URL(`http://${authorityOf(hop)}`));
  } else if (route.kind === "unix") {
    const { pathDenial } = await import("../../../action/permissions/rules.ts");
    refusal = await pathDenial(permissions, "read", route.path, host) ??
      await pathDenial(permissions, "write", route.path, host);
  }
  if (!refusal) return;
  const failure = `cannot send ${request.method} "${request.url}" to ${
    describeRoute(request, route)
  }`;
  throw new StepError(`${failure}: ${refusal.message}`, refusal.hint);
}

/** Throws if Deno would ask for a permission that a connection needs. */
export function demandAccess({ url }: HttpRequest, connection: ConnectionSettings): void {
  demandRoute(routeOf(url, connection));
  if (url.protocol === "https:") demandCertificates();
}

function demandRoute(route: Route): void {
  const hop = firstHop(route);
  if (hop) return demand({ name: "net", host: authorityOf(hop) });
  if (route.kind !== "unix") return;
  demand({ name: "read", path: route.path });
  demand({ name: "write", path: route.path });
}
