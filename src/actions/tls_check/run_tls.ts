import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { openSocket } from "../../action/net/open_socket.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { readHost } from "../../action/net/tls_switch.ts";
import { readParameters } from "../../action/read_parameters.ts";
import { certificateRecord, tlsRecord } from "../../action/tls/certificate_record.ts";
import { readTlsOptions, type TlsOptions } from "../../action/tls/tls_options.ts";
import { isDict } from "../../base/value/value.ts";

/** The versions that are tried, by the names that node:tls has for them. */
const VERSIONS = ["TLSv1.2", "TLSv1.3"] as const;

/** The time limit in milliseconds: a server without TLS often does not respond. */
const PATIENCE = 10_000;

/** A certificate that is not valid is a result, with everything else about the server. */
export async function runTls(params: Dict, given: ActionContext): Promise<ActionResult> {
  const read = readParameters("tls", params);
  const endpoint = {
    host: readHost("tls", read.string("host")),
    port: read.integer("port") ?? 443,
  };
  const patience = Math.min(read.duration("timeout") || PATIENCE, given.deadline.timeout);
  const { context, release } = limitAction(given, patience);
  try {
    const options = await readTlsOptions(
      "tls",
      isDict(params.tls) ? params.tls : undefined,
      context,
    );
    const unverified = { ...options, rejectUnauthorized: false };
    const socket = await openSocket(endpoint, unverified, context).catch((error) => {
      // To go without TLS is no advice here.
      if (!(error instanceof StepError) || !/"tls: false"/.test(error.hint ?? "")) throw error;
      throw new StepError(error.message, "check the port: TLS has to begin with the first byte");
    }) as TLSSocket;
    const { clock } = context.host;
    const now = clock.now();
    // No protocol is offered, since that would tie the check to HTTP.
    const { certificate, alpn: _, ...connection } = tlsRecord(socket, now);
    const chain = chainOf(socket.getPeerCertificate(true))
      .map((one) => certificateRecord(one, now));
    const refused = socket.authorized ? undefined : socket.authorizationError;
    socket.destroy();
    const error = refused === undefined || refused === null
      ? ""
      : await explainRefusal(refused, endpoint, options, context);
    return {
      req: endpoint,
      res: {
        ...connection,
        certificate: certificate ?? null,
        chain,
        protocols: await protocolsOf(endpoint, options, context),
        valid: error === "",
        error,
      },
      status: error === "" ? 0 : 1,
      brief: error === "" ? "valid certificate" : "invalid certificate",
    };
  } finally {
    release();
  }
}

/** The certificate of the server and those that signed it. */
function chainOf(first: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  for (
    let one: DetailedPeerCertificate | undefined = first;
    one?.valid_to !== undefined &&
    !chain.some(({ fingerprint256 }) => fingerprint256 === one!.fingerprint256);
    one = one.issuerCertificate
  ) chain.push(one);
  return chain;
}

async function explainRefusal(
  refused: Error | string,
  endpoint: Endpoint,
  options: TlsOptions,
  { host }: ActionContext,
): Promise<string> {
  const error = refused instanceof Error
    ? refused
    : Object.assign(new Error(refused), { code: refused });
  return (await explainConnection(error, endpoint, host.clock, options)).words;
}

/** The versions of TLS that a server speaks, of those that this program speaks. */
async function protocolsOf(
  endpoint: Endpoint,
  options: TlsOptions,
  context: ActionContext,
): Promise<string[]> {
  const spoken = await Promise.all(VERSIONS.map(async (version) => {
    const only = { ...options, minVersion: version, maxVersion: version };
    try {
      const socket = await openSocket(endpoint, { ...only, rejectUnauthorized: false }, context);
      socket.destroy();
      return [version];
    } catch {
      return [];
    }
  }));
  return spoken.flat();
}
