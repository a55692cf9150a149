import { StepError } from "../../../base/errors.ts";
import type { ActionContext, Dict } from "../../../action/action.ts";
import type { Endpoint } from "../../../action/net/endpoint.ts";
import { readRendered } from "../../../action/spec.ts";
import { DEFAULT_TLS } from "../../../action/tls/tls_options.ts";
import { CONNECTION_PARAMS, VERIFY_PARAMS, VERSION_PARAM } from "../http_params.ts";
import { type Connection, DEFAULT_CONNECTION, INSECURE_CONNECTION } from "./connection.ts";
import { readAddress, RESOLVE_HINT, resolveProblem } from "./address.ts";
import { type Proxies, type Proxy, readProxies, readProxy } from "./proxy.ts";

const { hash } = await import("node:crypto");

const VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((
  name,
) => [name, name.toLowerCase()]);

/** Parameters that say how to connect, besides those about certificates. */
const OWN = ["tls", "proxy", "unix_socket", "resolve", "ip", "local_address", "version"] as const;

/**
 * Reads the connection settings of a step. Most steps have none, and return at once.
 */
export function connectionOf(
  params: Dict,
  context: ActionContext,
): Connection | Promise<Connection> {
  const { scope, host } = context;
  const isProxied = scope.run.resource(
    "http proxy variables",
    () => VARIABLES.some((name) => host.env.get(name)),
  );
  if (!isProxied && !context.tls && OWN.every((name) => (params[name] ?? null) === null)) {
    if (params.verify_ssl === undefined && params.insecure === undefined) return DEFAULT_CONNECTION;
    const { verify_ssl, insecure } = readRendered("http", VERIFY_PARAMS, params);
    return (verify_ssl ?? !insecure) ? DEFAULT_CONNECTION : INSECURE_CONNECTION;
  }
  return readConnection(params, context);
}

const PARAMS = { ...VERIFY_PARAMS, ...CONNECTION_PARAMS, ...VERSION_PARAM };

async function readConnection(raw: Dict, context: ActionContext): Promise<Connection> {
  const params = readRendered("http", PARAMS, raw, context.secrets);
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
    ...proxy ? { proxy } : {},
    ...unixSocket === undefined ? {} : { unixSocket },
    ...resolve ? { resolve: readResolve(resolve) } : {},
    ...ip ? { family: ip === "4" ? 4 as const : 6 as const } : {},
    ...localAddress === undefined ? {} : { localAddress },
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

function readResolve(map: Dict): ReadonlyMap<string, Endpoint> {
  const table = new Map<string, Endpoint>();
  for (const [from, to] of Object.entries(map)) {
    if (to === null) continue;
    const problem = resolveProblem(from, to);
    if (problem !== undefined) {
      throw new StepError(`cannot run http: ${problem}`, RESOLVE_HINT, { parameter: "resolve" });
    }
    const source = readAddress(from)!;
    table.set(`${source.host}:${source.port}`, readAddress(String(to), source.port)!);
  }
  return table;
}
