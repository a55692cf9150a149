import { StepError } from "../../../base/errors.ts";
import type { ActionContext, Dict } from "../../../action/action.ts";
import type { Endpoint } from "../../../action/net/endpoint.ts";
import { readParameters } from "../../../action/read_parameters.ts";
import { readTlsOptions } from "../../../action/tls/tls_options.ts";
import {
  type Connection,
  DEFAULT_CONNECTION,
  type HttpVersion,
  INSECURE_CONNECTION,
} from "./connection.ts";
import { readAddress, RESOLVE_HINT, resolveProblem } from "./address.ts";
import type { Proxies, Proxy } from "./proxy.ts";

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
    const read = readParameters("http", params);
    return (read.boolean("verify_ssl") ?? !read.boolean("insecure"))
      ? DEFAULT_CONNECTION
      : INSECURE_CONNECTION;
  }
  return readConnection(params, context);
}

async function readConnection(params: Dict, context: ActionContext): Promise<Connection> {
  const read = readParameters("http", params);
  const insecure = read.boolean("insecure");
  const verify = read.boolean("verify_ssl") ?? (insecure === undefined ? undefined : !insecure);
  const tlsParams = read.map("tls");
  const tls = await readTlsOptions(
    "http",
    verify === undefined ? tlsParams : { ...tlsParams, verify },
    context,
  );
  const proxy = await readStepProxy(read.string("proxy"), context);
  const socket = read.string("unix_socket");
  const resolve = read.map("resolve");
  const family = readFamily(read.string("ip"));
  const localAddress = read.string("local_address");
  const settings = {
    tls,
    version: readVersion(read.string("version")),
    ...proxy ? { proxy } : {},
    ...socket === undefined ? {} : { unixSocket: socket },
    ...resolve ? { resolve: readResolve(resolve) } : {},
    ...family ? { family } : {},
    ...localAddress === undefined ? {} : { localAddress },
  };
  const { hash } = await import("node:crypto");
  const { resolve: table, ...rest } = settings;
  return { ...settings, id: hash("sha256", JSON.stringify([rest, [...table ?? []]]), "hex") };
}

async function readStepProxy(
  text: string | undefined,
  { scope, host, secrets }: ActionContext,
): Promise<Proxy | Proxies | undefined> {
  if (text === "none") return undefined;
  const { readProxies, readProxy } = await import("./proxy.ts");
  if (text !== undefined) return readProxy(text, '"proxy"', secrets);
  return scope.run.resource("http proxies", () => readProxies(host.env, secrets));
}

function readVersion(text: string | undefined): HttpVersion {
  switch (text) {
    case undefined:
    case "1.1":
      return "1.1";
    case "2":
    case "auto":
      return text;
    default:
      throw unfit("version", VERSION_WORDS, text);
  }
}

const VERSION_WORDS = '"1.1", "2" or "auto"';

function readFamily(text: string | undefined): 4 | 6 | undefined {
  if (text === undefined) return undefined;
  if (text === "4" || text === "6") return Number(text) as 4 | 6;
  throw unfit("ip", "4 or 6", text);
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

function unfit(parameter: string, wanted: string, text: string): StepError {
  const message = `cannot run http: "${parameter}" must be ${wanted}, not "${text}"`;
  return new StepError(message, undefined, { parameter });
}
