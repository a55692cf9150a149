import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { demand } from "../../host/deno_permissions.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, Dict, Value } from "../action.ts";
import { onAbort } from "../on_abort.ts";
import { readTlsOptions, type TlsOptions } from "../tls/tls_options.ts";
import { authorityOf, type Endpoint, placeOf } from "./endpoint.ts";
import { deniedConnection, explainConnection } from "./explain_connection.ts";

/**
 * Throws a `StepError` if the run may not connect to an endpoint, or if Deno would ask the user.
 */
export async function checkNet(endpoint: Endpoint, { permissions }: ActionContext): Promise<void> {
  const failing = `cannot connect to ${placeOf(endpoint)}`;
  if (permissions?.net) {
    const { netRefusal } = await import("../permissions/host_rule.ts");
    const refusal = netRefusal(permissions, new URL(`tcp://${authorityOf(endpoint)}`));
    if (refusal) throw new StepError(`${failing}: ${refusal.message}`, refusal.hint);
  }
  try {
    demand({ name: "net", host: authorityOf(endpoint) });
  } catch {
    const { message, hint } = deniedConnection(endpoint);
    throw new StepError(`${failing}: ${message}`, hint);
  }
}

/** Reads `tls: true`, `tls: false` or `tls: { … }` of a step; undefined for a plain connection. */
export async function readTls(
  action: string,
  tls: Value | undefined,
  context: ActionContext,
): Promise<TlsOptions | undefined> {
  if (tls === undefined || tls === null || tls === false || tls === "false") {
    return undefined;
  }
  if (tls === true || tls === "true") return await readTlsOptions(action, undefined, context);
  return await readTlsOptions(action, tls as Dict, context);
}

/**
 * Connects to an endpoint, by TLS where options for it are given. Throws a `StepError` that says
 * why there is no connection; the end of the attempt ends the connecting.
 */
export async function openSocket(
  endpoint: Endpoint,
  tls: TlsOptions | undefined,
  context: ActionContext,
): Promise<Socket | TLSSocket> {
  await checkNet(endpoint, context);
  try {
    return await connect(endpoint, tls, context);
  } catch (error) {
    const failing = `cannot connect to ${placeOf(endpoint)}`;
    if (error instanceof StepError) {
      throw new StepError(`${error.message} while connecting to ${placeOf(endpoint)}`, error.hint);
    }
    const { message, hint } = await explainConnection(error, endpoint, context.host.clock, tls);
    throw new StepError(`${failing}: ${message}`, hint, { cause: message });
  }
}

async function connect(
  { host, port }: Endpoint,
  tls: TlsOptions | undefined,
  { signal }: ActionContext,
): Promise<Socket | TLSSocket> {
  const { connect, isIP } = await import("node:net");
  const secure = tls && await import("node:tls");
  const { promise, resolve, reject } = Promise.withResolvers<Socket | TLSSocket>();
  const name = tls?.servername ?? host;
  const socket = secure
    ? secure.connect({ ...tls, host, port, servername: isIP(name) ? "" : name })
    : connect({ host, port });
  const forget = onAbort(signal, reject);
  socket.once(secure ? "secureConnect" : "connect", () => resolve(socket));
  socket.once("error", reject);
  try {
    return await promise;
  } catch (error) {
    const isOpen = !socket.connecting;
    socket.destroy();
    throw error instanceof StepError && secure && isOpen
      ? new StepError(`${error.message} in the TLS handshake`, "does it speak TLS there?")
      : error;
  } finally {
    forget();
    socket.off("error", reject);
    // A later error belongs to the reader, and must not crash the program.
    socket.on("error", () => {});
  }
}
