import { demand } from "../host/deno_permissions.ts";
import { explainDenial } from "../host/explain_denial.ts";
import { StepError } from "../base/errors.ts";
import type { ActionContext } from "./action.ts";
import { authorityOf, placeOf } from "./net/endpoint.ts";
import { deniedConnection } from "./net/explain_connection.ts";

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
    ? target.socket ?? placeOf(target)
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
      const { pathRefusal } = await import("./permissions/path_rule.ts");
      const exists = await host.files.realPath(path).then(() => true, () => false);
      // A file that is made is judged by its directory.
      const asked = exists ? path : path.replace(/[^/\\]*$/, "") || ".";
      const refusal = await pathRefusal(permissions, kind, asked, host);
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
  if (permissions?.net) {
    const { netRefusal } = await import("./permissions/host_rule.ts");
    const refusal = netRefusal(permissions, new URL(`tcp://${authorityOf(target)}`));
    if (refusal) refuse(refusal.message, refusal.hint);
  }
  try {
    demand({ name: "net", host: authorityOf(target) });
  } catch {
    const { message, hint } = deniedConnection(target);
    refuse(message, hint);
  }
}
