import { explainDenial } from "../../host/explain_denial.ts";
import type { Clock } from "../../host/host.ts";
import { authorityOf, codeOf, type Endpoint, placeOf } from "./endpoint.ts";
import { explainTls, type TlsExplanation } from "../tls/explain_tls.ts";
import type { TlsOptions } from "../tls/tls_options.ts";

/** Why a connection could not be made or was lost, in plain words with the code of the system. */
export async function explainConnection(
  error: unknown,
  endpoint: Endpoint,
  clock: Clock,
  options?: TlsOptions,
): Promise<TlsExplanation> {
  const address = placeOf(endpoint);
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
export function deniedConnection(endpoint: Endpoint): Required<TlsExplanation> {
  return {
    message: `Deno does not allow access to ${placeOf(endpoint)}`,
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
    default:
      return undefined;
  }
}
