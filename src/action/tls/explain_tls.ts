import type { Duplex } from "node:stream";
import type { PeerCertificate } from "node:tls";
import type { Clock } from "../../host/host.ts";
import { codeOf, type Endpoint, placeOf } from "../net/endpoint.ts";
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
  /** The TLS options of the connection. */
  readonly options?: TlsOptions;
  /** Opens another connection to look at the certificate, where it is not to `host` and `port`. */
  readonly connect?: () => Promise<Duplex>;
}

/** Certificates that were refused, by error code, in case the certificate cannot be read. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  CERT_REVOKED: "was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "is signed by an unknown certificate authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another host",
  HOSTNAME_MISMATCH: "is for another host",
  UNABLE_TO_GET_ISSUER_CERT: "is signed by an unknown certificate authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "is signed by an unknown certificate authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "is signed by an unknown certificate authority",
};

const ACCEPT = '"tls: { verify: false }" accepts any certificate';
const TRUST = `trust its authority with "tls: { ca: ca.pem }" or --cacert ca.pem; ${ACCEPT}`;
/** How a step presents a client certificate. */
export const GIVE_CERTIFICATE = 'give one: "tls: { cert: client.pem, key: client_key.pem }"';

/** The time that a server may take to present its certificate once more, in milliseconds. */
const LONGEST_READ = 2000;

/**
 * Why there is no TLS connection: what is wrong with a certificate, a version or the port.
 * Undefined where the error is not about TLS.
 */
export async function explainTls(
  error: unknown,
  peer: TlsPeer,
): Promise<TlsExplanation | undefined> {
  const code = codeOf(error);
  if (Object.hasOwn(CERTIFICATES, code)) return await explainCertificate(code, error, peer);
  const message = error instanceof Error ? error.message : "";
  const address = placeOf(peer);
  // The runtime gives such an error the code of an alert that nobody sent.
  const [, mismatch] = /peer is incompatible: (\w+)/.exec(message) ?? [];
  if (mismatch !== undefined) {
    return /Tls12Or13|TlsVersion/.test(mismatch)
      ? { message: `${address} ${olderThan(peer)} (${mismatch})`, hint: hintOf(peer) }
      : { message: `no secure connection to ${address}: ${message}` };
  }
  const [, alert] = /_ALERT_(\w+)$/.exec(code) ?? [];
  if (alert !== undefined) {
    const found = explainAlert(alert, peer);
    if (found) return { ...found, message: `${address} ${found.message} (${code})` };
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return {
      message: `${address} does not speak TLS (${code})`,
      hint: 'if it expects plain text there, turn TLS off: "tls: false", or the scheme of the URL',
    };
  }
  if (code === "ERR_SSL_UNSUPPORTED_PROTOCOL") {
    return { message: `${address} ${olderThan(peer)} (${code})`, hint: hintOf(peer) };
  }
  if (/certificate/i.test(message)) {
    return { message: `the certificate of ${address} is invalid: ${message}`, hint: ACCEPT };
  }
  if (/^ERR_(SSL|TLS)_|^EPROTO$/.test(code)) {
    return { message: `no secure connection to ${address}: ${message} (${code})` };
  }
  return undefined;
}

/** The alerts by which a server ends a handshake. */
function explainAlert(alert: string, peer: TlsPeer): TlsExplanation | undefined {
  const isGiven = peer.options?.cert !== undefined;
  const refusal = REFUSALS[alert];
  if (refusal !== undefined) {
    return isGiven
      ? { message: `refused the client certificate: ${refusal}` }
      : { message: "wants a client certificate", hint: GIVE_CERTIFICATE };
  }
  switch (alert) {
    case "PROTOCOL_VERSION":
      return { message: olderThan(peer), hint: hintOf(peer) };
    case "NO_APPLICATION_PROTOCOL":
      return { message: "does not speak the protocol that was asked for (ALPN)" };
    case "UNRECOGNIZED_NAME":
      return {
        message: `knows no host "${peer.options?.servername ?? peer.host}"`,
        hint: '"server_name" of "tls" gives the name to ask for',
      };
    case "HANDSHAKE_FAILURE":
      return {
        message: "refused the TLS handshake",
        hint: isGiven
          ? "it may refuse the client certificate, or the versions and ciphers of TLS"
          : `it may want a client certificate, or other versions and ciphers of TLS; ${GIVE_CERTIFICATE}`,
      };
    default:
      return undefined;
  }
}

/** Why a server refuses a client certificate, by its alert. */
const REFUSALS: Readonly<Record<string, string>> = {
  CERTIFICATE_REQUIRED: "it is not one that the server can use",
  BAD_CERTIFICATE: "the server cannot verify it",
  UNSUPPORTED_CERTIFICATE: "it is of a kind that the server does not support",
  CERTIFICATE_REVOKED: "it was revoked",
  CERTIFICATE_EXPIRED: "it has expired",
  CERTIFICATE_UNKNOWN: "the server does not accept it",
  UNKNOWN_CA: "the server does not know the authority that signed it",
  ACCESS_DENIED: "the server does not let it in",
  DECRYPT_ERROR: "its signature is wrong",
};

function olderThan({ options }: TlsPeer): string {
  const versions = options?.minVersion === "TLSv1.3" ? "TLS 1.3" : "TLS 1.2 or newer";
  return `does not support ${versions}`;
}

function hintOf({ options }: TlsPeer): string {
  return options?.minVersion === "TLSv1.3"
    ? 'update the server, or accept TLS 1.2 by "min_version" of "tls"'
    : "versions before TLS 1.2 are not supported; the server has to be updated";
}

/**
 * Why the certificate of a server was refused. The runtime reports an expired certificate as one
 * of an unknown authority, so the certificate itself decides what is said.
 */
async function explainCertificate(
  code: string,
  cause: unknown,
  peer: TlsPeer,
): Promise<TlsExplanation> {
  const { checkServerIdentity } = await import("node:tls");
  const { host, clock, options } = peer;
  const certificate = certificateIn(cause) ?? await readCertificate(peer);
  const name = options?.servername ?? host;
  const faults = certificate === undefined
    ? []
    : findFaults(certificate, code, clock.now(), checkServerIdentity(name, certificate));
  if (faults.length === 0) {
    const hint = /HAS_EXPIRED|NOT_YET|REVOKED|ALTNAME|HOSTNAME/.test(code) ? ACCEPT : TRUST;
    faults.push({ message: `${CERTIFICATES[code]} (${code})`, hint });
  }
  const message = faults.map((fault) => fault.message).join(" and ");
  const asked = name === host ? "" : ` (server_name "${name}")`;
  return {
    message: `the certificate of ${placeOf(peer)}${asked} ${message}`,
    hint: faults[0]!.hint!,
  };
}

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

/** More names than these say nothing more. */
const MAX_NAMES = 5;

/** The hosts of a certificate, as part of a message. */
function namesIn(certificate: PeerCertificate): string {
  const names = namesOf(certificate);
  const shown = names.slice(0, MAX_NAMES);
  if (names.length > MAX_NAMES) shown.push("…");
  return shown.length === 0 ? "" : `: ${shown.join(", ")}`;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function daysOf(milliseconds: number): string {
  const days = Math.floor(milliseconds / 86_400_000);
  return days === 0 ? "less than a day" : days === 1 ? "1 day" : `${days} days`;
}

/** The certificate in an error of the runtime; few errors have it. */
function certificateIn(cause: unknown): PeerCertificate | undefined {
  const found = cause instanceof Error && "cert" in cause ? cause.cert : undefined;
  return typeof found === "object" && found !== null && "valid_to" in found
    ? found as PeerCertificate
    : undefined;
}

/** Connects once more, without a request, to see which certificate the server presents. */
async function readCertificate(peer: TlsPeer): Promise<PeerCertificate | undefined> {
  const [{ connect }, { isIP }] = await Promise.all([import("node:tls"), import("node:net")]);
  const { host, port, clock, options } = peer;
  const name = options?.servername ?? host;
  const tunnel = await peer.connect?.().catch(() => undefined);
  if (peer.connect && !tunnel) return undefined;
  return await new Promise((resolve) => {
    const finish = (certificate: PeerCertificate | undefined) => {
      cancel();
      socket.destroy();
      resolve(certificate);
    };
    const wanted = {
      ...options,
      ...tunnel ? { socket: tunnel } : { host, port },
      servername: isIP(name) ? "" : name,
      rejectUnauthorized: false,
    };
    const socket = connect(wanted, () => {
      const certificate = socket.getPeerCertificate();
      finish(certificate?.valid_to === undefined ? undefined : certificate);
    });
    socket.on("error", () => finish(undefined));
    const cancel = clock.after(LONGEST_READ, () => finish(undefined));
  });
}
