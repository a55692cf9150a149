import type { PeerCertificate, TLSSocket } from "node:tls";
import type { Dict } from "../action.ts";

const DAY = 86_400_000;

/** The field `tls` of a response. `now` is in milliseconds; `days_left` may be negative. */
export function tlsRecord(socket: TLSSocket, now: number) {
  const { alpnProtocol } = socket;
  return {
    protocol: socket.getProtocol() ?? "",
    cipher: socket.getCipher()?.name ?? "",
    alpn: typeof alpnProtocol === "string" ? alpnProtocol : "",
    certificate: certificateRecord(socket.getPeerCertificate(), now),
  };
}

/** A certificate as steps see it; null if there is none. */
export function certificateRecord(certificate: PeerCertificate, now: number): Dict | null {
  if (certificate?.valid_to === undefined) return null;
  const to = Date.parse(certificate.valid_to);
  return {
    subject: nameText(certificate.subject),
    issuer: nameText(certificate.issuer),
    names: namesOf(certificate),
    not_before: new Date(certificate.valid_from).toISOString(),
    not_after: new Date(to).toISOString(),
    days_left: Math.floor((to - now) / DAY),
    serial: certificate.serialNumber,
    sha256: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
  };
}

/** The hosts that a certificate is for. */
export function namesOf({ subjectaltname, subject }: PeerCertificate): string[] {
  const names = [...(subjectaltname ?? "").matchAll(/(?:DNS|IP Address):([^\s,"]+)/g)]
    .map(([, name]) => name!);
  return names.length > 0 || subject?.CN === undefined ? names : [subject.CN].flat();
}

/** A distinguished name in one line: `CN=localhost, O=Example`. */
function nameText(name: PeerCertificate["subject"] | undefined): string {
  return Object.entries(name ?? {})
    .flatMap(([key, value]) => [value].flat().map((text) => `${key}=${text}`))
    .join(", ");
}
