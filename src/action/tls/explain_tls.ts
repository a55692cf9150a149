import type { PeerCertificate } from "node:tls";
import type { Clock } from "../../host/host.ts";
import { addressOf, codeOf, type Endpoint } from "../net/endpoint.ts";
import { namesOf } from "./certificate_record.ts";
import type { TlsOptions } from "./tls_options.ts";

/** A cause in plain words, and what to try. */
export interface TlsExplanation {
  readonly message: string;
  readonly hint?: string;
}

/** The server that a connection was for. */
interface TlsPeer extends Endpoint {
  readonly clock: Clock;
  readonly options?: TlsOptions;
}

const ACCEPT = '"tls: { verify: false }" accepts any certificate';
const TRUST = `trust its authority with "tls: { ca: ca.pem }" or --cacert ca.pem; ${ACCEPT}`;
/** How a step presents a client certificate. */
export const GIVE_CERTIFICATE = 'give one: "tls: { cert: client.pem, key: client_key.pem }"';

/**
 * Why there is no TLS connection: what is wrong with a certificate, a version or the port.
 * Undefined if the error is not about TLS.
 */
export async function explainTls(
  error: unknown,
  peer: TlsPeer,
): Promise<TlsExplanation | undefined> {
  const code = codeOf(error);
  if (/^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/.test(code)) {
    return await explainCertificate(code, error, peer);
  }
  const message = error instanceof Error ? error.message : "";
  const address = addressOf(peer);
  const { cert, minVersion } = peer.options ?? {};
  // The runtime gives an error of its own the code of an alert that nobody sent.
  const [, mismatch] = /peer is incompatible: (\w+)/.exec(message) ?? [];
  const shown = `(${mismatch ?? code})`;
  if (/ServerDoesNotSupportTls|PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/.test(mismatch ?? code)) {
    return minVersion === "TLSv1.3"
      ? {
        message: `${address} does not support TLS 1.3 ${shown}`,
        hint: 'update the server, or accept TLS 1.2 by "min_version" of "tls"',
      }
      : {
        message: `${address} does not support TLS 1.2 or newer ${shown}`,
        hint: "versions before TLS 1.2 are not supported; the server has to be updated",
      };
  }
  if (/_ALERT_(\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)$/.test(code)) {
    return cert === undefined
      ? { message: `${address} wants a client certificate ${shown}`, hint: GIVE_CERTIFICATE }
      : { message: `${address} refused the client certificate ${shown}` };
  }
  if (mismatch === undefined && code.includes("_ALERT_")) {
    const others = 'another "server_name", or other versions and ciphers of TLS';
    return {
      message: `${address} refused the TLS handshake ${shown}`,
      hint: cert === undefined
        ? `it may want a client certificate, ${others}; ${GIVE_CERTIFICATE}`
        : `it may want another client certificate, ${others}`,
    };
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return {
      message: `${address} does not speak TLS ${shown}`,
      hint: 'if it expects plain text there, turn TLS off: "tls: false", or the scheme of the URL',
    };
  }
  if (!/^ERR_(SSL|TLS)_|^EPROTO$/.test(code)) return undefined;
  return { message: `no secure connection to ${address}: ${message} (${code})` };
}

/** Why the certificate of a server was refused. */
async function explainCertificate(
  code: string,
  error: unknown,
  peer: TlsPeer,
): Promise<TlsExplanation> {
  const { checkServerIdentity } = await import("node:tls");
  const { host, clock, options } = peer;
  const name = options?.servername ?? host;
  const { cert } = error as { readonly cert?: PeerCertificate };
  const faults = cert === undefined
    ? []
    : findFaults(cert, code, clock.now(), checkServerIdentity(name, cert));
  // A library that starts TLS itself does not show the certificate.
  if (faults.length === 0) faults.push({ message: `is not trusted (${code})`, hint: UNSEEN });
  const message = faults.map((fault) => fault.message).join(" and ");
  const expected = name === host ? "" : ` (server_name "${name}")`;
  return {
    message: `the certificate of ${addressOf(peer)}${expected} ${message}`,
    hint: faults[0]!.hint!,
  };
}

const UNSEEN = `it may have expired or be signed by an unknown certificate authority; ${TRUST}`;

/**
 * What is wrong with a certificate. The runtime reports an expired certificate as one of an unknown
 * authority, so the certificate itself decides.
 */
function findFaults(
  certificate: PeerCertificate,
  code: string,
  now: number,
  mismatch: Error | undefined,
): TlsExplanation[] {
  const faults: TlsExplanation[] = [];
  const from = Date.parse(certificate.valid_from);
  const to = Date.parse(certificate.valid_to);
  if (now > to) {
    const message = `expired on ${dateOf(to)}, ${daysOf(now - to)} ago (CERT_HAS_EXPIRED)`;
    faults.push({ message, hint: `renew it; ${ACCEPT}` });
  } else if (now < from) {
    const message = `is not valid before ${dateOf(from)}, ${daysOf(from - now)} from now`;
    faults.push({
      message: `${message} (CERT_NOT_YET_VALID)`,
      hint: `check the clock of this machine; ${ACCEPT}`,
    });
  }
  // With a wrong date, the runtime does not look at who signed the certificate.
  if (faults.length === 0 && /SELF_SIGNED|^UNABLE_TO_/.test(code)) {
    faults.push({ message: signedBy(certificate, code), hint: TRUST });
  }
  if (mismatch) {
    const message = `is for another host${namesIn(certificate)} (ERR_TLS_CERT_ALTNAME_INVALID)`;
    faults.push({ message, hint: `use a host that it names; ${ACCEPT}` });
  }
  return faults;
}

function signedBy({ subject, issuer }: PeerCertificate, code: string): string {
  if (JSON.stringify(subject) === JSON.stringify(issuer)) {
    return "is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)";
  }
  const name = issuer?.CN ?? issuer?.O;
  const authority = name === undefined ? "" : `, "${name}"`;
  return `is signed by an unknown certificate authority${authority} (${code})`;
}

/** The first hosts of a certificate, as part of a message. */
function namesIn(certificate: PeerCertificate): string {
  const names = namesOf(certificate);
  const shown = names.slice(0, 5);
  if (names.length > shown.length) shown.push("…");
  return shown.length === 0 ? "" : `: ${shown.join(", ")}`;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function daysOf(milliseconds: number): string {
  const days = Math.floor(milliseconds / 86_400_000);
  return days === 0 ? "less than a day" : days === 1 ? "1 day" : `${days} days`;
}
