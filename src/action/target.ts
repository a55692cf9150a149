import { demand } from "../host/deno_permissions.ts";
import { explainDenial } from "../host/explain_denial.ts";
import { StepError } from "../base/errors.ts";
import type { ActionContext } from "./action.ts";
import { addressOf, authorityOf, codeOf, type Endpoint } from "./net/endpoint.ts";
import type { Clock } from "../host/host.ts";
import { explainTls, type TlsExplanation } from "./tls/explain_tls.ts";
import type { TlsOptions } from "./tls/tls_options.ts";

/** The server, file or program that an action works with; messages and permissions refer to it. */
export type Target = Server | Url | DataFile | Program;

/** A server. */
export interface Server {
  /** What runs there, for messages: `redis`. */
  readonly product?: string;
  /** Its name or address. */
  readonly host: string;
  /** Its port. */
  readonly port: number;
  /** How messages about a failure to reach it begin: `cannot connect to …` by default. */
  readonly failing?: string;
  /** The socket of the system that it listens at, in place of host and port. */
  readonly socket?: string;
  /** The action is that server itself; with port 0 it listens at a free one. */
  readonly isOurs?: true;
}

/** A server that http connects to, which asks for permissions: its proxies and redirects matter. */
export interface Url {
  /** The URL, for messages. */
  readonly url: string;
}

/** A file, like a database. */
export interface DataFile {
  /** What it is, for messages: `SQLite database`. */
  readonly product: string;
  /** The path that the step gives; undefined for one in memory. */
  readonly file: string | undefined;
  /** The file, for messages. */
  readonly shown: string;
  /** The parameter that names it, without a connection. */
  readonly parameter?: string;
  /** What the action does with it. */
  readonly access: readonly ("read" | "write")[];
}

/** The action asks for the permission to start it, as that depends on its environment. */
export interface Program {
  /** Its name. */
  readonly program: string;
  /** What it is, for messages, where it is found when it starts: `the browser`. */
  readonly product?: string;
}

/** A target in messages: its address, `redis at localhost port 6379`, and what opens it. */
export function describeTarget(target: Target) {
  const isServer = "host" in target;
  const address = isServer
    ? target.socket ?? addressOf(target)
    : "url" in target
    ? `"${target.url}"`
    : "program" in target
    ? target.product ?? `the program "${target.program}"`
    : `the ${target.product} "${target.shown}"`;
  const peer = isServer && target.product !== undefined
    ? `${target.product} at ${address}`
    : address;
  const [opening, open] = isServer
    ? ["connecting to", "connect to"]
    : "program" in target
    ? ["starting", "start"]
    : ["opening", "open"];
  const failing = isServer && target.failing || `cannot ${open} ${peer}`;
  return { address, peer, opening: `${opening} ${peer}`, failing };
}

/** Throws a `StepError` if the run may not use it. `parameter` is what names it. */
export async function allow(target: Target, parameter: string, context: ActionContext) {
  const { failing } = describeTarget(target);
  const { permissions, host } = context;
  const refuse = (message: string, hint: string | undefined, details = {}) => {
    throw new StepError(`${failing}: ${message}`, hint, details);
  };
  const allowFile = async (
    path: string,
    { access, parameter }: Pick<DataFile, "access" | "parameter">,
  ) => {
    for (const kind of access) {
      try {
        demand({ name: kind, path });
      } catch (error) {
        const denial = explainDenial(error);
        if (!denial) throw error;
        refuse(denial.message, denial.hint, { parameter });
      }
      if (!permissions?.[kind]) continue;
      const { pathDenial } = await import("./permissions/rules.ts");
      const exists = await host.files.realPath(path).then(() => true, () => false);
      // A file that is made is judged by its directory.
      const checked = exists ? path : path.replace(/[^/\\]*$/, "") || ".";
      const refusal = await pathDenial(permissions, kind, checked, host);
      if (refusal) refuse(refusal.message, refusal.hint, { parameter });
    }
  };
  if ("program" in target || "url" in target) return;
  if (!("host" in target)) {
    if (target.file !== undefined) {
      await allowFile(await context.resolvePath(target.file), { parameter, ...target });
    }
    return;
  }
  if (target.socket !== undefined) {
    return await allowFile(target.socket, { parameter, access: ["read", "write"] });
  }
  const { isOurs = false } = target;
  if (permissions?.net || isOurs && permissions?.listen) {
    const { listenDenial, netDenial } = await import("./permissions/rules.ts");
    const refusal = isOurs
      ? listenDenial(permissions, target.host, target.port)
      : netDenial(permissions, new URL(`tcp://${authorityOf(target)}`));
    if (refusal) refuse(refusal.message, refusal.hint);
  }
  try {
    demand({ name: "net", host: authorityOf(target) });
  } catch {
    const { message, hint } = deniedConnection(target);
    refuse(message, hint);
  }
}

/** Why a connection could not be made or was lost, in plain words with the code of the system. */
export async function explainConnection(
  error: unknown,
  endpoint: Endpoint,
  clock: Clock,
  options?: TlsOptions,
): Promise<TlsExplanation> {
  const address = addressOf(endpoint);
  if (explainDenial(error)) return deniedConnection(endpoint);
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === "ECONNRESET" || code === "EPIPE") {
    return { message: `${address} closed the connection (${code})` };
  }
  return explainUnreachable(code, address, endpoint.host) ??
    await explainTls(error, { ...endpoint, clock, options }) ??
    { message: `${message === "" ? "connection failed" : message} (${code || address})` };
}

/** The message for a connection that Deno denies. */
function deniedConnection(endpoint: Endpoint): Required<TlsExplanation> {
  return {
    message: `Deno does not allow access to ${addressOf(endpoint)}`,
    hint: `run it with deno run --allow-net=${authorityOf(endpoint)}`,
  };
}

/** Why nothing could be reached at a place, whose name is `host`. */
export function explainUnreachable(
  code: string,
  address: string,
  host: string,
): TlsExplanation | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return {
        message: `${address} refused the connection (${code})`,
        hint: "is the server running there?",
      };
    case "ENOTFOUND":
    case "EAI_NONAME":
    case "EAI_NODATA":
      return { message: `cannot resolve host "${host}" (${code})`, hint: "check the host name" };
    case "EAI_AGAIN":
      return {
        message: `cannot resolve host "${host}": the name server did not answer (${code})`,
      };
    case "ERR_SOCKET_BAD_PORT":
      return { message: `invalid port (${code})`, hint: "ports are 1 to 65535" };
    case "ETIMEDOUT":
      return { message: `${address}: connection timed out (${code})` };
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return { message: `${address} is unreachable (${code})` };
    case "EADDRNOTAVAIL":
      return {
        message: `no connection to ${address} from here (${code})`,
        hint:
          "the ports of this machine are used up: connections that were closed keep theirs for a while",
      };
    default:
      return undefined;
  }
}
