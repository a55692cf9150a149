import type { Duplex } from "node:stream";
import { explainDenial } from "../../host/explain_denial.ts";
import type { Clock } from "../../host/host.ts";
import { explainTls, type TlsExplanation } from "../tls/explain_tls.ts";
import type { TlsOptions } from "../tls/tls_options.ts";

/** A host and a port to connect to. An IPv6 address has no brackets. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Why a connection could not be made or was lost, in plain words with the code of the system.
 * `look` connects once more up to where TLS begins, where that is not at once.
 */
export async function explainConnection(
  error: unknown,
  endpoint: Endpoint,
  clock: Clock,
  options?: TlsOptions,
  look?: () => Promise<Duplex>,
): Promise<TlsExplanation> {
  const place = placeOf(endpoint);
  const denial = explainDenial(error);
  if (denial) {
    return {
      words: `Deno does not allow access to ${place}`,
      hint: `run it with deno run --allow-net=${endpoint.host}:${endpoint.port}`,
    };
  }
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return explainCode(code, endpoint) ??
    await explainTls(error, {
      ...endpoint,
      clock,
      ...options ? { options } : {},
      ...look ? { connect: look } : {},
    }) ??
    { words: `${message === "" ? "connection failed" : message} (${code || place})` };
}

/** A host and a port in words: `localhost port 6379`. */
export function placeOf({ host, port }: Endpoint): string {
  return `${host.includes(":") ? `[${host}]` : host} port ${port}`;
}

/** The code of an error of the system or of a driver, `ECONNREFUSED`; empty if it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

function explainCode(code: string, endpoint: Endpoint): TlsExplanation | undefined {
  const place = placeOf(endpoint);
  switch (code) {
    case "ECONNREFUSED":
      return {
        words: `${place} refused the connection (${code})`,
        hint: "is the server running there?",
      };
    case "ENOTFOUND":
    case "EAI_NONAME":
    case "EAI_NODATA":
      return {
        words: `cannot resolve host "${endpoint.host}" (${code})`,
        hint: "check the host name",
      };
    case "EAI_AGAIN":
      return {
        words: `cannot resolve host "${endpoint.host}": the name server did not answer (${code})`,
      };
    case "ETIMEDOUT":
      return { words: `${place}: connection timed out (${code})` };
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return { words: `${place} is unreachable (${code})` };
    case "ECONNRESET":
    case "EPIPE":
      return { words: `${place} closed the connection (${code})` };
    default:
      return undefined;
  }
}
