import type { PeerCertificate } from "node:tls";
import type { Clock } from "../../../host/host.ts";
import { hostOf, portOf } from "../request/request_url.ts";

/** A cause in plain words, and what to try. */
export interface Explanation {
  readonly words: string;
  readonly hint?: string;
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

const ACCEPT = '"insecure: true" accepts any certificate';
const TRUST = `trust its authority with NODE_EXTRA_CA_CERTS=ca.pem in the environment; ${ACCEPT}`;

/** How long a server may take to present its certificate once more, in milliseconds. */
const LONGEST_READ = 2000;

/** Whether an error code is about the certificate of the server. */
export function isCertificateCode(code: string): boolean {
  return Object.hasOwn(CERTIFICATES, code);
}

/**
 * Why the certificate of a server was refused. The runtime reports an expired certificate as one
 * of an unknown authority, so the certificate itself decides what is said.
 */
export async function explainCertificate(
  code: string,
  cause: unknown,
  url: URL,
  clock: Clock,
): Promise<Explanation> {
  const { checkServerIdentity } = await import("node:tls");
  const certificate = certificateIn(cause) ?? await readCertificate(url, clock);
  const faults = certificate === undefined
    ? []
    : findFaults(certificate, code, clock.now(), checkServerIdentity(hostOf(url), certificate));
  if (faults.length === 0) {
    const hint = /HAS_EXPIRED|NOT_YET|REVOKED|ALTNAME|HOSTNAME/.test(code) ? ACCEPT : TRUST;
    faults.push({ words: `${CERTIFICATES[code]} (${code})`, hint });
  }
  const words = faults.map((fault) => fault.words).join(" and ");
  return {
    words: `the certificate of ${url.hostname} port ${portOf(url)} ${words}`,
    hint: faults[0]!.hint!,
  };
}

function findFaults(
  certificate: PeerCertificate,
  code: string,
  now: number,
  mismatch: Error | undefined,
): Explanation[] {
  const faults: Explanation[] = [];
  const from = Date.parse(certificate.valid_from);
  const to = Date.parse(certificate.valid_to);
  if (now > to) {
    const words = `expired on ${dateOf(to)}, ${daysOf(now - to)} ago (CERT_HAS_EXPIRED)`;
    faults.push({ words, hint: `renew it; ${ACCEPT}` });
  } else if (now < from) {
    const words = `is not valid before ${dateOf(from)}, ${daysOf(from - now)} from now`;
    faults.push({
      words: `${words} (CERT_NOT_YET_VALID)`,
      hint: `check the clock of this machine; ${ACCEPT}`,
    });
  }
  // With a wrong date, the runtime does not look at who signed the certificate.
  if (faults.length === 0 && /SELF_SIGNED|^UNABLE_TO_/.test(code)) {
    faults.push({ words: signedBy(certificate, code), hint: TRUST });
  }
  if (mismatch) {
    const words = `is for another host${namesIn(certificate)} (ERR_TLS_CERT_ALTNAME_INVALID)`;
    faults.push({ words, hint: `use a host that it names; ${ACCEPT}` });
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
const MOST_NAMES = 5;

/** The hosts that a certificate is for. */
function namesIn({ subjectaltname, subject }: PeerCertificate): string {
  const names = [...(subjectaltname ?? "").matchAll(/(?:DNS|IP Address):([^\s,"]+)/g)]
    .map(([, name]) => name!);
  if (names.length === 0 && subject?.CN !== undefined) names.push(String(subject.CN));
  const shown = names.slice(0, MOST_NAMES);
  if (names.length > MOST_NAMES) shown.push("…");
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
async function readCertificate(url: URL, clock: Clock): Promise<PeerCertificate | undefined> {
  const [{ connect }, { isIP }] = await Promise.all([import("node:tls"), import("node:net")]);
  const host = hostOf(url);
  const servername = isIP(host) ? "" : host;
  return await new Promise((resolve) => {
    const finish = (certificate: PeerCertificate | undefined) => {
      cancel();
      socket.destroy();
      resolve(certificate);
    };
    const options = { host, port: Number(portOf(url)), servername, rejectUnauthorized: false };
    const socket = connect(options, () => {
      const certificate = socket.getPeerCertificate();
      finish(certificate?.valid_to === undefined ? undefined : certificate);
    });
    socket.on("error", () => finish(undefined));
    const cancel = clock.after(LONGEST_READ, () => finish(undefined));
  });
}
