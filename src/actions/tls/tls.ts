import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { host, port, timeout } from "../../action/rule.ts";
import { action } from "../../action/make_action.ts";
import { tls as tlsRule } from "../../action/tls/tls.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

/** The versions that are tried, by the names that node:tls has for them. */
const VERSIONS = ["TLSv1.2", "TLSv1.3"] as const;

/** Looks at a TLS server. A certificate that is not valid is a result. */
export const tls = action({
  name: "tls",
  summary: "Looks at the certificate and the versions of a TLS server",
  params: {
    host: host().required(),
    port: port().default(443),
    tls: tlsRule(),
    // A server without TLS often does not respond.
    ...timeout("How long everything may take", 10_000, "10s, at most the timeout of the step"),
  },
  res: {
    certificate: {
      type: "any",
      summary:
        "its `subject`, `issuer`, `names`, `not_before`, `not_after`, `days_left`, `serial`, `sha256`",
    },
    chain: {
      type: "array",
      summary: "the certificate and those that signed it, as far as they are known",
    },
    protocol: { type: "string", summary: "the version of the connection: `TLSv1.3`" },
    protocols: {
      type: "array",
      summary: "the versions that the server accepts, of `TLSv1.2` and `TLSv1.3`",
    },
    cipher: { type: "string", summary: "the cipher of the connection" },
    valid: { type: "bool", summary: "whether the certificate is valid for the host" },
    error: { type: "string", summary: 'why it is not valid, else `""`' },
  },
  usage: "with: { host: example.com }",
  example: "res.certificate.days_left > 14",
  target: ({ host, port }) => ({ host, port }),
  async run(_, { host, port, tls = {} }, attempt) {
    const options = await attempt.secure(tls);
    const socket = await connect({ ...options, rejectUnauthorized: false }, attempt);
    const { certificateRecord, tlsRecord } = await import("../../action/tls/certificate_record.ts");
    const now = attempt.context.host.clock.now();
    // No protocol is offered, since that would tie the check to HTTP.
    const { certificate, alpn: _alpn, ...connection } = tlsRecord(socket, now);
    const chain = chainOf(socket.getPeerCertificate(true))
      .map((one) => certificateRecord(one, now));
    const code = String(socket.authorizationError);
    const refusal = Object.assign(new Error(code), { code, cert: socket.getPeerCertificate() });
    const error = socket.authorized ? "" : (await attempt.explain("", refusal)).details.cause!;
    socket.destroy();
    return {
      req: { host, port },
      res: {
        ...connection,
        certificate: certificate ?? null,
        chain,
        protocols: await protocolsOf(options, attempt),
        valid: error === "",
        error,
      },
      status: error === "" ? 0 : 1,
      brief: error === "" ? "valid certificate" : "invalid certificate",
    };
  },
});

async function connect(options: TlsOptions, attempt: ActionAttempt): Promise<TLSSocket> {
  try {
    return await attempt.socket(options) as TLSSocket;
  } catch (error) {
    // Advice to disable TLS would make no sense here.
    if (!(error instanceof StepError) || !/"tls: false"/.test(error.hint ?? "")) throw error;
    const hint = "check the port: TLS has to begin with the first byte";
    throw new StepError(error.message, hint, error.details);
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

/** The versions of TLS that both the server and this program support. */
async function protocolsOf(options: TlsOptions, attempt: ActionAttempt): Promise<string[]> {
  const spoken = await Promise.all(VERSIONS.map(async (version) => {
    const only = { ...options, minVersion: version, maxVersion: version };
    try {
      (await attempt.socket({ ...only, rejectUnauthorized: false })).destroy();
      return [version];
    } catch {
      return [];
    }
  }));
  return spoken.flat();
}
